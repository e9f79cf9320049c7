// engine/compiled: finding the basic blocks (control_flow.h).
#include "engine/compiled/control_flow.h"

#include <span>

#include "engine/hardware_register.h"
#include "engine/target_code.h"
#include "isa/table.h"

namespace Atoll::engine {

namespace {

using isa::Opcode;
namespace flag = isa::flag;

constexpr uint64_t most_instructions = 200'000;

/// Instructions behind which waves come back in by their PC: they stop or leave there.
bool returns_behind(const isa::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::s_barrier:
    case Opcode::s_sleep:
    case Opcode::s_swappc_b64:
    case Opcode::s_call_b64:
      return true;
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:  // the mode may be another one than was thought, or lanes meet registers by an
                                      // index
      return !sets_float_mode(instruction);
    default:
      return false;
  }
}

/// Whether the block ends with this instruction.
bool ends_block(const isa::Instruction& instruction) {
  return isa::row(instruction.opcode).has(flag::branch | flag::ends) || returns_behind(instruction);
}

bool has_target(const isa::Instruction& instruction) { return isa::row(instruction.opcode).has(flag::label); }

bool falls_through(const isa::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::s_branch:
    case Opcode::s_setpc_b64:
      return false;
    default:
      return !isa::row(instruction.opcode).has(flag::ends);
  }
}

/// Instructions that read or write registers by an index, or fork the wave: they need the interpreter around them.
bool unfit(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_set_gpr_idx_on:
    case Opcode::s_set_gpr_idx_off:
    case Opcode::s_set_gpr_idx_idx:
    case Opcode::s_set_gpr_idx_mode:
    case Opcode::s_setvskip:
    case Opcode::s_cbranch_g_fork:
    case Opcode::s_cbranch_i_fork:
    case Opcode::s_cbranch_join:
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user:
    case Opcode::s_rfe_b64:
    case Opcode::s_rfe_restore_b64:
      return true;
    default:
      return false;
  }
}

}  // namespace

semantics::FloatMode ControlFlow::mode_behind(const Located& at) const {
  return float_mode_behind(at.instruction, at.mode).value_or(mode);
}

support::Result<ControlFlow> follow(uint64_t root, const semantics::FloatMode& mode, uint64_t begin, uint64_t end,
                                    const target::Target& target, const RegisterCounts& registers) {
  ControlFlow flow;
  flow.root = root;
  flow.mode = mode;
  std::map<uint64_t, Located> code;  // everything reachable
  std::set<uint64_t> leaders{root};
  std::vector<std::pair<uint64_t, semantics::FloatMode>> to_do{{root, mode}};
  while (!to_do.empty()) {
    auto [pc, mode_here] = to_do.back();
    to_do.pop_back();
    while (pc >= begin && pc + 4 <= end && !code.contains(pc)) {
      const std::span bytes(reinterpret_cast<const uint8_t*>(pc), static_cast<size_t>(end - pc));
      auto instruction = decode(bytes, target);
      if (!instruction) break;  // whoever gets there has the interpreter say so
      if (!registers.include(*instruction)) {
        flow.registers = registers;
        *instruction = without_missing(*instruction, registers);
      }
      if (unfit(instruction->opcode)) {
        return support::fail(support::ErrorKind::unsupported, "{} is not translated",
                             isa::row(instruction->opcode).name);
      }
      const Located located{pc, *instruction, mode_here};
      code.emplace(pc, located);
      if (code.size() > most_instructions) {
        return support::fail(support::ErrorKind::out_of_resources, "more than {} instructions", most_instructions);
      }
      if (has_target(*instruction)) {
        leaders.insert(located.target());
        to_do.emplace_back(located.target(), mode_here);
        if (located.target() <= pc || instruction->opcode == Opcode::s_call_b64) flow.entries.insert(located.target());
      }
      if (returns_behind(*instruction)) flow.entries.insert(located.next());
      if (ends_block(*instruction)) leaders.insert(located.next());
      if (!falls_through(*instruction)) break;
      pc = located.next();
      mode_here = flow.mode_behind(located);
    }
  }
  flow.entries.insert(root);
  flow.instructions = code.size();
  for (auto at = code.begin(); at != code.end();) {
    Block& block = flow.blocks[at->first];
    for (;;) {
      block.instructions.push_back(at->second);
      block.end = at->second.next();
      ++at;
      if (ends_block(block.instructions.back().instruction) || at == code.end() || at->first != block.end ||
          leaders.contains(at->first)) {
        break;
      }
    }
  }
  std::erase_if(flow.entries, [&](uint64_t pc) { return !flow.blocks.contains(pc); });
  return flow;
}

}  // namespace Atoll::engine

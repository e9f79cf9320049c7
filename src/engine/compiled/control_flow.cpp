// engine/compiled: finding the basic blocks (control_flow.h).
#include "engine/compiled/control_flow.h"

#include <span>

#include "engine/interpreter/hardware_register.h"
#include "engine/target_code.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "isa/vgpr_banks.h"

namespace Atoll::engine {

namespace {

using Kind = isa::Control::Kind;
namespace flag = isa::flag;

constexpr uint64_t max_instructions = 200'000;

/// Whether waves come back in after the instruction by their PC: they stop or leave there.
bool is_entered_after(const isa::Instruction& instruction) {
  const isa::Control control = isa::control_of(instruction);
  if (control.kind == Kind::wait || control.is_call()) return true;
  // The mode may be another one than was assumed, or vector instructions name their registers by an index.
  return isa::row_of(instruction).has(flag::writes_mode) && !sets_code_mode(instruction) &&
         !inert_mode_bits(instruction);
}

/// Whether the block ends with this instruction.
bool ends_block(const isa::Instruction& instruction) {
  const isa::Control control = isa::control_of(instruction);
  return control.is_branch() || control.kind == Kind::end || is_entered_after(instruction);
}

bool has_target(const isa::Instruction& instruction) { return isa::control_of(instruction).has_target; }

/// Whether the instruction after it is a part of the code; after a call, it is where the wave returns to.
bool falls_through(const isa::Instruction& instruction) {
  const isa::Control control = isa::control_of(instruction);
  return control.falls_through() || control.is_call();
}

/// Instructions that change which registers others name, or fork the wave, or are the trap handler's or a debugger's:
/// they need the interpreter around them.
bool must_be_interpreted(const isa::Instruction& instruction) {
  const isa::Control control = isa::control_of(instruction);
  return control.kind == Kind::fork || control.kind == Kind::trap_return ||
         control.condition == isa::Control::Condition::debugger ||
         control.condition == isa::Control::Condition::subvector ||
         (isa::row_of(instruction).has(flag::register_indexing) && !sets_code_mode(instruction));
}

}  // namespace

CodeMode ControlFlow::mode_after(const Located& at) const {
  return {.floats = float_mode_after(at.instruction, at.mode.floats).value_or(mode.floats),
          .banks = banks_after(at.instruction, at.mode.banks).value_or(mode.banks)};
}

support::Result<ControlFlow> follow(uint64_t root, const CodeMode& mode, uint64_t begin, uint64_t end,
                                    const target::Target& target, const RegisterCounts& registers,
                                    const Instrumentation& instrumentation) {
  ControlFlow flow;
  flow.instrumentation = instrumentation;
  flow.root = root;
  flow.wave_size = target.wave_size;
  flow.mode = mode;
  std::map<uint64_t, Located> code;  // everything reachable
  std::set<uint64_t> leaders{root};
  std::vector<std::pair<uint64_t, CodeMode>> to_do{{root, mode}};
  while (!to_do.empty()) {
    auto [pc, mode_here] = to_do.back();
    to_do.pop_back();
    while (pc >= begin && pc + 4 <= end && !code.contains(pc)) {
      const std::span bytes(reinterpret_cast<const uint8_t*>(pc), static_cast<size_t>(end - pc));
      auto instruction = decode(bytes, target);
      if (!instruction) break;  // whoever gets there has the interpreter say so
      isa::choose_banks(*instruction, mode_here.banks);
      if (!registers.include(*instruction)) {
        flow.registers = registers;
        *instruction = without_missing(*instruction, registers);
      }
      if (must_be_interpreted(*instruction) || instrumentation.must_interpret(*instruction)) {
        return support::fail(support::ErrorKind::unsupported, "{} is not translated",
                             isa::row(instruction->opcode).name);
      }
      const Located located{pc, *instruction, mode_here};
      code.emplace(pc, located);
      if (code.size() > max_instructions) {
        return support::fail(support::ErrorKind::out_of_resources, "more than {} instructions", max_instructions);
      }
      if (has_target(*instruction)) {
        leaders.insert(located.target());
        to_do.emplace_back(located.target(), mode_here);
        if (located.target() <= pc || isa::control_of(*instruction).kind == Kind::call)
          flow.entries.insert(located.target());
      }
      if (is_entered_after(*instruction)) flow.entries.insert(located.next());
      if (ends_block(*instruction)) leaders.insert(located.next());
      if (!falls_through(*instruction)) break;
      pc = located.next();
      mode_here = flow.mode_after(located);
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

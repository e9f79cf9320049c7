// compiler: live registers (liveness.h).
#include "compiler/liveness.h"

#include <ranges>
#include <set>

#include "compiler/chunk_memory.h"
#include "compiler/lane_code.h"
#include "compiler/scalar_code.h"
#include "engine/hardware_register.h"
#include "engine/prepare.h"
#include "engine/vector.h"
#include "isa/table.h"
#include "semantics/matrix.h"
#include "semantics/memory_access.h"

namespace Atoll::compiler {

namespace {

using isa::Opcode;
using isa::OperandKind;
namespace flag = isa::flag;

void add_pair(ScalarSet& set, unsigned reg) {
  set.set(reg);
  set.set(reg + 1);
}

/// Whether active lanes of the result get a wholly new value.
bool overwrites_result(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  const bool clears = semantics::memory_access(instruction).clears_other_half;
  if ((row.has(flag::reads_dst) && !clears) || row.has(flag::atomic) || instruction.op_sel_dst || instruction.tfe ||
      instruction.lds)
    return false;
  if (instruction.dst_unused == isa::SdwaUnused::preserve) return false;
  if (instruction.extension != isa::Extension::sdwa && engine::writes_part(instruction)) return false;
  if (instruction.extension == isa::Extension::dpp16 || instruction.extension == isa::Extension::dpp8) return false;
  if (LaneCode::takes(instruction)) {
    const semantics::VectorShape& shape = semantics::vector_function(instruction.opcode);
    return !shape.reads_dst && !shape.writes_low_half_only;
  }
  return row.has(flag::load);
}

/// Whether each lane of the instruction looks at its own lane of the sources only.
bool stays_in_lane(const isa::Instruction& instruction) {
  if (LaneCode::reads_other_lanes(instruction)) return false;
  return LaneCode::takes(instruction) || memory_operands(instruction) ||
         isa::row(instruction.opcode).has(flag::load | flag::store);
}

bool is_control(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_branch:
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
    case Opcode::s_endpgm:
    case Opcode::s_barrier:
    case Opcode::s_getpc_b64:
      return true;
    default:
      return false;
  }
}

/// EXEC after an operation on each bit of it, against EXEC before.
Effects::Exec change_of_exec(const isa::Instruction& instruction) {
  if (!ScalarCode::takes(instruction)) {  // v_cmpx yields a mask of active lanes
    return isa::row(instruction.opcode).has(flag::exec_out) ? Effects::Exec::shrinks : Effects::Exec::changes;
  }
  if (!works_on_each_bit(instruction)) return Effects::Exec::changes;
  // Which combinations of bits there are, when a source is EXEC itself.
  uint8_t possible = 0xFF;
  constexpr uint8_t equals_exec[2] = {0b1010'0101, 0b1100'0011};
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    if (source.kind == OperandKind::scalar && source.words == 2 && source.reg == isa::scalar::exec_lo) {
      possible &= equals_exec[i];
    }
  }
  const BitFunction function = bit_function(instruction);
  const unsigned table = (function.exec[0] | function.exec[1]) & possible;
  const unsigned always = function.exec[0] & function.exec[1];
  constexpr unsigned without = 0x0F, with = 0xF0;
  if ((table & without) == 0) return Effects::Exec::shrinks;
  if ((~always & with & possible) == 0) return Effects::Exec::grows;
  return Effects::Exec::changes;
}

}  // namespace

bool changes_no_data(const isa::Instruction& instruction) {
  return engine::does_nothing(instruction.opcode) || engine::sets_float_mode(instruction);
}

Effects effects_of(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  Effects effects;
  if (changes_no_data(instruction) || engine::orders_memory(instruction.opcode)) return effects;
  const bool overwrites = overwrites_result(instruction);
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    const bool written = i < instruction.destinations;
    switch (operand.kind) {
      case OperandKind::scalar:
        for (unsigned word = operand.reg; word < operand.reg + operand.words && word < isa::scalar::count; ++word) {
          if (written) effects.writes.set(word);
          // A scalar atomic's result takes the place of its data.
          if (!written || row.has(flag::reads_dst | flag::atomic)) effects.reads.set(word);
        }
        break;
      case OperandKind::vgpr:
      case OperandKind::agpr:
        for (unsigned word = 0; word < operand.words && row_key(operand, word) < 512; ++word) {
          const unsigned key = row_key(operand, word);
          if (written) effects.row_writes.set(key);
          if (written && overwrites) effects.row_overwrites.set(key);
          if (!written || !overwrites) effects.row_reads.set(key);
        }
        break;
      case OperandKind::vccz:
        add_pair(effects.reads, isa::scalar::vcc_lo);
        break;
      case OperandKind::execz:
        add_pair(effects.reads, isa::scalar::exec_lo);
        break;
      case OperandKind::scc:
        effects.reads.set(scc_number);
        break;
      case OperandKind::lds_direct:
        effects.reads.set(isa::scalar::m0);
        break;
      default:
        break;
    }
  }
  if (row.has(flag::scc_in)) effects.reads.set(scc_number);
  if (row.has(flag::scc_out)) effects.writes.set(scc_number);
  if (row.has(flag::exec_out)) {
    add_pair(effects.reads, isa::scalar::exec_lo);
    add_pair(effects.writes, isa::scalar::exec_lo);
  }
  switch (instruction.opcode) {
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
      effects.reads.set(scc_number);
      break;
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
      add_pair(effects.reads, isa::scalar::vcc_lo);
      break;
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
      add_pair(effects.reads, isa::scalar::exec_lo);
      break;
    default:
      break;
  }
  const bool is_vector = effects.row_reads.any() || effects.row_writes.any();
  if (is_vector || LaneCode::takes(instruction)) add_pair(effects.reads, isa::scalar::exec_lo);
  const bool known = LaneCode::takes(instruction) || memory_operands(instruction) || ScalarCode::takes(instruction) ||
                     ScalarCode::takes_load(instruction) || is_control(instruction.opcode) ||
                     semantics::matrix_shape(instruction.opcode) != nullptr;
  if (!known) {  // the registers that instructions read without naming them
    for (const unsigned reg : {isa::scalar::m0, isa::scalar::flat_scratch_lo, isa::scalar::flat_scratch_hi}) {
      effects.reads.set(reg);
    }
    add_pair(effects.reads, isa::scalar::vcc_lo);
    add_pair(effects.reads, isa::scalar::exec_lo);
    effects.reads.set(scc_number);
    if (!is_vector && !row.has(flag::memory)) effects.reads.set();  // s_movrels_b32 reads any of them
  }
  effects.reads_inactive = !stays_in_lane(instruction);
  if (effects.writes[isa::scalar::exec_lo] || effects.writes[isa::scalar::exec_hi]) {
    effects.exec = effects.writes[isa::scalar::exec_lo] && effects.writes[isa::scalar::exec_hi]
                       ? change_of_exec(instruction)
                       : Effects::Exec::changes;
  }
  return effects;
}

Live Live::everything() {
  Live live;
  live.scalars.set();
  live.active.set();
  live.inactive.set();
  return live;
}

Live& Live::operator|=(const Live& other) {
  scalars |= other.scalars;
  active |= other.active;
  inactive |= other.inactive;
  return *this;
}

void Live::step_back(const Effects& effects) {
  switch (effects.exec) {
    case Effects::Exec::stays:
      break;
    case Effects::Exec::shrinks:  // lanes that EXEC has may be among those that it lacks afterwards
      active |= inactive;
      break;
    case Effects::Exec::grows:
      inactive |= active;
      break;
    case Effects::Exec::changes:
      active |= inactive;
      inactive = active;
      break;
  }
  active &= ~effects.row_overwrites;
  active |= effects.row_reads;
  if (effects.reads_inactive) inactive |= effects.row_reads;
  scalars &= ~effects.writes;
  scalars |= effects.reads;
}

Successors successors_of(const engine::Block& block) {
  const engine::Located& last = block.instructions.back();
  const isa::InstructionRow& row = isa::row(last.instruction.opcode);
  Successors successors;
  switch (last.instruction.opcode) {
    case Opcode::s_endpgm:
      return successors;
    case Opcode::s_branch:
      successors.pcs = {last.target()};
      return successors;
    case Opcode::s_call_b64:
    case Opcode::s_endpgm_saved:
      successors.anywhere = true;
      return successors;
    default:
      break;
  }
  if (row.has(flag::label)) {
    successors.pcs = {last.target(), last.next()};
  } else if (row.has(flag::branch | flag::ends | flag::trap)) {
    successors.anywhere = true;
  } else {
    successors.pcs = {block.end};
  }
  return successors;
}

Liveness::Liveness(const engine::ControlFlow& flow) {
  std::map<uint64_t, std::vector<Effects>> effects;
  std::map<uint64_t, std::vector<uint64_t>> predecessors;
  std::set<uint64_t> to_do;
  for (const auto& [pc, block] : flow.blocks) {
    for (const engine::Located& at : block.instructions) effects[pc].push_back(effects_of(at.instruction));
    for (const uint64_t next : successors_of(block).pcs) predecessors[next].push_back(pc);
    before_[pc];
    to_do.insert(pc);
  }
  while (!to_do.empty()) {
    const uint64_t pc = *to_do.rbegin();
    to_do.erase(std::prev(to_do.end()));
    Live live = behind(flow.blocks.at(pc));
    for (const Effects& each : std::views::reverse(effects.at(pc))) live.step_back(each);
    if (live == before_.at(pc)) continue;
    before_.at(pc) = live;
    for (const uint64_t predecessor : predecessors[pc]) to_do.insert(predecessor);
  }
}

const Live& Liveness::before(uint64_t pc) const {
  const auto found = before_.find(pc);
  return found != before_.end() ? found->second : everything_;
}

Live Liveness::behind(const engine::Block& block) const {
  const Successors successors = successors_of(block);
  if (successors.anywhere) return everything_;
  Live live;
  for (const uint64_t pc : successors.pcs) live |= before(pc);
  return live;
}

std::vector<Live> Liveness::within(const engine::Block& block) const {
  std::vector<Live> live(block.instructions.size() + 1, behind(block));
  for (size_t i = block.instructions.size(); i-- > 0;) {
    live[i] = live[i + 1];
    live[i].step_back(effects_of(block.instructions[i].instruction));
  }
  return live;
}

}  // namespace Atoll::compiler

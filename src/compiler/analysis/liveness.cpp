// compiler: live registers (liveness.h).
#include "compiler/analysis/liveness.h"

#include <ranges>
#include <set>

#include "compiler/analysis/varying_masks.h"
#include "compiler/lowering/salu_lowering.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"
#include "engine/compiled/code_mode.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "isa/immediate_names.h"
#include "isa/table.h"
#include "semantics/matrix/mfma.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::compiler {

namespace {

using isa::OperandKind;
namespace flag = isa::flag;

/// Whether active lanes of the result get a wholly new value.
bool overwrites_result(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  const bool clears = semantics::memory_access(instruction).clears_other_half;
  if ((row.has(flag::reads_dst) && !clears) || row.has(flag::atomic) || instruction.op_sel_dst || instruction.tfe ||
      instruction.lds)
    return false;
  if (instruction.dst_unused == isa::SdwaUnused::preserve) return false;
  if (instruction.extension != isa::Extension::sdwa && engine::writes_part(instruction)) return false;
  if (instruction.extension == isa::Extension::dpp16 || instruction.extension == isa::Extension::dpp8) return false;
  if (ValuLowering::takes(instruction)) {
    const semantics::VectorShape& shape = semantics::vector_function(instruction.opcode, instruction.generation);
    return !shape.reads_dst && !shape.writes_low_half_only;
  }
  return row.has(flag::load);
}

/// Returns whether each lane depends only on its own lane of the sources.
bool stays_in_lane(const isa::Instruction& instruction) {
  if (ValuLowering::reads_other_lanes(instruction)) return false;
  return ValuLowering::takes(instruction) || memory_operands(instruction) ||
         isa::row_of(instruction).has(flag::load | flag::store);
}

/// EXEC after an operation on each bit of it, against EXEC before.
LaneEffects::Exec change_of_exec(const isa::Instruction& instruction) {
  if (!SaluLowering::takes(instruction)) {  // v_cmpx yields a mask of active lanes
    return isa::row_of(instruction).has(flag::exec_out) ? LaneEffects::Exec::shrinks : LaneEffects::Exec::changes;
  }
  if (!works_on_each_bit(instruction)) return LaneEffects::Exec::changes;
  // Which combinations of bits there are, when a source is EXEC itself.
  uint8_t possible = 0xFF;
  constexpr uint8_t equals_exec[2] = {0b1010'0101, 0b1100'0011};
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    if (is_mask(instruction, source) && is_exec(source)) {
      possible &= equals_exec[i];
    }
  }
  const BitFunction function = bit_function(instruction);
  const unsigned table = (function.exec[0] | function.exec[1]) & possible;
  const unsigned always = function.exec[0] & function.exec[1];
  constexpr unsigned without = 0x0F, with = 0xF0;
  if ((table & without) == 0) return LaneEffects::Exec::shrinks;
  if ((~always & with & possible) == 0) return LaneEffects::Exec::grows;
  return LaneEffects::Exec::changes;
}

}  // namespace

bool does_nothing(const isa::Instruction& instruction) {
  if (instruction.opcode != isa::Opcode::s_sendmsg) return engine::does_nothing(instruction.opcode);
  constexpr unsigned number = 0xF;
  const isa::NamedValue* message =
      isa::find_value(isa::messages(), instruction.immediate & number, instruction.generation);
  return message != nullptr && message->name == "DEALLOC_VGPRS";
}

bool changes_no_data(const isa::Instruction& instruction) {
  return does_nothing(instruction) || engine::sets_code_mode(instruction);
}

std::optional<DualHalves> DualHalves::of(const isa::Instruction& instruction) {
  if (instruction.second == isa::Opcode::invalid) return std::nullopt;
  const isa::Instruction x = engine::half_of(instruction, false), y = engine::half_of(instruction, true);
  const isa::Effects of_x = isa::effects_of(x), of_y = isa::effects_of(y);
  if ((of_y.vector_reads & of_x.vector_writes).none()) return DualHalves{x, y};
  if ((of_x.vector_reads & of_y.vector_writes).none()) return DualHalves{y, x};
  return std::nullopt;
}

LaneEffects lane_effects_of(const isa::Instruction& instruction) {
  LaneEffects effects{isa::effects_of(instruction), {}, false, LaneEffects::Exec::stays};
  // An observer examines the active lanes.
  if (isa::row_of(instruction).has(isa::flag::barrier)) {
    effects.reads.set(isa::scalar::exec_lo);
    effects.reads.set(isa::scalar::exec_hi);
  }
  if (changes_no_data(instruction) || effects.orders_memory) return effects;
  // Engines take the scratch base from machine::Wave, not from FLAT_SCRATCH.
  effects.reads.reset(isa::scalar::flat_scratch_lo);
  effects.reads.reset(isa::scalar::flat_scratch_hi);
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind != OperandKind::scalar) continue;
    for (unsigned reg = isa::scalar::flat_scratch_lo; reg <= isa::scalar::flat_scratch_hi; ++reg) {
      const bool named = reg >= operand.reg && reg < operand.reg + operand.words;
      if (named && i >= instruction.destinations) effects.reads.set(reg);
    }
  }
  if (const auto halves = DualHalves::of(instruction)) {
    for (const isa::Instruction& half : {halves->first, halves->second}) {
      const VectorSet writes = isa::effects_of(half).vector_writes;
      (overwrites_result(half) ? effects.vector_overwrites : effects.vector_reads) |= writes;
    }
  } else if (overwrites_result(instruction)) {
    effects.vector_overwrites = effects.vector_writes;
  } else {
    effects.vector_reads |= effects.vector_writes;
  }
  effects.reads_inactive = !stays_in_lane(instruction);
  const bool has_upper_half = instruction.lane_mask_words == 2;
  if (effects.writes[isa::scalar::exec_lo] || (has_upper_half && effects.writes[isa::scalar::exec_hi])) {
    const bool is_whole =
        effects.writes[isa::scalar::exec_lo] && (!has_upper_half || effects.writes[isa::scalar::exec_hi]);
    effects.exec = is_whole ? change_of_exec(instruction) : LaneEffects::Exec::changes;
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

void Live::step_back(const LaneEffects& effects) {
  switch (effects.exec) {
    case LaneEffects::Exec::stays:
      break;
    case LaneEffects::Exec::shrinks:  // lanes that EXEC has may be among those that it lacks afterwards
      active |= inactive;
      break;
    case LaneEffects::Exec::grows:
      inactive |= active;
      break;
    case LaneEffects::Exec::changes:
      active |= inactive;
      inactive = active;
      break;
  }
  active &= ~effects.vector_overwrites;
  active |= effects.vector_reads;
  if (effects.reads_inactive) inactive |= effects.vector_reads;
  scalars &= ~effects.writes;
  scalars |= effects.reads;
}

Successors successors_of(const engine::Block& block) {
  const engine::Located& last = block.instructions.back();
  Successors successors;
  using enum isa::Control::Kind;
  switch (isa::control_of(last.instruction).kind) {
    case end:
      break;
    case branch:
      successors.pcs = {last.target()};
      break;
    case conditional:
      successors.pcs = {last.target(), last.next()};
      break;
    case next:
    case wait:
      successors.pcs = {block.end};
      break;
    case call:
    case indirect:
    case indirect_call:
    case fork:
    case trap:
    case trap_return:
      successors.anywhere = true;
      break;
  }
  return successors;
}

Liveness::Liveness(const engine::ControlFlow& flow) {
  std::map<uint64_t, std::vector<LaneEffects>> effects;
  std::map<uint64_t, std::vector<uint64_t>> predecessors;
  std::set<uint64_t> to_do;
  for (const auto& [pc, block] : flow.blocks) {
    for (const engine::Located& at : block.instructions) effects[pc].push_back(lane_effects_of(at.instruction));
    for (const uint64_t next : successors_of(block).pcs) predecessors[next].push_back(pc);
    before_[pc];
    to_do.insert(pc);
  }
  while (!to_do.empty()) {
    const uint64_t pc = *to_do.rbegin();
    to_do.erase(std::prev(to_do.end()));
    Live live = after(flow.blocks.at(pc));
    for (const LaneEffects& each : std::views::reverse(effects.at(pc))) live.step_back(each);
    if (live == before_.at(pc)) continue;
    before_.at(pc) = live;
    for (const uint64_t predecessor : predecessors[pc]) to_do.insert(predecessor);
  }
}

const Live& Liveness::before(uint64_t pc) const {
  const auto found = before_.find(pc);
  return found != before_.end() ? found->second : everything_;
}

Live Liveness::after(const engine::Block& block) const {
  const Successors successors = successors_of(block);
  if (successors.anywhere) return everything_;
  Live live;
  for (const uint64_t pc : successors.pcs) live |= before(pc);
  return live;
}

std::vector<Live> Liveness::within(const engine::Block& block) const {
  std::vector<Live> live(block.instructions.size() + 1, after(block));
  for (size_t i = block.instructions.size(); i-- > 0;) {
    live[i] = live[i + 1];
    live[i].step_back(lane_effects_of(block.instructions[i].instruction));
  }
  return live;
}

}  // namespace Atoll::compiler

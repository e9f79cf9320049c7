// engine: registers chosen at run time: s_movrel*, and the modes in which vector instructions mean something else.
//
// s_set_gpr_idx_on makes the VGPR numbers of the vector instructions after it relative to an index, until
// s_set_gpr_idx_off; s_setvskip makes the wave pass over vector instructions. Both are rare and short, and the handlers
// know nothing of them: in these modes the wave runs apart from the chain, instruction by instruction, each as a copy
// of its MicroOp with the index added and with a slot after it that ends the chain. Source: ISA guide,
// "S_SET_GPR_IDX_ON", "VGPR Indexing", "S_SETVSKIP".
#include "engine/interpreter/register_index.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "engine/vgpr_banks.h"
#include "isa/table.h"

namespace Atoll::engine {

namespace {

using isa::Operation;

// MODE
constexpr uint32_t index_enable = 1u << 27;
constexpr uint32_t vskip = 1u << 28;

// M0[15:12] in index mode: which operands are relative to M0[7:0].
constexpr unsigned index_result = 8;  // the destination; sources 0 to 2 are bits 1, 2 and 4

bool is_scalar(const isa::Instruction& instruction) {
  using enum isa::Encoding;
  const isa::Encoding e = instruction.encoding;
  return e == sop1 || e == sop2 || e == sopk || e == sopc || e == sopp || e == smem;
}

/// Where a copied MicroOp's chain ends: the wave goes on after the original.
void pause(Wave&, const MicroOp*, Run& run) { run.resume = true; }

/// Adds the index to the registers of a vector instruction. Hardware reads v0 where the wave has no such register, and
/// writes nothing: false.
bool index_registers(const Wave& wave, MicroOp& op) {
  const uint32_t m0 = wave.scalar[isa::scalar::m0];
  const uint64_t distance = (m0 & 0xFF) * sizeof(Row);
  const unsigned enabled = m0 >> 12 & 0xF;
  const VectorOperands operands = vector_operands(op.origin->instruction);
  const auto exists = [&](uint64_t offset, const isa::Operand& operand) {
    return offset / sizeof(Row) + operand.words <= wave.vgprs;
  };
  for (unsigned i = 0; i < operands.sources && i < 3; ++i) {
    if ((enabled >> i & 1) == 0 || op.vector.source_base[i] != RowBase::vgpr) continue;
    op.vector.source[i] += distance;
    if (!exists(op.vector.source[i], *operands.source[i])) op.vector.source[i] = 0;
  }
  if ((enabled & index_result) == 0 || operands.results == 0 || op.vector.result_base != RowBase::vgpr) return true;
  op.vector.result += static_cast<uint32_t>(distance);
  return exists(op.vector.result, *operands.result[0]);
}

void set_index(Wave& wave, uint32_t index) {
  uint32_t& m0 = wave.scalar[isa::scalar::m0];
  m0 = (m0 & ~0xFFu) | (index & 0xFF);
}

void set_index_operands(Wave& wave, uint32_t operands) {
  uint32_t& m0 = wave.scalar[isa::scalar::m0];
  m0 = (m0 & ~0xF000u) | (operands & 0xF) << 12;
}

void gpr_index_on(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  const isa::Instruction& instruction = op->origin->instruction;
  set_index(wave, static_cast<uint32_t>(scalar_value(wave, instruction.src(0))));
  set_index_operands(wave, instruction.immediate);
  wave.mode |= index_enable;
  go_apart(wave, op->origin->pc + instruction.size, run);
}

void gpr_index_off(Wave& wave, const MicroOp&, Run&) { wave.mode &= ~index_enable; }

void gpr_index_mode(Wave& wave, const MicroOp& op, Run&) { set_index_operands(wave, op.origin->instruction.immediate); }

void gpr_index_index(Wave& wave, const MicroOp& op, Run&) {
  set_index(wave, static_cast<uint32_t>(scalar_value(wave, op.origin->instruction.src(0))));
}

void set_vskip(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  const isa::Instruction& instruction = op->origin->instruction;
  const uint64_t bits = scalar_value(wave, instruction.src(0)), bit = scalar_value(wave, instruction.src(1)) & 31;
  wave.mode = (bits >> bit & 1) != 0 ? wave.mode | vskip : wave.mode & ~vskip;
  go_apart(wave, op->origin->pc + instruction.size, run);
}

/// s_movrels, s_movreld: the source's or the destination's number is moved by M0.
template <bool source, unsigned words>
bool move_relative(Wave& wave, const MicroOp& op, Run&) {
  const isa::Instruction& instruction = op.origin->instruction;
  const uint64_t reg = uint64_t{wave.scalar[isa::scalar::m0]} + (source ? instruction.src(0) : instruction.dst()).reg;
  if (reg + words > wave.sgprs || reg % words != 0) {
    fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
          fmt::format("{} of s{}: the wave has {} SGPRs", isa::row(instruction.opcode).name, reg, wave.sgprs));
    return false;
  }
  const uint64_t value = source ? (words == 2 ? wave.scalar64(static_cast<unsigned>(reg)) : wave.scalar[reg])
                                : scalar_value(wave, instruction.src(0));
  const auto to = source ? unsigned{instruction.dst().reg} : static_cast<unsigned>(reg);
  if constexpr (words == 2) {
    wave.set_scalar64(to, value);
  } else {
    wave.scalar[to] = static_cast<uint32_t>(value);
  }
  return true;
}

/// s_movrelsd_2_b32: both numbers, by two fields of M0.
bool move_both_relative(Wave& wave, const MicroOp& op, Run&) {
  const isa::Instruction& instruction = op.origin->instruction;
  const uint32_t m0 = wave.scalar[isa::scalar::m0];
  const unsigned from = instruction.src(0).reg + (m0 & 0x3FF), to = instruction.dst().reg + (m0 >> 16 & 0x3FF);
  if (from >= wave.sgprs || to >= wave.sgprs) {
    fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
          fmt::format("s_movrelsd_2_b32 of s{} and s{}: the wave has {} SGPRs", to, from, wave.sgprs));
    return false;
  }
  wave.scalar[to] = wave.scalar[from];
  return true;
}

/// s_set_vgpr_msb: the instructions after it are prepared for these banks. The immediate's upper byte says what was
/// before, for readers of the code.
void set_vgpr_banks(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  const isa::Instruction& instruction = op->origin->instruction;
  wave.mode = with_banks(wave.mode, static_cast<uint8_t>(instruction.immediate));
  go_apart(wave, op->origin->pc + instruction.size, run);
}

}  // namespace

bool runs_apart(const Wave& wave) { return (wave.mode & (index_enable | vskip)) != 0; }

void go_apart(Wave& wave, uint64_t pc, Run& run) {
  stop(wave, machine::WaveState::ready, pc);
  run.resume = true;
}

void run_apart(Wave& wave, Run& run, bool steps) {
  const uint64_t limit = std::exchange(run.limit, 0);  // branches come back at once
  wave.state = machine::WaveState::ready;
  while ((steps || runs_apart(wave)) && wave.state == machine::WaveState::ready && run.instructions < limit &&
         !run.stopped) {
    const MicroOp* op = run.code->find_prepared(wave, wave.pc);
    if (op == nullptr) break;
    const isa::Instruction& instruction = op->origin->instruction;
    const uint64_t next = wave.pc + instruction.size;
    if ((wave.mode & vskip) != 0 && !is_scalar(instruction)) {
      wave.pc = next;
      ++run.instructions;
      continue;
    }
    MicroOp copy[6];
    copy[0] = *op;
    for (MicroOp& later : std::span(copy).subspan(1)) later.handler = pause;
    if ((wave.mode & index_enable) != 0 && semantics::vector_function(instruction.opcode).call != nullptr &&
        !index_registers(wave, copy[0])) {
      copy[0].handler = pause;
    }
    run.resume = false;
    handler_of(copy)(wave, copy, run);
    if (run.resume) wave.pc = next;  // else a branch has set it
  }
  run.limit = limit;
  run.resume = wave.state == machine::WaveState::ready && run.instructions < limit && !steps && !run.stopped;
}

Handler prepare_register_index(Preparation& p) {
  const isa::InstructionRow& row = isa::row_of(p.instruction);
  const bool indexes_source = row.has(isa::flag::indexed_source), indexes_result = row.has(isa::flag::indexed_result);
  const bool is_wide = isa::words_of(row.operands[0].type) == 2;
  switch (row.computes.operation) {
    case Operation::indexing_on:
      return p.instruction.sources() == 1 ? gpr_index_on : nullptr;
    case Operation::indexing_off:
      return step<gpr_index_off>;
    case Operation::indexing_mode:
      return step<gpr_index_mode>;
    case Operation::indexing_index:
      return p.instruction.sources() == 1 ? step<gpr_index_index> : nullptr;
    case Operation::set_vgpr_banks:
      return set_vgpr_banks;
    case Operation::set_vector_skip:
      return p.instruction.sources() == 2 ? set_vskip : nullptr;
    case Operation::mov:
      if (indexes_source && indexes_result) {
        return p.instruction.src(0).kind == isa::OperandKind::scalar ? step_or_stop<move_both_relative> : nullptr;
      }
      if (indexes_source) return is_wide ? step_or_stop<move_relative<true, 2>> : step_or_stop<move_relative<true, 1>>;
      if (indexes_result)
        return is_wide ? step_or_stop<move_relative<false, 2>> : step_or_stop<move_relative<false, 1>>;
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace Atoll::engine

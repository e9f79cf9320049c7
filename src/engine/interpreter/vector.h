// engine: what the files of vector instructions share: where operands are and how scalars become rows.
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// The operands of a vector instruction by their part in it: rows in and out, lane masks in and out.
struct VectorOperands {
  const isa::Operand* result[2]{};
  const isa::Operand* source[4]{};
  const isa::Operand* mask[2]{};
  const isa::Operand* mask_result = nullptr;
  unsigned results = 0, sources = 0, masks = 0;
};
VectorOperands vector_operands(const isa::Instruction& instruction);

/// Whether the result is a byte or word of the destination. It need not be SDWA's: v_cvt_sr_fp8_f32 names one, too.
inline bool writes_part(const isa::Instruction& instruction) { return instruction.dst_sel != isa::SdwaSelect::dword; }

/// A source of v_mad_mix or v_fma_mix, which see an inline constant in the width of the source: the decoder gives it as
/// half precision. Other operands as they are.
isa::Operand mixed_source(const isa::Operand& operand);

/// A half of a dual instruction (X, or Y if `second`) as an instruction by itself.
isa::Instruction half_of(const isa::Instruction& dual, bool second);

/// Whether an operand or the result is changed on its way: modifiers, SDWA, DPP, op_sel, clamp, omod.
bool is_modified(const isa::Instruction& instruction, const semantics::VectorShape& shape);

ATOLL_HOST_ISA_BEGIN
/// The handler for instructions that are modified, or have operands of a kind that the plain handlers lack.
Handler prepare_modified(Preparation& p, const VectorOperands& operands, const semantics::VectorShape& shape,
                         bool writes_exec);
ATOLL_HOST_ISA_END

/// Resolves a source of `words` registers. False: an operand of a kind that has no row of its own (SCC and the like).
bool set_source(Preparation& p, unsigned slot, const isa::Operand& operand, unsigned words);

[[gnu::always_inline]] inline Row* rows_at(const Run& run, RowBase base, uint64_t offset) {
  return reinterpret_cast<Row*>(run.base[static_cast<unsigned>(base)] + offset);
}

[[gnu::always_inline]] inline void fill(Row& row, uint32_t value) {
  for (uint32_t& lane : row) lane = value;
}

/// Copies those lanes of a row.
[[gnu::always_inline]] inline void copy_lanes(Row& to, const Row& from, uint64_t lanes) {
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    const uint32_t mask = 0 - static_cast<uint32_t>(lanes >> lane & 1);
    to[lane] = (from[lane] & mask) | (to[lane] & ~mask);
  }
}

/// Spreads the scalar sources over the temporary rows that set_source() gave them.
[[gnu::always_inline]] inline void broadcast_scalars(const Wave& wave, const MicroOp& op, Run& run) {
  for (unsigned i = 0; i < op.broadcasts; ++i) {
    const unsigned slot = op.broadcast_slot[i];
    Row* rows = run.temporary + 2 * (slot & ~broadcast_pair);
    fill(rows[0], wave.scalar[op.broadcast[i]]);
    if (slot & broadcast_pair) fill(rows[1], wave.scalar[op.broadcast[i] + 1]);
  }
}

}  // namespace Atoll::engine

// engine: operands of vector instructions: locations of rows, and broadcasting of scalars.
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// The operands of a vector instruction by role: input and output rows and lane masks.
struct VectorOperands {
  const isa::Operand* result[2]{};
  const isa::Operand* source[4]{};
  const isa::Operand* mask[2]{};
  const isa::Operand* mask_result = nullptr;
  unsigned results = 0, sources = 0, masks = 0;
};
VectorOperands vector_operands(const isa::Instruction& instruction);

/// Returns whether the result is a byte or word of the destination (SDWA, but also v_cvt_sr_fp8_f32).
inline bool writes_part(const isa::Instruction& instruction) { return instruction.dst_sel != isa::SdwaSelect::dword; }

/// Returns a source of v_mad_mix or v_fma_mix with inline constants in the source's width; the decoder yields half
/// precision. Other operands are unchanged.
isa::Operand mixed_source(const isa::Operand& operand);

/// Returns half of a VOPD (X, or Y if `second`) as a separate instruction.
isa::Instruction half_of(const isa::Instruction& dual, bool second);

/// Returns whether sources or the result are modified: modifiers, SDWA, DPP, op_sel, clamp, omod.
bool is_modified(const isa::Instruction& instruction, const semantics::VectorShape& shape);

ATOLL_HOST_ISA_BEGIN
/// Returns the handler for modified instructions, and for operand kinds that plain handlers do not support.
Handler prepare_modified(Preparation& p, const VectorOperands& operands, const semantics::VectorShape& shape,
                         bool writes_exec);
ATOLL_HOST_ISA_END

/// Resolves a source of `words` registers. Returns false for operands without a row, such as SCC.
bool set_source(Preparation& p, unsigned slot, const isa::Operand& operand, unsigned words);

[[gnu::always_inline]] inline Row* rows_at(const Run& run, RowBase base, uint64_t offset) {
  return reinterpret_cast<Row*>(run.base[static_cast<unsigned>(base)] + offset);
}

[[gnu::always_inline]] inline void fill(Row& row, uint32_t value) {
  for (uint32_t& lane : row) lane = value;
}

/// Copies the given lanes of a row.
[[gnu::always_inline]] inline void copy_lanes(Row& to, const Row& from, uint64_t lanes) {
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    const uint32_t mask = 0 - static_cast<uint32_t>(lanes >> lane & 1);
    to[lane] = (from[lane] & mask) | (to[lane] & ~mask);
  }
}

/// Broadcasts the scalar sources to the temporary rows that set_source() assigned.
[[gnu::always_inline]] inline void broadcast_scalars(const Wave& wave, const MicroOp& op, Run& run) {
  for (unsigned i = 0; i < op.broadcasts; ++i) {
    const unsigned slot = op.broadcast_slot[i];
    Row* rows = run.temporary + 2 * (slot & ~broadcast_pair);
    fill(rows[0], wave.scalar[op.broadcast[i]]);
    if (slot & broadcast_pair) fill(rows[1], wave.scalar[op.broadcast[i] + 1]);
  }
}

}  // namespace Atoll::engine

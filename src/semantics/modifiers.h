// semantics: operand and result modifiers, over whole register rows.
//
// What an instruction's function is given and what becomes of its result, where the plain register is not meant:
// negation and absolute value, halves selected by op_sel, SDWA's bytes and words, output multiplication and clamping.
// The order is the hardware's: select (SDWA or op_sel), absolute value, negation, the operation, output multiplication,
// clamp, and the select of the destination.
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "semantics/host_isa.h"
#include "semantics/registry.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// Whether apply_source_modifiers() would change anything.
bool has_source_modifiers(const isa::Operand& operand);

/// A source as its instruction's function wants it: `in` holds the operand's registers or its constant in every lane,
/// `out` (other rows) receives as many. By the operand's fields:
/// - sdwa, sext: a byte or word of each lane, zero- or sign-extended;
/// - op_sel of a 16-bit operand: the upper half of each lane, moved down;
/// - op_sel and op_sel_hi of a packed operand: where its first and second element come from, be they halves of a
///   register or registers of a pair;
/// - abs, neg, neg_hi: the sign bit of the element (neg_hi: of a packed operand's second element).
void apply_source_modifiers(Row* out, const Row* in, const isa::Operand& operand);

/// The same for a source of v_mad_mix and v_fma_mix (VectorShape::mixed_sources), which op_sel_hi declares half
/// precision and op_sel selects the half of: widened to single precision, then abs and neg. `singles`: MODE for single
/// precision, which decides for such halves whether denormals are flushed (measured: llvm/llvm-project#205101).
void apply_mixed_source(Row& out, const Row& in, const isa::Operand& operand, Denormals singles);

/// Output multiplier (isa::Instruction::omod) and clamp to [0, 1] of a floating-point result, in place, in all lanes.
/// The multiplier has no effect in IEEE mode or where results may be denormal, and turns -0 into +0 (Vega ISA guide,
/// "Output modifiers"). Clamp turns NaN into 0 if the mode's dx10_clamp says so. Other types stay as they are.
void apply_result_modifiers(Row* result, isa::DataType type, uint8_t omod, bool clamp, const FloatMode& mode);

/// Whether a result that goes to the upper half is computed from what is there, as v_fmac_f16's sum with
/// op_sel:[0,0,1].
bool reads_high_half(const isa::Instruction& instruction, const VectorShape& shape);
/// The upper half of each lane, moved down for the instruction's function.
void move_high_half_down(Row& row);

/// Writes a 16-bit result to the upper half of the active lanes' registers, leaving the lower (op_sel's last bit).
void merge_high_half(Row& dst, const Row& result, uint64_t exec);

/// Writes the low bits of a result to the selected part of the active lanes' registers; the rest becomes zeros or
/// copies of the result's sign bit above it (below it: zeros), or stays.
void merge_sdwa(Row& dst, const Row& result, isa::SdwaSelect select, isa::SdwaUnused unused, uint64_t exec);

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

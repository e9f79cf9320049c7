// semantics: scalar floating point as one lane of vector instructions (scalar_float.h).
#include "semantics/scalar/scalar_float.h"

#include <algorithm>
#include <array>
#include <bit>

#include "semantics/modifiers.h"

namespace Atoll::semantics {

namespace {

using enum isa::Opcode;

struct Equivalent {
  isa::Opcode scalar, vector;
};

constexpr Equivalent pairs[] = {
    {s_ceil_f32, v_ceil_f32},
    {s_ceil_f16, v_ceil_f16},
    {s_floor_f32, v_floor_f32},
    {s_floor_f16, v_floor_f16},
    {s_trunc_f32, v_trunc_f32},
    {s_trunc_f16, v_trunc_f16},
    {s_rndne_f32, v_rndne_f32},
    {s_rndne_f16, v_rndne_f16},
    {s_cvt_f32_i32, v_cvt_f32_i32},
    {s_cvt_f32_u32, v_cvt_f32_u32},
    {s_cvt_i32_f32, v_cvt_i32_f32},
    {s_cvt_u32_f32, v_cvt_u32_f32},
    {s_cvt_f16_f32, v_cvt_f16_f32},
    {s_cvt_f32_f16, v_cvt_f32_f16},
    {s_cvt_hi_f32_f16, v_cvt_f32_f16},
    {s_add_f32, v_add_f32},
    {s_add_f16, v_add_f16},
    {s_sub_f32, v_sub_f32},
    {s_sub_f16, v_sub_f16},
    {s_min_f32, v_min_f32},
    {s_min_f16, v_min_f16},
    {s_max_f32, v_max_f32},
    {s_max_f16, v_max_f16},
    {s_mul_f32, v_mul_f32},
    {s_mul_f16, v_mul_f16},
    {s_fmac_f32, v_fmac_f32},
    {s_fmac_f16, v_fmac_f16},
    {s_minimum_f32, v_minimum_f32},
    {s_minimum_f16, v_minimum_f16},
    {s_maximum_f32, v_maximum_f32},
    {s_maximum_f16, v_maximum_f16},
    {s_fmaak_f32, v_fmaak_f32},
    {s_fmamk_f32, v_fmamk_f32},
    {s_cvt_pk_rtz_f16_f32, v_cvt_pkrtz_f16_f32},
    {s_cmp_lt_f32, v_cmp_lt_f32},
    {s_cmp_eq_f32, v_cmp_eq_f32},
    {s_cmp_le_f32, v_cmp_le_f32},
    {s_cmp_gt_f32, v_cmp_gt_f32},
    {s_cmp_lg_f32, v_cmp_lg_f32},
    {s_cmp_ge_f32, v_cmp_ge_f32},
    {s_cmp_o_f32, v_cmp_o_f32},
    {s_cmp_u_f32, v_cmp_u_f32},
    {s_cmp_nge_f32, v_cmp_nge_f32},
    {s_cmp_nlg_f32, v_cmp_nlg_f32},
    {s_cmp_ngt_f32, v_cmp_ngt_f32},
    {s_cmp_nle_f32, v_cmp_nle_f32},
    {s_cmp_neq_f32, v_cmp_neq_f32},
    {s_cmp_nlt_f32, v_cmp_nlt_f32},
    {s_cmp_lt_f16, v_cmp_lt_f16},
    {s_cmp_eq_f16, v_cmp_eq_f16},
    {s_cmp_le_f16, v_cmp_le_f16},
    {s_cmp_gt_f16, v_cmp_gt_f16},
    {s_cmp_lg_f16, v_cmp_lg_f16},
    {s_cmp_ge_f16, v_cmp_ge_f16},
    {s_cmp_o_f16, v_cmp_o_f16},
    {s_cmp_u_f16, v_cmp_u_f16},
    {s_cmp_nge_f16, v_cmp_nge_f16},
    {s_cmp_nlg_f16, v_cmp_nlg_f16},
    {s_cmp_ngt_f16, v_cmp_ngt_f16},
    {s_cmp_nle_f16, v_cmp_nle_f16},
    {s_cmp_neq_f16, v_cmp_neq_f16},
    {s_cmp_nlt_f16, v_cmp_nlt_f16},
    {v_s_exp_f32, v_exp_f32},
    {v_s_exp_f16, v_exp_f16},
    {v_s_log_f32, v_log_f32},
    {v_s_log_f16, v_log_f16},
    {v_s_rcp_f32, v_rcp_f32},
    {v_s_rcp_f16, v_rcp_f16},
    {v_s_rsq_f32, v_rsq_f32},
    {v_s_rsq_f16, v_rsq_f16},
    {v_s_sqrt_f32, v_sqrt_f32},
    {v_s_sqrt_f16, v_sqrt_f16},
};

using Table = std::array<isa::Opcode, static_cast<size_t>(count)>;

constexpr Table equivalents = [] {
  Table table;
  table.fill(invalid);
  for (const Equivalent& pair : pairs) table[static_cast<size_t>(pair.scalar)] = pair.vector;
  return table;
}();

/// An inline constant that the source sees as a half, of which LLVM's operand types, and so the table, make a single
/// (s_ceil_f16, s_cmp_lt_f16).
bool is_widened(const isa::Operand& operand, Floating type) {
  constexpr uint32_t half = 0x3F000000, four = 0x40800000, inverse_two_pi = 0x3E22F983;
  const auto magnitude = static_cast<uint32_t>(operand.value & 0x7FFFFFFF);
  return operand.kind == isa::OperandKind::constant && !operand.is_literal && type == Floating::half &&
         ((magnitude >= half && magnitude <= four) || magnitude == inverse_two_pi);
}

bool is_min_or_max(isa::Opcode opcode) {
  return opcode == s_min_f32 || opcode == s_min_f16 || opcode == s_max_f32 || opcode == s_max_f16;
}

/// The vector instruction's meaning, and the mode that it has it in. GFX11.7 makes minimumNumber of IEEE 754-2019 of
/// V_MIN and V_MAX, but leaves S_MIN and S_MAX minNum of IEEE 754-2008, as GFX11.5's are in IEEE mode (llvm-project,
/// pull request 207308).
const VectorShape& lane_function(isa::Opcode opcode, target::Generation generation, FloatMode& mode) {
  if (generation == target::Generation::gfx11_7 && is_min_or_max(opcode)) {
    generation = target::Generation::gfx11_5;
    mode.ieee = true;
  }
  return vector_function(lane_equivalent(opcode), generation);
}

}  // namespace

isa::Opcode lane_equivalent(isa::Opcode opcode) { return equivalents[static_cast<size_t>(opcode)]; }

void scalar_float(const isa::Instruction& instruction, target::Generation generation, const FloatMode& mode,
                  ScalarCall& call) {
  // Functions work on chunks of lanes: what is in the others has no effect, but is a number.
  alignas(64) Row sources[3]{}, changed[3], result{};
  VectorCall lane{};
  lane.exec = 1;
  lane.mode = mode;
  const VectorShape& shape = lane_function(instruction.opcode, generation, lane.mode);
  for (unsigned i = 0; i < shape.sources; ++i) {
    const bool upper = instruction.opcode == s_cvt_hi_f32_f16;
    sources[i][0] = static_cast<uint32_t>(upper ? call.src[i] >> 16 : call.src[i]);
    if (i < instruction.sources() && !upper && is_widened(instruction.src(i), shape.float_use.src[i])) {
      const auto single = std::bit_cast<float>(sources[i][0]);
      sources[i][0] = std::bit_cast<uint16_t>(static_cast<_Float16>(single));
    }
    lane.src[i] = &sources[i];
    if (i < instruction.sources() && has_source_modifiers(instruction.src(i))) {
      apply_source_modifiers(&changed[i], &sources[i], instruction.src(i));
      lane.src[i] = &changed[i];
    }
  }
  result[0] = static_cast<uint32_t>(call.dst);
  lane.dst[0] = &result;
  shape.call(lane);
  if (shape.mask_out) {
    call.scc = (lane.mask_out & 1) != 0;
    return;
  }
  if (instruction.omod != 0 || instruction.clamp) {
    apply_result_modifiers(&result, instruction.dst().type, instruction.omod, instruction.clamp, mode);
  }
  const bool is_half = shape.float_use.dst == Floating::half;
  call.dst = is_half ? result[0] & 0xFFFF : result[0];
}

}  // namespace Atoll::semantics

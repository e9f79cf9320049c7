// observe: see undefined_bits.h.
#include "observe/undefined_bits.h"

#include <algorithm>
#include <bit>

namespace Atoll::observe {

namespace {

using isa::Opcode;

constexpr uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
/// All bits, if any.
constexpr uint64_t all_if(uint64_t undefined) { return undefined == 0 ? 0 : ~uint64_t{0}; }
/// The lowest bit and all above it.
constexpr uint64_t upwards(uint64_t undefined) { return undefined | (uint64_t{0} - undefined); }

constexpr Bits low(Bits a, unsigned bits) { return {a.value & mask_of(bits), a.undefined & mask_of(bits)}; }
constexpr Bits inverse(Bits a) { return {~a.value, a.undefined}; }
constexpr Bits conjunction(Bits a, Bits b) {
  return {a.value & b.value, (a.undefined | b.undefined) & (a.undefined | a.value) & (b.undefined | b.value)};
}
constexpr Bits disjunction(Bits a, Bits b) { return inverse(conjunction(inverse(a), inverse(b))); }
constexpr Bits exclusive(Bits a, Bits b) { return {a.value ^ b.value, a.undefined | b.undefined}; }
constexpr Bits sum(Bits a, Bits b) { return {a.value + b.value, upwards(a.undefined | b.undefined)}; }
constexpr Bits difference(Bits a, Bits b) { return {a.value - b.value, upwards(a.undefined | b.undefined)}; }
constexpr Bits product(Bits a, Bits b) {
  const bool is_zero = (a.value | a.undefined) == 0 || (b.value | b.undefined) == 0;
  return {a.value * b.value, is_zero ? 0 : upwards(a.undefined | b.undefined)};
}
constexpr Bits signed_of(Bits a, unsigned bits) {
  const unsigned up = 64 - bits;
  return {static_cast<uint64_t>(static_cast<int64_t>(a.value << up) >> up),
          static_cast<uint64_t>(static_cast<int64_t>(a.undefined << up) >> up)};
}
enum class Direction : uint8_t { left, right, right_signed };
constexpr Bits shifted(Direction direction, Bits a, Bits amount, unsigned bits) {
  const uint64_t mask = bits - 1;
  if ((amount.undefined & mask) != 0) return {0, (a.value | a.undefined) == 0 ? 0 : mask_of(bits)};
  const auto by = static_cast<unsigned>(amount.value & mask);
  if (direction == Direction::left) return low({a.value << by, a.undefined << by}, bits);
  const Bits from = direction == Direction::right ? low(a, bits) : signed_of(a, bits);
  if (direction == Direction::right) return {from.value >> by, from.undefined >> by};
  return low({static_cast<uint64_t>(static_cast<int64_t>(from.value) >> by),
              static_cast<uint64_t>(static_cast<int64_t>(from.undefined) >> by)},
             bits);
}
constexpr Bits chosen(Bits condition, Bits if_set, Bits if_clear) {
  if ((condition.undefined & 1) == 0) return (condition.value & 1) != 0 ? if_set : if_clear;
  return {if_clear.value, if_set.undefined | if_clear.undefined | (if_set.value ^ if_clear.value)};
}
constexpr Bits field(Bits a, Bits offset, Bits width, bool is_signed, unsigned bits) {
  const uint64_t mask = bits - 1;
  if ((offset.undefined & mask) != 0 || width.undefined != 0) return {0, all_if(1)};
  const auto first = static_cast<unsigned>(offset.value & mask), count = static_cast<unsigned>(width.value);
  if (count == 0) return {};
  const Bits part = low({low(a, bits).value >> first, low(a, bits).undefined >> first}, std::min(count, bits - first));
  return is_signed ? signed_of(part, std::min(count, bits - first)) : part;
}
/// v_perm_b32: each byte of the result is one of the eight of both sources, or a constant.
Bits permuted(Bits high, Bits lower, Bits selector) {
  if (selector.undefined != 0) return {0, all_if(1)};
  const Bits both{high.value << 32 | (lower.value & mask_of(32)),
                  high.undefined << 32 | (lower.undefined & mask_of(32))};
  Bits result;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const auto select = static_cast<unsigned>(selector.value >> (8 * byte) & 0xFF);
    Bits part;
    if (select < 8) {
      part = low({both.value >> (8 * select), both.undefined >> (8 * select)}, 8);
    } else if (select < 12) {
      const unsigned sign = 16 * (select - 8) + 15;
      part = low(signed_of({both.value >> sign & 1, both.undefined >> sign & 1}, 1), 8);
    }
    result.value |= part.value << (8 * byte);
    result.undefined |= part.undefined << (8 * byte);
  }
  return result;
}

enum class Comparison : uint8_t { equal, less, less_or_equal, other };
/// Whether it is undefined how two numbers compare.
bool compares_undefined(Comparison comparison, Bits a, Bits b, unsigned bits, bool is_signed) {
  a = low(a, bits);
  b = low(b, bits);
  const uint64_t undefined = a.undefined | b.undefined;
  if (undefined == 0) return false;
  if (comparison == Comparison::equal) return ((a.value ^ b.value) & ~undefined) == 0;
  if (comparison == Comparison::other) return true;
  const uint64_t sign = is_signed ? uint64_t{1} << (bits - 1) : 0;
  a.value ^= sign;
  b.value ^= sign;
  const uint64_t least_a = a.value & ~a.undefined, most_a = a.value | a.undefined;
  const uint64_t least_b = b.value & ~b.undefined, most_b = b.value | b.undefined;
  if (comparison == Comparison::less) return most_a >= least_b && least_a < most_b;
  return most_a > least_b && least_a <= most_b;
}

struct Compare {
  Comparison comparison = Comparison::other;
  unsigned bits = 0;  ///< 0: it is no comparison of integers
  bool is_signed = false, is_swapped = false;
};

Compare compare_of(Opcode opcode) {
  using enum Opcode;
  using enum Comparison;
#define ATOLL_VECTOR(prefix, type, bits, is_signed) \
  case prefix##_eq_##type:                          \
  case prefix##_ne_##type:                          \
    return {equal, bits, is_signed, false};         \
  case prefix##_lt_##type:                          \
  case prefix##_ge_##type:                          \
    return {less, bits, is_signed, false};          \
  case prefix##_gt_##type:                          \
  case prefix##_le_##type:                          \
    return {less, bits, is_signed, true};
#define ATOLL_SCALAR(prefix, type, is_signed) \
  case prefix##_eq_##type:                    \
  case prefix##_lg_##type:                    \
    return {equal, 32, is_signed, false};     \
  case prefix##_lt_##type:                    \
  case prefix##_ge_##type:                    \
    return {less, 32, is_signed, false};      \
  case prefix##_gt_##type:                    \
  case prefix##_le_##type:                    \
    return {less, 32, is_signed, true};
  switch (opcode) {
    ATOLL_VECTOR(v_cmp, i16, 16, true)
    ATOLL_VECTOR(v_cmp, u16, 16, false)
    ATOLL_VECTOR(v_cmp, i32, 32, true)
    ATOLL_VECTOR(v_cmp, u32, 32, false)
    ATOLL_VECTOR(v_cmp, i64, 64, true)
    ATOLL_VECTOR(v_cmp, u64, 64, false)
    ATOLL_VECTOR(v_cmpx, i16, 16, true)
    ATOLL_VECTOR(v_cmpx, u16, 16, false)
    ATOLL_VECTOR(v_cmpx, i32, 32, true)
    ATOLL_VECTOR(v_cmpx, u32, 32, false)
    ATOLL_VECTOR(v_cmpx, i64, 64, true)
    ATOLL_VECTOR(v_cmpx, u64, 64, false)
    ATOLL_SCALAR(s_cmp, i32, true)
    ATOLL_SCALAR(s_cmp, u32, false)
    ATOLL_SCALAR(s_cmpk, i32, true)
    ATOLL_SCALAR(s_cmpk, u32, false)
    case s_cmp_eq_u64:
    case s_cmp_lg_u64:
      return {equal, 64, false, false};
    default:
      return {};
  }
#undef ATOLL_VECTOR
#undef ATOLL_SCALAR
}

/// SCC of most scalar instructions: whether the result is not 0.
Consequence not_zero(Bits result, unsigned bits) {
  result = low(result, bits);
  return {result.undefined, result.undefined != 0 && (result.value & ~result.undefined) == 0};
}

}  // namespace

Consequence consequence(Opcode opcode, const isa::Instruction& instruction, std::span<const Bits> sources,
                        unsigned result_bits, Bits scc) {
  using enum Opcode;
  const auto source = [&](unsigned i) { return i < sources.size() ? sources[i] : Bits{}; };
  const Bits a = source(0), b = source(1), c = source(2);
  const auto exactly = [&](Bits result) { return not_zero(result, result_bits); };
  const auto arithmetic = [&](Bits result) {
    const Bits cut = low(result, result_bits);
    return Consequence{cut.undefined, (a.undefined | b.undefined | c.undefined) != 0};
  };
  if (const Compare compare = compare_of(opcode); compare.bits != 0) {
    const bool undefined = compares_undefined(compare.comparison, compare.is_swapped ? b : a,
                                              compare.is_swapped ? a : b, compare.bits, compare.is_signed);
    return {undefined ? ~uint64_t{0} : 0, undefined};
  }
  switch (opcode) {
    case s_mov_b32:
    case s_mov_b64:
    case s_movk_i32:
    case v_mov_b32:
    case v_mov_b64:
    case v_mov_b16:
    case v_accvgpr_read_b32:
    case v_accvgpr_write_b32:
    case v_accvgpr_mov_b32:
    case v_cvt_u32_u16:
    case s_wqm_b32:
    case s_wqm_b64:
      return {a.undefined & mask_of(result_bits), false};
    case s_not_b32:
    case s_not_b64:
    case v_not_b32:
    case v_not_b16:
      return exactly(inverse(a));
    case s_and_b32:
    case s_and_b64:
    case v_and_b32:
    case v_and_b16:
      return exactly(conjunction(a, b));
    case s_or_b32:
    case s_or_b64:
    case v_or_b32:
    case v_or_b16:
      return exactly(disjunction(a, b));
    case s_xor_b32:
    case s_xor_b64:
    case v_xor_b32:
    case v_xor_b16:
      return exactly(exclusive(a, b));
    case s_andn2_b32:
    case s_andn2_b64:
      return exactly(conjunction(a, inverse(b)));
    case s_orn2_b32:
    case s_orn2_b64:
      return exactly(disjunction(a, inverse(b)));
    case s_nand_b32:
    case s_nand_b64:
      return exactly(inverse(conjunction(a, b)));
    case s_nor_b32:
    case s_nor_b64:
      return exactly(inverse(disjunction(a, b)));
    case s_xnor_b32:
    case s_xnor_b64:
    case v_xnor_b32:
      return exactly(inverse(exclusive(a, b)));
    case v_and_or_b32:
      return exactly(disjunction(conjunction(a, b), c));
    case v_or3_b32:
      return exactly(disjunction(disjunction(a, b), c));
    case v_xor3_b32:
      return exactly(exclusive(exclusive(a, b), c));
    case v_bfi_b32:
      return exactly(disjunction(conjunction(a, b), conjunction(inverse(a), c)));
    case v_bitop3_b32:
    case v_bitop3_b16:
      return {(a.undefined | b.undefined | c.undefined) & mask_of(result_bits), false};
    case v_lshl_or_b32:
      return exactly(disjunction(shifted(Direction::left, a, b, 32), c));
    case s_lshl_b32:
      return exactly(shifted(Direction::left, a, b, 32));
    case s_lshl_b64:
    case v_lshl_b64:
      return exactly(shifted(Direction::left, a, b, 64));
    case s_lshr_b32:
    case v_lshr_b32:
      return exactly(shifted(Direction::right, a, b, 32));
    case s_lshr_b64:
    case v_lshr_b64:
      return exactly(shifted(Direction::right, a, b, 64));
    case s_ashr_i32:
    case v_ashr_i32:
      return exactly(shifted(Direction::right_signed, a, b, 32));
    case s_ashr_i64:
    case v_ashr_i64:
      return exactly(shifted(Direction::right_signed, a, b, 64));
    case v_lshl_b32:
      return exactly(shifted(Direction::left, a, b, 32));
    case v_lshlrev_b32:
      return exactly(shifted(Direction::left, b, a, 32));
    case v_lshlrev_b64:
      return exactly(shifted(Direction::left, b, a, 64));
    case v_lshlrev_b16:
      return exactly(shifted(Direction::left, b, a, 16));
    case v_lshrrev_b32:
      return exactly(shifted(Direction::right, b, a, 32));
    case v_lshrrev_b64:
      return exactly(shifted(Direction::right, b, a, 64));
    case v_lshrrev_b16:
      return exactly(shifted(Direction::right, b, a, 16));
    case v_ashrrev_i32:
      return exactly(shifted(Direction::right_signed, b, a, 32));
    case v_ashrrev_i64:
      return exactly(shifted(Direction::right_signed, b, a, 64));
    case v_ashrrev_i16:
      return exactly(shifted(Direction::right_signed, b, a, 16));
    case s_add_u32:
    case s_add_i32:
    case s_addk_i32:
    case s_add_nc_u64:
    case s_addc_u32:
    case v_add_u32:
    case v_add_co_u32:
    case v_addc_co_u32:
    case v_add_i32:
    case v_add_u16:
    case v_add_i16:
    case v_add_nc_u64:
    case v_add3_u32: {
      Consequence result = arithmetic(sum(sum(a, b), c));
      if (opcode == s_addc_u32) {
        result.undefined |= all_if(scc.undefined) & mask_of(32);
        result.flag_undefined |= scc.undefined != 0;
      }
      return result;
    }
    case s_sub_u32:
    case s_sub_i32:
    case s_sub_nc_u64:
    case s_subb_u32:
    case v_sub_u32:
    case v_subrev_u32:
    case v_sub_co_u32:
    case v_subrev_co_u32:
    case v_subb_co_u32:
    case v_subbrev_co_u32:
    case v_sub_i32:
    case v_sub_u16:
    case v_subrev_u16:
    case v_sub_i16:
    case v_sub_nc_u64: {
      Consequence result = arithmetic(difference(difference(a, b), c));
      if (opcode == s_subb_u32) {
        result.undefined |= all_if(scc.undefined) & mask_of(32);
        result.flag_undefined |= scc.undefined != 0;
      }
      return result;
    }
    case s_lshl1_add_u32:
      return arithmetic(sum(shifted(Direction::left, a, {1, 0}, 32), b));
    case s_lshl2_add_u32:
      return arithmetic(sum(shifted(Direction::left, a, {2, 0}, 32), b));
    case s_lshl3_add_u32:
      return arithmetic(sum(shifted(Direction::left, a, {3, 0}, 32), b));
    case s_lshl4_add_u32:
      return arithmetic(sum(shifted(Direction::left, a, {4, 0}, 32), b));
    case v_lshl_add_u32:
      return arithmetic(sum(shifted(Direction::left, a, b, 32), c));
    case v_lshl_add_u64:
      return arithmetic(sum(shifted(Direction::left, a, b, 64), c));
    case v_add_lshl_u32:
      return arithmetic(shifted(Direction::left, sum(a, b), c, 32));
    case v_xad_u32:
      return arithmetic(sum(exclusive(a, b), c));
    case s_mul_i32:
    case s_mulk_i32:
    case s_mul_u64:
    case v_mul_lo_u32:
    case v_mul_lo_i32:
    case v_mul_lo_u16:
    case v_mul_u64:
      return arithmetic(product(a, b));
    case v_mul_u32_u24:
    case v_mul_i32_i24:
      return arithmetic(product(low(a, 24), low(b, 24)));
    case v_mad_u32_u24:
    case v_mad_i32_i24:
      return arithmetic(sum(product(low(a, 24), low(b, 24)), c));
    case v_mad_u32_u16:
    case v_mad_i32_i16:
      return arithmetic(sum(product(low(a, 16), low(b, 16)), c));
    case v_mad_u16:
    case v_mad_i16:
    case v_mad_u32:
    case v_mad_u64_u32:
    case v_mad_nc_u64_u32:
      return arithmetic(sum(product(a, b), c));
    case v_mul_hi_u32_u24:
    case v_mul_hi_i32_i24:
      return {all_if((a.undefined | b.undefined) & mask_of(24)) & mask_of(result_bits), false};
    case s_cselect_b32:
    case s_cselect_b64:
      return {chosen(scc, a, b).undefined & mask_of(result_bits), false};
    case v_cndmask_b32:
    case v_cndmask_b16:
      return {chosen(c, b, a).undefined & mask_of(result_bits), false};
    case v_bfe_u32:
      return exactly(field(a, low(b, 5), low(c, 5), false, 32));
    case v_bfe_i32:
      return exactly(field(a, low(b, 5), low(c, 5), true, 32));
    case s_bfe_u32:
      return exactly(field(a, low(b, 5), low({b.value >> 16, b.undefined >> 16}, 7), false, 32));
    case s_bfe_i32:
      return exactly(field(a, low(b, 5), low({b.value >> 16, b.undefined >> 16}, 7), true, 32));
    case s_bfe_u64:
      return exactly(field(a, low(b, 6), low({b.value >> 16, b.undefined >> 16}, 7), false, 64));
    case s_bfe_i64:
      return exactly(field(a, low(b, 6), low({b.value >> 16, b.undefined >> 16}, 7), true, 64));
    case s_sext_i32_i8:
      return {signed_of(a, 8).undefined & mask_of(32), false};
    case s_sext_i32_i16:
    case v_cvt_i32_i16:
      return {signed_of(a, 16).undefined & mask_of(32), false};
    case s_bitcmp0_b32:
    case s_bitcmp1_b32:
    case s_bitcmp0_b64:
    case s_bitcmp1_b64: {
      const unsigned bits = opcode == s_bitcmp0_b32 || opcode == s_bitcmp1_b32 ? 32 : 64;
      const bool undefined = (b.undefined & (bits - 1)) != 0 || (a.undefined >> (b.value & (bits - 1)) & 1) != 0;
      return {0, undefined};
    }
    case v_alignbit_b32:
    case v_alignbyte_b32: {
      const unsigned unit = opcode == v_alignbit_b32 ? 1 : 8, most = opcode == v_alignbit_b32 ? 31 : 3;
      if ((c.undefined & most) != 0) return {mask_of(32), false};
      const auto by = static_cast<unsigned>(c.value & most) * unit;
      const Bits both{a.value << 32 | (b.value & mask_of(32)), a.undefined << 32 | (b.undefined & mask_of(32))};
      return {both.undefined >> by & mask_of(32), false};
    }
    case v_perm_b32:
      return {permuted(a, b, c).undefined & mask_of(32), false};
    case v_cvt_f32_ubyte0:
      return {all_if(a.undefined & 0xFF) & mask_of(32), false};
    case v_cvt_f32_ubyte1:
      return {all_if(a.undefined & 0xFF00) & mask_of(32), false};
    case v_cvt_f32_ubyte2:
      return {all_if(a.undefined & 0xFF0000) & mask_of(32), false};
    case v_cvt_f32_ubyte3:
      return {all_if(a.undefined & 0xFF000000) & mask_of(32), false};
    case s_pack_ll_b32_b16:
      return {(a.undefined & 0xFFFF) | (b.undefined & 0xFFFF) << 16, false};
    case s_pack_lh_b32_b16:
      return {(a.undefined & 0xFFFF) | (b.undefined & 0xFFFF0000), false};
    case s_pack_hh_b32_b16:
      return {(a.undefined >> 16 & 0xFFFF) | (b.undefined & 0xFFFF0000), false};
    case s_pack_hl_b32_b16:
      return {(a.undefined >> 16 & 0xFFFF) | (b.undefined & 0xFFFF) << 16, false};
    case v_pack_b32_f16:
      return {(a.undefined & 0xFFFF) | (b.undefined & 0xFFFF) << 16, false};
    case v_cvt_pkrtz_f16_f32:
    case v_cvt_pk_f16_f32:
    case v_cvt_pk_bf16_f32:
    case v_cvt_pk_u16_u32:
    case v_cvt_pk_i16_i32:
    case v_cvt_pknorm_i16_f32:
    case v_cvt_pknorm_u16_f32:
      return {(a.undefined != 0 ? 0xFFFFu : 0u) | (b.undefined != 0 ? 0xFFFF0000u : 0u), false};
    case s_brev_b32:
    case v_bfrev_b32: {
      uint64_t reversed = 0;
      for (unsigned bit = 0; bit < 32; ++bit) reversed |= (a.undefined >> bit & 1) << (31 - bit);
      return {reversed, false};
    }
    default: {
      uint64_t any = 0;
      for (const Bits& each : sources) any |= each.undefined;
      static_cast<void>(instruction);
      return {all_if(any) & mask_of(result_bits), any != 0};
    }
  }
}

}  // namespace Atoll::observe

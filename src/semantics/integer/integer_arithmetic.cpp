// semantics: integer arithmetic of the vector ALU: addition with and without carry, multiplication, multiply-add,
// minimum, maximum and median, in 16, 24, 32 and 64 bits.
//
// Results wrap. Where an operation takes the clamp bit it saturates instead: the exact result, to the nearest value
// of the result's type (CDNA3 ISA guide, "VOP3", CLAMP: for integers the destination's range).
#include <limits>
#include <type_traits>
#include <utility>

#include "semantics/entries.h"
#include "semantics/integer/integer_words.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

template <typename T>
[[gnu::always_inline]] inline T add(T a, T b, Clamp clamp) {
  return clamp.on ? __builtin_elementwise_add_sat(a, b) : a + b;
}
template <typename T>
[[gnu::always_inline]] inline T subtract(T a, T b, Clamp clamp) {
  return clamp.on ? __builtin_elementwise_sub_sat(a, b) : a - b;
}

template <typename T>
[[gnu::always_inline]] inline T smaller(T a, T b) {
  return __builtin_elementwise_min(a, b);
}
template <typename T>
[[gnu::always_inline]] inline T larger(T a, T b) {
  return __builtin_elementwise_max(a, b);
}
template <typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

/// An exact result as the narrower To: wrapped, or clamped into To's range.
template <typename To, typename Wide>
[[gnu::always_inline]] inline To narrow(Wide exact, Clamp clamp) {
  using Element = std::remove_cvref_t<decltype(std::declval<To&>()[0])>;
  if (clamp.on) {
    exact =
        smaller(larger(exact, Wide(std::numeric_limits<Element>::min())), Wide(std::numeric_limits<Element>::max()));
  }
  return convert<To>(exact);
}

/// The low 24 bits of each lane, which the 24-bit multiplies see.
[[gnu::always_inline]] inline U32 low24(U32 a) { return a & 0xFFFFFFu; }
[[gnu::always_inline]] inline I32 low24(I32 a) { return bits<I32>(bits<U32>(a) << 8u) >> 8; }

}  // namespace

// --- Addition and subtraction ---------------------------------------------------------------------------------------

LANES(v_add_u32, U32, (U32 a, U32 b, Clamp clamp)) { return add(a, b, clamp); }
LANES(v_sub_u32, U32, (U32 a, U32 b, Clamp clamp)) { return subtract(a, b, clamp); }
LANES(v_subrev_u32, U32, (U32 a, U32 b, Clamp clamp)) { return subtract(b, a, clamp); }
LANES(v_add_i32, I32, (I32 a, I32 b, Clamp clamp)) {
  return clamp.on ? __builtin_elementwise_add_sat(a, b) : bits<I32>(bits<U32>(a) + bits<U32>(b));
}
LANES(v_sub_i32, I32, (I32 a, I32 b, Clamp clamp)) {
  return clamp.on ? __builtin_elementwise_sub_sat(a, b) : bits<I32>(bits<U32>(a) - bits<U32>(b));
}
LANES(v_add_u16, U16, (U16 a, U16 b, Clamp clamp)) { return add(a, b, clamp); }
LANES(v_sub_u16, U16, (U16 a, U16 b, Clamp clamp)) { return subtract(a, b, clamp); }
LANES(v_subrev_u16, U16, (U16 a, U16 b, Clamp clamp)) { return subtract(b, a, clamp); }

// These two came with GFX9 and, like its other new 16-bit operations with op_sel, keep the register's other half.
LANES(v_add_i16, LowHalf<I16>, (I16 a, I16 b, Clamp clamp)) {
  return {clamp.on ? __builtin_elementwise_add_sat(a, b) : bits<I16>(bits<U16>(a) + bits<U16>(b))};
}
LANES(v_sub_i16, LowHalf<I16>, (I16 a, I16 b, Clamp clamp)) {
  return {clamp.on ? __builtin_elementwise_sub_sat(a, b) : bits<I16>(bits<U16>(a) - bits<U16>(b))};
}

LANES(v_add3_u32, U32, (U32 a, U32 b, U32 c)) { return a + b + c; }
LANES(v_xad_u32, U32, (U32 a, U32 b, U32 c)) { return (a ^ b) + c; }
LANES(v_lshl_add_u32, U32, (U32 a, U32 b, U32 c)) { return (a << (b & 31u)) + c; }
LANES(v_add_lshl_u32, U32, (U32 a, U32 b, U32 c)) { return (a + b) << (c & 31u); }
LANES(v_lshl_add_u64, Words, (Words a, U32 b, Words c)) { return add_words(shift_left(a, b & 7u), c).value; }

// --- Addition and subtraction with carry ----------------------------------------------------------------------------
// The carry-out tells of the exact result, whether or not the value saturates.

namespace {

[[gnu::always_inline]] inline WithMask<U32> add_carry(U32 a, U32 b, U32 carry, Clamp clamp) {
  const U32 partial = a + b;
  const U32 sum = partial + carry;
  const auto over = (partial < a) | (sum < partial);
  return {clamp.on ? select(over, U32(~0u), sum) : sum, mask_of(over)};
}
[[gnu::always_inline]] inline WithMask<U32> subtract_borrow(U32 a, U32 b, U32 borrow, Clamp clamp) {
  const U32 partial = a - b;
  const auto under = (a < b) | (partial < borrow);
  const U32 difference = partial - borrow;
  return {clamp.on ? select(under, U32(0u), difference) : difference, mask_of(under)};
}
[[gnu::always_inline]] inline U32 one_where(Mask mask) { return bits<U32>(-lanes_of(mask)); }

}  // namespace

LANES(v_add_co_u32, WithMask<U32>, (U32 a, U32 b, Clamp clamp)) { return add_carry(a, b, U32(0u), clamp); }
LANES(v_sub_co_u32, WithMask<U32>, (U32 a, U32 b, Clamp clamp)) { return subtract_borrow(a, b, U32(0u), clamp); }
LANES(v_subrev_co_u32, WithMask<U32>, (U32 a, U32 b, Clamp clamp)) { return subtract_borrow(b, a, U32(0u), clamp); }
LANES(v_addc_co_u32, WithMask<U32>, (U32 a, U32 b, Mask carry, Clamp clamp)) {
  return add_carry(a, b, one_where(carry), clamp);
}
LANES(v_subb_co_u32, WithMask<U32>, (U32 a, U32 b, Mask borrow, Clamp clamp)) {
  return subtract_borrow(a, b, one_where(borrow), clamp);
}
LANES(v_subbrev_co_u32, WithMask<U32>, (U32 a, U32 b, Mask borrow, Clamp clamp)) {
  return subtract_borrow(b, a, one_where(borrow), clamp);
}

// --- Multiplication -------------------------------------------------------------------------------------------------

LANES(v_mul_lo_u32, U32, (U32 a, U32 b)) { return a * b; }
LANES(v_mul_lo_i32, U32, (U32 a, U32 b)) { return a * b; }
LANES(v_mul_hi_u32, U32, (U32 a, U32 b)) { return convert<U32>(convert<U64>(a) * convert<U64>(b) >> 32u); }
LANES(v_mul_hi_i32, I32, (I32 a, I32 b)) { return convert<I32>(convert<I64>(a) * convert<I64>(b) >> 32); }
LANES(v_mul_lo_u16, U16, (U16 a, U16 b, Clamp clamp)) { return narrow<U16>(convert<U32>(a) * convert<U32>(b), clamp); }

// 24-bit: the operands' low 24 bits, signed or not; the product has 48.
LANES(v_mul_u32_u24, U32, (U32 a, U32 b, Clamp clamp)) {
  if (!clamp.on) return low24(a) * low24(b);
  return narrow<U32>(convert<U64>(low24(a)) * convert<U64>(low24(b)), clamp);
}
LANES(v_mul_i32_i24, I32, (I32 a, I32 b, Clamp clamp)) {
  if (!clamp.on) return bits<I32>(bits<U32>(low24(a)) * bits<U32>(low24(b)));
  return narrow<I32>(convert<I64>(low24(a)) * convert<I64>(low24(b)), clamp);
}
LANES(v_mul_hi_u32_u24, U32, (U32 a, U32 b)) {
  return convert<U32>(convert<U64>(low24(a)) * convert<U64>(low24(b)) >> 32u);
}
LANES(v_mul_hi_i32_i24, I32, (I32 a, I32 b)) {
  return convert<I32>(convert<I64>(low24(a)) * convert<I64>(low24(b)) >> 32);
}
LANES(v_mad_u32_u24, U32, (U32 a, U32 b, U32 c, Clamp clamp)) {
  if (!clamp.on) return low24(a) * low24(b) + c;
  return narrow<U32>(convert<U64>(low24(a)) * convert<U64>(low24(b)) + convert<U64>(c), clamp);
}
LANES(v_mad_i32_i24, I32, (I32 a, I32 b, I32 c, Clamp clamp)) {
  if (!clamp.on) return bits<I32>(bits<U32>(low24(a)) * bits<U32>(low24(b)) + bits<U32>(c));
  return narrow<I32>(convert<I64>(low24(a)) * convert<I64>(low24(b)) + convert<I64>(c), clamp);
}

// 16-bit factors. The _legacy_ forms clear the upper half of the register, as GFX8 did.
LANES(v_mad_legacy_u16, U16, (U16 a, U16 b, U16 c, Clamp clamp)) {
  // 65535 * 65535 + 65535 still fits in 32 bits.
  return narrow<U16>(convert<U32>(a) * convert<U32>(b) + convert<U32>(c), clamp);
}
LANES(v_mad_legacy_i16, I16, (I16 a, I16 b, I16 c, Clamp clamp)) {
  return narrow<I16>(convert<I32>(a) * convert<I32>(b) + convert<I32>(c), clamp);
}
LANES(v_mad_u16, LowHalf<U16>, (U16 a, U16 b, U16 c, Clamp clamp)) { return {v_mad_legacy_u16(a, b, c, clamp)}; }
LANES(v_mad_i16, LowHalf<I16>, (I16 a, I16 b, I16 c, Clamp clamp)) { return {v_mad_legacy_i16(a, b, c, clamp)}; }
LANES(v_mad_u32_u16, U32, (U16 a, U16 b, U32 c, Clamp clamp)) {
  return add(convert<U32>(a) * convert<U32>(b), c, clamp);
}
LANES(v_mad_i32_i16, I32, (I16 a, I16 b, I32 c, Clamp clamp)) {
  return v_add_i32(convert<I32>(a) * convert<I32>(b), c, clamp);
}

// 32-bit factors, a 64-bit addend, and bit 64 of the exact sum as carry-out: for the signed form, its sign.
LANES(v_mad_u64_u32, WithMask<Words>, (U32 a, U32 b, Words c, Clamp clamp)) {
  const auto [sum, carry] = add_words({a * b, v_mul_hi_u32(a, b)}, c);
  if (!clamp.on) return {sum, mask_of(carry)};
  return {{select(carry, U32(~0u), sum.lo), select(carry, U32(~0u), sum.hi)}, mask_of(carry)};
}
LANES(v_mad_i64_i32, WithMask<Words>, (I32 a, I32 b, Words c, Clamp clamp)) {
  const Words product = {bits<U32>(a) * bits<U32>(b), bits<U32>(v_mul_hi_i32(a, b))};
  const auto [sum, carry] = add_words(product, c);
  // Bit 64 adds up from the operands' sign extensions and the carry.
  const I32 sign = (bits<I32>(product.hi ^ c.hi) >> 31) ^ carry;
  if (!clamp.on) return {sum, mask_of(sign)};
  const I32 overflow = sign ^ (bits<I32>(sum.hi) >> 31);
  const U32 nearest_lo = bits<U32>(~sign), nearest_hi = nearest_lo ^ 0x80000000u;
  return {{select(overflow, nearest_lo, sum.lo), select(overflow, nearest_hi, sum.hi)}, mask_of(sign)};
}

// --- Minimum, maximum, median ---------------------------------------------------------------------------------------

LANES(v_min_i32, I32, (I32 a, I32 b)) { return smaller(a, b); }
LANES(v_max_i32, I32, (I32 a, I32 b)) { return larger(a, b); }
LANES(v_min_u32, U32, (U32 a, U32 b)) { return smaller(a, b); }
LANES(v_max_u32, U32, (U32 a, U32 b)) { return larger(a, b); }
LANES(v_min_i16, I16, (I16 a, I16 b)) { return smaller(a, b); }
LANES(v_max_i16, I16, (I16 a, I16 b)) { return larger(a, b); }
LANES(v_min_u16, U16, (U16 a, U16 b)) { return smaller(a, b); }
LANES(v_max_u16, U16, (U16 a, U16 b)) { return larger(a, b); }
LANES(v_min3_i32, I32, (I32 a, I32 b, I32 c)) { return smaller(smaller(a, b), c); }
LANES(v_max3_i32, I32, (I32 a, I32 b, I32 c)) { return larger(larger(a, b), c); }
LANES(v_med3_i32, I32, (I32 a, I32 b, I32 c)) { return median(a, b, c); }
LANES(v_min3_u32, U32, (U32 a, U32 b, U32 c)) { return smaller(smaller(a, b), c); }
LANES(v_max3_u32, U32, (U32 a, U32 b, U32 c)) { return larger(larger(a, b), c); }
LANES(v_med3_u32, U32, (U32 a, U32 b, U32 c)) { return median(a, b, c); }
LANES(v_minmax_i32, I32, (I32 a, I32 b, I32 c)) { return larger(smaller(a, b), c); }
LANES(v_maxmin_i32, I32, (I32 a, I32 b, I32 c)) { return smaller(larger(a, b), c); }
LANES(v_minmax_u32, U32, (U32 a, U32 b, U32 c)) { return larger(smaller(a, b), c); }
LANES(v_maxmin_u32, U32, (U32 a, U32 b, U32 c)) { return smaller(larger(a, b), c); }
LANES(v_min3_i16, LowHalf<I16>, (I16 a, I16 b, I16 c)) { return {smaller(smaller(a, b), c)}; }
LANES(v_max3_i16, LowHalf<I16>, (I16 a, I16 b, I16 c)) { return {larger(larger(a, b), c)}; }
LANES(v_med3_i16, LowHalf<I16>, (I16 a, I16 b, I16 c)) { return {median(a, b, c)}; }
LANES(v_min3_u16, LowHalf<U16>, (U16 a, U16 b, U16 c)) { return {smaller(smaller(a, b), c)}; }
LANES(v_max3_u16, LowHalf<U16>, (U16 a, U16 b, U16 c)) { return {larger(larger(a, b), c)}; }
LANES(v_med3_u16, LowHalf<U16>, (U16 a, U16 b, U16 c)) { return {median(a, b, c)}; }

// --- Of GFX12.5 -----------------------------------------------------------------------------------------------------

LANES(v_add_nc_u64, Words, (Words a, Words b)) { return add_words(a, b).value; }
LANES(v_sub_nc_u64, Words, (Words a, Words b)) {
  const U32 lo = a.lo - b.lo;
  return {lo, a.hi - b.hi + bits<U32>(a.lo < b.lo)};  // plus minus one
}
LANES(v_mul_u64, Words, (Words a, Words b)) {
  return {a.lo * b.lo, v_mul_hi_u32(a.lo, b.lo) + a.lo * b.hi + a.hi * b.lo};
}
[[gnu::always_inline]] inline Words chosen(I32 first, Words a, Words b) {
  return {select(first, a.lo, b.lo), select(first, a.hi, b.hi)};
}
LANES(v_min_u64, Words, (Words a, Words b)) { return chosen(less(a, b), a, b); }
LANES(v_max_u64, Words, (Words a, Words b)) { return chosen(less(a, b), b, a); }
LANES(v_min_i64, Words, (Words a, Words b)) { return chosen(less_signed(a, b), a, b); }
LANES(v_max_i64, Words, (Words a, Words b)) { return chosen(less_signed(a, b), b, a); }
LANES(v_mad_u32, U32, (U32 a, U32 b, U32 c)) { return a * b + c; }
LANES(v_mad_nc_u64_u32, Words, (U32 a, U32 b, Words c, Clamp clamp)) { return v_mad_u64_u32(a, b, c, clamp).value; }
LANES(v_mad_nc_i64_i32, Words, (I32 a, I32 b, Words c, Clamp clamp)) { return v_mad_i64_i32(a, b, c, clamp).value; }
// The clamp bit is about the sum.
LANES(v_add_max_i32, I32, (I32 a, I32 b, I32 c, Clamp clamp)) { return larger(v_add_i32(a, b, clamp), c); }
LANES(v_add_max_u32, U32, (U32 a, U32 b, U32 c, Clamp clamp)) { return larger(add(a, b, clamp), c); }
LANES(v_add_min_i32, I32, (I32 a, I32 b, I32 c, Clamp clamp)) { return smaller(v_add_i32(a, b, clamp), c); }
LANES(v_add_min_u32, U32, (U32 a, U32 b, U32 c, Clamp clamp)) { return smaller(add(a, b, clamp), c); }

std::span<const VectorEntry> integer_arithmetic_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_add_u32),        ENTRY(v_sub_u32),        ENTRY(v_subrev_u32),   ENTRY(v_add_i32),
      ENTRY(v_sub_i32),        ENTRY(v_add_u16),        ENTRY(v_sub_u16),      ENTRY(v_subrev_u16),
      ENTRY(v_add_i16),        ENTRY(v_sub_i16),        ENTRY(v_add3_u32),     ENTRY(v_xad_u32),
      ENTRY(v_lshl_add_u32),   ENTRY(v_add_lshl_u32),   ENTRY(v_lshl_add_u64), ENTRY(v_add_co_u32),
      ENTRY(v_sub_co_u32),     ENTRY(v_subrev_co_u32),  ENTRY(v_addc_co_u32),  ENTRY(v_subb_co_u32),
      ENTRY(v_subbrev_co_u32), ENTRY(v_mul_lo_u32),     ENTRY(v_mul_lo_i32),   ENTRY(v_mul_hi_u32),
      ENTRY(v_mul_hi_i32),     ENTRY(v_mul_lo_u16),     ENTRY(v_mul_u32_u24),  ENTRY(v_mul_i32_i24),
      ENTRY(v_mul_hi_u32_u24), ENTRY(v_mul_hi_i32_i24), ENTRY(v_mad_u32_u24),  ENTRY(v_mad_i32_i24),
      ENTRY(v_mad_legacy_u16), ENTRY(v_mad_legacy_i16), ENTRY(v_mad_u16),      ENTRY(v_mad_i16),
      ENTRY(v_mad_u32_u16),    ENTRY(v_mad_i32_i16),    ENTRY(v_mad_u64_u32),  ENTRY(v_mad_i64_i32),
      ENTRY(v_min_i32),        ENTRY(v_max_i32),        ENTRY(v_min_u32),      ENTRY(v_max_u32),
      ENTRY(v_min_i16),        ENTRY(v_max_i16),        ENTRY(v_min_u16),      ENTRY(v_max_u16),
      ENTRY(v_min3_i32),       ENTRY(v_max3_i32),       ENTRY(v_med3_i32),     ENTRY(v_min3_u32),
      ENTRY(v_max3_u32),       ENTRY(v_med3_u32),       ENTRY(v_min3_i16),     ENTRY(v_max3_i16),
      ENTRY(v_med3_i16),       ENTRY(v_min3_u16),       ENTRY(v_max3_u16),     ENTRY(v_med3_u16),
      ENTRY(v_minmax_i32),     ENTRY(v_maxmin_i32),     ENTRY(v_minmax_u32),   ENTRY(v_maxmin_u32),
      ENTRY(v_add_nc_u64),     ENTRY(v_sub_nc_u64),     ENTRY(v_mul_u64),      ENTRY(v_min_u64),
      ENTRY(v_max_u64),        ENTRY(v_min_i64),        ENTRY(v_max_i64),      ENTRY(v_mad_u32),
      ENTRY(v_mad_nc_u64_u32), ENTRY(v_mad_nc_i64_i32), ENTRY(v_add_max_i32),  ENTRY(v_add_max_u32),
      ENTRY(v_add_min_i32),    ENTRY(v_add_min_u32),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: minimum, maximum and median of floating-point lanes, after the pseudo-code of the vendor's ISA guides. -0
// is less than +0 in all of them.
//
// V_MIN, V_MAX and V_MED3 take the number where there are a number and a NaN. With IEEE mode on, a signalling NaN is
// the result all the same, made quiet. GFX11.7 and GFX12, which have no IEEE mode, take the number in any case. Which
// of two NaNs it is differs, too (NanRule). V_MINIMUM and V_MAXIMUM (gfx950, GFX11.7, GFX12) yield a NaN where there is
// one, as IEEE 754-2019's operations of these names do.
#pragma once

#include "semantics/float/float_lanes.h"
#include "semantics/host_isa.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// Result for two NaNs, neither of which is signalling in IEEE mode: ...
enum class NanRule : uint8_t {
  second,  ///< the second ("CDNA3", V_MIN_F32; RDNA1's and RDNA2's guides have it so, too)
  first,   ///< the first ("RDNA3", V_MIN_F32)
  quiet    ///< the first made quiet; signalling NaNs are like others, whatever the mode ("RDNA4", V_MIN_NUM_F32)
};

namespace detail {

/// The lesser and the greater of two numbers, where neither is a NaN. Zeros of different sign are the only equal
/// numbers with different bits.
template <typename T>
[[gnu::always_inline]] inline T lesser(T a, T b) {
  const T equal = bits<T>(bits<BitsOf<T>>(a) | bits<BitsOf<T>>(b));  // -0 where either is
  return select(a < b, a, select(a == b, equal, b));
}
template <typename T>
[[gnu::always_inline]] inline T greater(T a, T b) {
  const T equal = bits<T>(bits<BitsOf<T>>(a) & bits<BitsOf<T>>(b));  // +0 where either is
  return select(a > b, a, select(a == b, equal, b));
}
template <typename T>
[[gnu::always_inline]] inline auto are_equal(T a, T b) {
  return a == b;
}

// Halves are compared as integers that are ordered as they are, -0 below +0.
[[gnu::always_inline]] inline I16 order(F16 a) {
  const I16 word = bits<I16>(a);
  return word ^ (word >> 15 & 0x7FFF);
}
template <>
[[gnu::always_inline]] inline F16 lesser(F16 a, F16 b) {
  return select(order(a) < order(b), a, b);
}
template <>
[[gnu::always_inline]] inline F16 greater(F16 a, F16 b) {
  return select(order(a) > order(b), a, b);
}
template <>
[[gnu::always_inline]] inline auto are_equal(F16 a, F16 b) {
  return (bits<I16>(a) == bits<I16>(b)) | (((bits<I16>(a) | bits<I16>(b)) & 0x7FFF) == 0);
}

/// The result where an operand is a NaN, else `number`.
template <NanRule rule, bool ieee, typename T>
[[gnu::always_inline]] inline T choose_number(T number, T a, T b) {
  T chosen = a;
  if constexpr (rule == NanRule::second) chosen = select(is_nan(a), b, a);
  if constexpr (rule == NanRule::first) chosen = select(is_nan(b), a, b);
  if constexpr (rule == NanRule::quiet) chosen = select(is_nan(a), select(is_nan(b), quiet(a), b), a);
  if constexpr (ieee && rule != NanRule::quiet) {
    chosen = select(is_signalling(b), quiet(b), chosen);
    chosen = select(is_signalling(a), quiet(a), chosen);
  }
  return select(is_nan(a) | is_nan(b), chosen, number);
}
template <NanRule rule, bool ieee, typename T>
[[gnu::always_inline]] inline T with_number(T number, T a, T b) {
  return unless<[](T usual, T x, T y) { return choose_number<rule, ieee>(usual, x, y); }>(is_nan(a) | is_nan(b), number,
                                                                                          a, b);
}

/// The middle one of three. With a NaN among them: the minimum.
template <NanRule rule, bool ieee, typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c) {
  const T largest = greater(greater(a, b), c);
  const T middle =
      select(are_equal(largest, a), greater(b, c), select(are_equal(largest, b), greater(a, c), greater(a, b)));
  const auto careful = [](T usual, T x, T y, T z) {
    const T least = choose_number<rule, ieee>(lesser(x, y), x, y);
    return select(is_nan(x) | is_nan(y) | is_nan(z), choose_number<rule, ieee>(lesser(least, z), least, z), usual);
  };
  return unless<careful>(is_nan(a) | is_nan(b) | is_nan(c), middle, a, b, c);
}

/// `number`, or the NaN of two operands: a signalling one before a quiet one, the first before the second.
template <typename T>
[[gnu::always_inline]] inline T with_any_nan(T number, T a, T b) {
  const auto careful = [](T usual, T x, T y) {
    const auto is_first = is_signalling(x) | (is_nan(x) & ~is_signalling(y));
    return select(is_nan(x) | is_nan(y), quiet(select(is_first, x, y)), usual);
  };
  return unless<careful>(is_nan(a) | is_nan(b), number, a, b);
}

}  // namespace detail

template <NanRule rule, typename T>
[[gnu::always_inline]] inline T min_number(T a, T b, bool ieee) {
  const T number = detail::lesser(a, b);
  return ieee ? detail::with_number<rule, true>(number, a, b) : detail::with_number<rule, false>(number, a, b);
}
template <NanRule rule, typename T>
[[gnu::always_inline]] inline T max_number(T a, T b, bool ieee) {
  const T number = detail::greater(a, b);
  return ieee ? detail::with_number<rule, true>(number, a, b) : detail::with_number<rule, false>(number, a, b);
}
template <NanRule rule, typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c, bool ieee) {
  return ieee ? detail::median<rule, true>(a, b, c) : detail::median<rule, false>(a, b, c);
}

// IEEE 754-2019's.
template <typename T>
[[gnu::always_inline]] inline T minimum(T a, T b) {
  return detail::with_any_nan(detail::lesser(a, b), a, b);
}
template <typename T>
[[gnu::always_inline]] inline T maximum(T a, T b) {
  return detail::with_any_nan(detail::greater(a, b), a, b);
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: minimum, maximum and median of floating-point lanes, after the pseudo-code of V_MIN_F32, V_MAX_F32 and
// V_MED3_F32 in the CDNA ISA guides.
//
// A quiet NaN loses against a number. A signalling NaN is the result, made quiet, when the wave's IEEE mode is on, and
// loses like a quiet one when it is off. -0 is less than +0.
#pragma once

#include "semantics/float_lanes.h"
#include "semantics/level.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

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
template <bool ieee, typename T>
[[gnu::always_inline]] inline T choose_number(T number, T a, T b) {
  T chosen = select(is_nan(a), b, a);
  if constexpr (ieee) {
    chosen = select(is_signalling(b), quiet(b), chosen);
    chosen = select(is_signalling(a), quiet(a), chosen);
  }
  return select(is_nan(a) | is_nan(b), chosen, number);
}
template <bool ieee, typename T>
[[gnu::always_inline]] inline T with_number(T number, T a, T b) {
  return unless<[](T usual, T x, T y) { return choose_number<ieee>(usual, x, y); }>(is_nan(a) | is_nan(b), number, a,
                                                                                    b);
}

/// The middle one of three. With a NaN among them: the minimum.
template <bool ieee, typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c) {
  const T largest = greater(greater(a, b), c);
  const T middle =
      select(are_equal(largest, a), greater(b, c), select(are_equal(largest, b), greater(a, c), greater(a, b)));
  const auto careful = [](T usual, T x, T y, T z) {
    const T least = choose_number<ieee>(lesser(x, y), x, y);
    return select(is_nan(x) | is_nan(y) | is_nan(z), choose_number<ieee>(lesser(least, z), least, z), usual);
  };
  return unless<careful>(is_nan(a) | is_nan(b) | is_nan(c), middle, a, b, c);
}

}  // namespace detail

template <typename T>
[[gnu::always_inline]] inline T minimum(T a, T b, bool ieee) {
  const T number = detail::lesser(a, b);
  return ieee ? detail::with_number<true>(number, a, b) : detail::with_number<false>(number, a, b);
}
template <typename T>
[[gnu::always_inline]] inline T maximum(T a, T b, bool ieee) {
  const T number = detail::greater(a, b);
  return ieee ? detail::with_number<true>(number, a, b) : detail::with_number<false>(number, a, b);
}
template <typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c, bool ieee) {
  return ieee ? detail::median<true>(a, b, c) : detail::median<false>(a, b, c);
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

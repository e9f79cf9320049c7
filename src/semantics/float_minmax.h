// semantics: minimum, maximum and median of floating-point lanes, after the pseudo-code of V_MIN_F32, V_MAX_F32 and
// V_MED3_F32 in the CDNA ISA guides.
//
// A quiet NaN loses against a number. A signalling NaN is the result, made quiet, when the wave's IEEE mode is on, and
// loses like a quiet one when it is off. -0 is less than +0.
#pragma once

#include "semantics/float_lanes.h"

namespace Atoll::semantics {

namespace detail {

/// The result where an operand is a NaN, else `number`.
template <typename T>
[[gnu::always_inline]] inline T choose_number(T number, T a, T b, bool ieee) {
  const auto nan = is_nan(a) | is_nan(b);
  if (any(nan)) [[unlikely]] {
    T chosen = select(is_nan(a), b, a);
    if (ieee) {
      chosen = select(is_signalling(b), quiet(b), chosen);
      chosen = select(is_signalling(a), quiet(a), chosen);
    }
    number = select(nan, chosen, number);
  }
  return number;
}

}  // namespace detail

/// The bits of both where they compare equal: zeros of different sign are the only equal values with different bits.
template <typename T>
[[gnu::always_inline]] inline T minimum(T a, T b, bool ieee) {
  const T equal = bits<T>(bits<BitsOf<T>>(a) | bits<BitsOf<T>>(b));  // -0 where either is
  return detail::choose_number(select(a < b, a, select(a == b, equal, b)), a, b, ieee);
}
template <typename T>
[[gnu::always_inline]] inline T maximum(T a, T b, bool ieee) {
  const T equal = bits<T>(bits<BitsOf<T>>(a) & bits<BitsOf<T>>(b));  // +0 where either is
  return detail::choose_number(select(a > b, a, select(a == b, equal, b)), a, b, ieee);
}

/// The middle one of three. With a NaN among them: the minimum.
template <typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c, bool ieee) {
  const T largest = maximum(maximum(a, b, ieee), c, ieee);
  const T middle =
      select(largest == a, maximum(b, c, ieee), select(largest == b, maximum(a, c, ieee), maximum(a, b, ieee)));
  const auto nan = is_nan(a) | is_nan(b) | is_nan(c);
  return select(nan, minimum(minimum(a, b, ieee), c, ieee), middle);
}

}  // namespace Atoll::semantics

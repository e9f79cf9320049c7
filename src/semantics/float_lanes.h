// semantics: floating-point arithmetic on lanes, with the GPU's NaNs.
//
// Between finite numbers and infinities the GPU and the host agree, bit for bit: both are IEEE 754. What NaN comes
// out where is left open by the standard, and there they differ: an invalid operation yields a negative NaN on x86
// and a positive one here, and a compiler may swap the operands of an addition, and with them the NaN that survives.
// So every operation looks whether a NaN came out, which is rare, and then decides by itself which one it is: the
// first operand that is a NaN, made quiet, or else the default NaN.
//
// Half precision has no vector arithmetic on most hosts. It is done in single precision and rounded once more,
// which is exact for + - * (24 bits are more than twice 11 and two), and for fma with round_to_odd().
#pragma once

#include <limits>

#include "semantics/lanes.h"

namespace Atoll::semantics {

/// The layout of a format, as unsigned lanes of the same width.
template <typename T>
struct Format;
template <>
struct Format<F16> {
  using Bits = U16;
  using Word = uint16_t;
  static constexpr unsigned fraction_bits = 10;
  static constexpr int bias = 15;
  static constexpr Word sign = 0x8000, exponent = 0x7C00, fraction = 0x03FF, quiet = 0x0200, default_nan = 0x7E00;
};
template <>
struct Format<F32> {
  using Bits = U32;
  using Word = uint32_t;
  static constexpr unsigned fraction_bits = 23;
  static constexpr int bias = 127;
  static constexpr Word sign = 0x80000000, exponent = 0x7F800000, fraction = 0x007FFFFF, quiet = 0x00400000,
                        default_nan = 0x7FC00000;
};
template <>
struct Format<F64> {
  using Bits = U64;
  using Word = uint64_t;
  static constexpr unsigned fraction_bits = 52;
  static constexpr int bias = 1023;
  static constexpr Word sign = 0x8000000000000000, exponent = 0x7FF0000000000000, fraction = 0x000FFFFFFFFFFFFF,
                        quiet = 0x0008000000000000, default_nan = 0x7FF8000000000000;
};

template <typename T>
using BitsOf = typename Format<T>::Bits;

/// Half to single precision: exact; signalling NaNs become quiet.
///
/// The empty assembly keeps the compiler from seeing that these singles were halves. It would do what follows in half
/// precision then (a comparison, floor, a conversion to integers), one lane after the other.
[[gnu::always_inline]] inline F32 widen(F16 a) {
  using Part = float __attribute__((ext_vector_type(8)));
  const F32 wide = convert<F32>(a);
  Part low = wide.lo, high = wide.hi;
  asm("" : "+x"(low), "+x"(high));
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/// Single to half precision, in the host's rounding mode.
[[gnu::always_inline]] inline F16 narrow(F32 a) { return convert<F16>(a); }

/// Whether any lane of a comparison result is true.
template <typename Comparison>
[[gnu::always_inline]] inline bool any(Comparison lanes) {
  return __builtin_reduce_or(lanes) != 0;
}

template <typename T>
[[gnu::always_inline]] inline auto is_nan(T a) {
  if constexpr (sizeof(T) == sizeof(F16)) {
    using Signed = I16;
    const BitsOf<T> magnitude = bits<BitsOf<T>>(a) & static_cast<uint16_t>(~Format<T>::sign);
    return bits<Signed>(magnitude > BitsOf<T>(Format<T>::exponent));
  } else {
    return a != a;
  }
}
template <typename T>
[[gnu::always_inline]] inline auto is_signalling(T a) {
  return is_nan(a) & ((bits<BitsOf<T>>(a) & BitsOf<T>(Format<T>::quiet)) == 0);
}
template <typename T>
[[gnu::always_inline]] inline T quiet(T nan) {
  return bits<T>(bits<BitsOf<T>>(nan) | BitsOf<T>(Format<T>::quiet));
}
template <typename T>
[[gnu::always_inline]] inline T negate(T a) {
  return bits<T>(bits<BitsOf<T>>(a) ^ BitsOf<T>(Format<T>::sign));
}
template <typename T>
[[gnu::always_inline]] inline T magnitude(T a) {
  return bits<T>(bits<BitsOf<T>>(a) & ~BitsOf<T>(Format<T>::sign));
}
/// `a`'s magnitude with the sign of `sign`.
template <typename T>
[[gnu::always_inline]] inline T with_sign(T a, T sign) {
  const BitsOf<T> mask = BitsOf<T>(Format<T>::sign);
  return bits<T>((bits<BitsOf<T>>(a) & ~mask) | (bits<BitsOf<T>>(sign) & mask));
}
/// Every lane the constant whose bit pattern this is.
template <typename T>
[[gnu::always_inline]] inline T pattern(typename Format<T>::Word word) {
  return bits<T>(BitsOf<T>(word));
}
template <typename T>
[[gnu::always_inline]] inline T infinity() {
  return pattern<T>(Format<T>::exponent);
}

/// Denormals become zeros of the same sign.
template <typename T>
[[gnu::always_inline]] inline T flush(T a) {
  using F = Format<T>;
  const BitsOf<T> word = bits<BitsOf<T>>(a);
  return bits<T>(select((word & BitsOf<T>(F::exponent)) == 0, word & BitsOf<T>(F::sign), word));
}

/// The result of an operation whose `result` lanes are right unless they are NaN.
template <typename T, typename... Operands>
[[gnu::always_inline]] inline T with_nan(T result, Operands... operands) {
  const auto nan = is_nan(result);
  if (any(nan)) [[unlikely]] {
    T chosen = pattern<T>(Format<T>::default_nan);
    auto decided = nan ^ nan;
    const auto consider = [&](T operand) {
      const auto here = is_nan(operand) & ~decided;
      chosen = select(here, quiet(operand), chosen);
      decided |= here;
    };
    (consider(operands), ...);
    result = select(nan, chosen, result);
  }
  return result;
}

template <typename T>
[[gnu::always_inline]] inline T add(T a, T b) {
  return with_nan(a + b, a, b);
}
template <typename T>
[[gnu::always_inline]] inline T sub(T a, T b) {
  return with_nan(a - b, a, b);
}
template <typename T>
[[gnu::always_inline]] inline T mul(T a, T b) {
  return with_nan(a * b, a, b);
}
/// a * b + c, rounded once.
template <typename T>
[[gnu::always_inline]] inline T fma(T a, T b, T c) {
  return with_nan(__builtin_elementwise_fma(a, b, c), a, b, c);
}

// The same in half precision.

[[gnu::always_inline]] inline F16 add(F16 a, F16 b) { return narrow(add(widen(a), widen(b))); }
[[gnu::always_inline]] inline F16 sub(F16 a, F16 b) { return narrow(sub(widen(a), widen(b))); }
[[gnu::always_inline]] inline F16 mul(F16 a, F16 b) { return narrow(mul(widen(a), widen(b))); }

/// `sum` = a + b, rounded to nearest: moved by one unit so that its last bit is set wherever the sum is inexact. A
/// number so rounded can be rounded again to a format at least two bits narrower as if it had never been rounded.
[[gnu::always_inline]] inline F32 round_to_odd(F32 sum, F32 a, F32 b) {
  const F32 part = sum - a;
  const F32 error = (a - (sum - part)) + (b - part);
  const I32 inexact_even = (error != 0) & ((bits<I32>(sum) & 1) == 0);
  const I32 outward = ((bits<I32>(error) ^ bits<I32>(sum)) >> 31) | 1;  // 1: the error points away from zero
  return bits<F32>(bits<I32>(sum) + (outward & inexact_even));
}
[[gnu::always_inline]] inline F16 fma(F16 a, F16 b, F16 c) {
  const F32 product = widen(a) * widen(b);  // exact: 22 bits
  const F32 addend = widen(c);
  const F32 sum = product + addend;
  // Infinities have no error to speak of, and NaNs are dealt with last.
  const F32 finite = round_to_odd(sum, product, addend);
  return narrow(with_nan(select(magnitude(sum) < infinity<F32>(), finite, sum), widen(a), widen(b), addend));
}

}  // namespace Atoll::semantics

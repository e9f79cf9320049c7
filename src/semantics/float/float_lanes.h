// semantics: floating-point arithmetic on lanes, with the GPU's NaNs.
//
// Between finite numbers and infinities the GPU and the host agree, bit for bit: both are IEEE 754. What NaN comes
// out where is left open by the standard, and there they differ: an invalid operation yields a negative NaN on x86
// and a positive one here, and a compiler may swap the operands of an addition, and with them the NaN that survives.
// So every operation looks whether a NaN came out, which is rare (rare_lanes.h), and then decides by itself which one
// it is: the first operand that is a NaN, made quiet, or else the default NaN.
//
// Half precision has no vector arithmetic on most hosts. It is done in single precision and rounded once more,
// which is exact for + - * (24 bits are more than twice 11 and two), and for fma with half_fma_to_odd().
#pragma once

#include <xmmintrin.h>

#include <limits>

#include "semantics/host_isa.h"
#include "semantics/lanes/lanes.h"
#include "semantics/lanes/rare_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

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

#if ATOLL_LEVEL_HAS(avx512)

/// Half to single precision: exact; signalling NaNs become quiet.
///
/// An intrinsic of the host: the compiler would compute in half precision, lane by lane, if it saw that these singles
/// were halves.
[[gnu::always_inline]] inline F32 widen(F16 a) {
  using Words = short __attribute__((vector_size(sizeof(F16))));
  using Singles = float __attribute__((vector_size(sizeof(F32))));
  constexpr int current_rounding = 4;
  return bits<F32>(__builtin_ia32_vcvtph2ps512_mask(bits<Words>(a), Singles{}, 0xFFFF, current_rounding));
}

#elif ATOLL_LEVEL_HAS(avx2)  // and with it F16C

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
#else

[[gnu::always_inline]] inline F32 widen(F16 a) {
  const U32 word = convert<U32>(bits<U16>(a)), size = word & 0x7FFF;
  const U32 normal = (size << 13) + (112u << 23);  // the exponent's bias is 127 instead of 15
  const U32 nan_or_infinity = size << 13 | 0x7F800000 | select(size > 0x7C00, U32(0x00400000), U32(0));
  const U32 denormal = bits<U32>(convert<F32>(bits<I32>(size)) * 0x1p-24f);
  const U32 number = select(size >= 0x7C00, nan_or_infinity, select(size < 0x0400, denormal, normal));
  return bits<F32>(number | (word & 0x8000) << 16);
}
#endif

#if ATOLL_LEVEL_HAS(avx2)

/// Single to half precision, in the host's rounding mode.
[[gnu::always_inline]] inline F16 narrow(F32 a) { return convert<F16>(a); }

#else

/// In the host's rounding mode because the host rounds: to the places of a half when a number is added whose own last
/// place that is, to the largest number or infinity when a product overflows.
[[gnu::always_inline]] inline F16 narrow(F32 a) {
  const U32 sign = bits<U32>(a) & 0x80000000, size = bits<U32>(a) & 0x7FFFFFFF;
  // Denormals have the last place of the smallest exponent, -14. What is 2^16 or more does not fit.
  const U32 exponent = __builtin_elementwise_min(__builtin_elementwise_max(size >> 23, U32(127 - 14)), U32(127 + 16));
  const F32 coarse = bits<F32>(sign | (exponent + 13) << 23);
  const U32 rounded = bits<U32>((a + coarse) - coarse) & 0x7FFFFFFF;
  const U32 normal = (rounded >> 13) - (112u << 10);
  const U32 denormal = bits<U32>(convert<I32>(bits<F32>(rounded) * 0x1p24f));
  const U32 overflow = bits<U32>(bits<F32>(sign | 0x7F000000) * 2.0f) & 0x7FFFFFFF;
  U32 half = select(rounded < (113u << 23), denormal, normal);
  half = select(rounded >= (143u << 23), select(overflow == 0x7F800000, U32(0x7C00), U32(0x7BFF)), half);
  half = select(size == 0x7F800000, U32(0x7C00), half);
  half = select(size > 0x7F800000, 0x7E00 | (size >> 13 & 0x03FF), half);
  return bits<F16>(convert<U16>(half | sign >> 16));
}

#endif

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

/// To half precision toward zero in any mode: everything that a half cannot hold is cut off first, so that nothing is
/// left to round.
[[gnu::always_inline]] inline F16 narrow_toward_zero(F32 a) {
  constexpr float smallest_normal = 0x1p-14f, largest = 65504;
  const F32 size = magnitude(a);
  const F32 normal = bits<F32>(bits<U32>(a) & ~U32(0x1FFF));
  const F32 denormal = __builtin_elementwise_trunc(a * 0x1p24f) * 0x1p-24f;
  F32 cut = select(size < smallest_normal, denormal, normal);
  cut = select((size > largest) & (size < infinity<F32>()), with_sign(F32(largest), a), cut);
  return narrow(select(is_nan(a), a, cut));
}

/// The nearest bfloat16, the upper half of a single; ties to even. Rounding up carries into the exponent, and past the
/// largest number to infinity.
[[gnu::always_inline]] inline U16 to_brain(F32 a) {
  const U32 word = bits<U32>(a);
  const U32 rounded = word + 0x7FFF + (word >> 16 & 1);
  return convert<U16>(select(a == a, rounded, bits<U32>(quiet(a))) >> 16);
}

[[gnu::always_inline]] inline F32 widen(U16 brain) { return bits<F32>(convert<U32>(brain) << 16); }

/// The noise after this one, for rounding at random: v_prng_b32.
[[gnu::always_inline]] inline U32 next_noise(U32 noise) {
  return noise << 1 ^ select(bits<I32>(noise) < 0, U32(197), U32(0));
}

/// `result`, where it is a NaN the one that comes of the operands.
template <typename T, typename... Operands>
[[gnu::always_inline]] inline T choose_nan(T result, Operands... operands) {
  const auto nan = is_nan(result);
  T chosen = pattern<T>(Format<T>::default_nan);
  auto decided = nan ^ nan;
  const auto consider = [&](T operand) {
    const auto here = is_nan(operand) & ~decided;
    chosen = select(here, quiet(operand), chosen);
    decided |= here;
  };
  (consider(operands), ...);
  return select(nan, chosen, result);
}

/// The result of an operation whose `result` lanes are right unless they are NaN. It is one wherever an operand is.
template <typename T, typename... Operands>
[[gnu::always_inline]] inline T with_nan(T result, Operands... operands) {
  return unless<[](T usual, Operands... all) { return choose_nan(usual, all...); }>(is_nan(result), result,
                                                                                    operands...);
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

/// `sum` = a + b, rounded to nearest: moved by one unit so that its last bit is set wherever the sum is inexact. A
/// number so rounded can be rounded again to a format at least two bits narrower as if it had never been rounded.
/// Infinities and NaNs have no error to speak of: the result is for numbers only.
template <typename T>
[[gnu::always_inline]] inline T round_to_odd(T sum, T a, T b) {
  using Signed = decltype(a < b);
  constexpr int sign_bit = 8 * sizeof(typename Format<T>::Word) - 1;
  const T part = sum - a;
  const T error = (a - (sum - part)) + (b - part);
  const Signed inexact_even = (error != 0) & ((bits<Signed>(sum) & 1) == 0);
  const Signed outward = ((bits<Signed>(error) ^ bits<Signed>(sum)) >> sign_bit) | 1;  // 1: points away from zero
  return bits<T>(bits<Signed>(sum) + (outward & inexact_even));
}

#if ATOLL_LEVEL_HAS(avx2)  // and with it FMA

/// a * b + c, rounded once; any NaN where the result is one.
template <typename T>
[[gnu::always_inline]] inline T fused(T a, T b, T c) {
  return __builtin_elementwise_fma(a, b, c);
}

#else

[[gnu::always_inline]] inline F64 fused(F64 a, F64 b, F64 c) { return __builtin_elementwise_fma(a, b, c); }
[[gnu::always_inline]] inline F32 fused(F32 a, F32 b, F32 c) {
  if ((_mm_getcsr() & _MM_ROUND_MASK) != _MM_ROUND_NEAREST) return __builtin_elementwise_fma(a, b, c);
  const F64 product = convert<F64>(a) * convert<F64>(b);  // exact: 48 bits
  const F64 addend = convert<F64>(c);
  const F64 sum = product + addend;
  return convert<F32>(select(magnitude(sum) < infinity<F64>(), round_to_odd(sum, product, addend), sum));
}

#endif

/// As above, with the GPU's NaNs.
template <typename T>
[[gnu::always_inline]] inline T fma(T a, T b, T c) {
  return with_nan(fused(a, b, c), a, b, c);
}

// The same in half precision.

[[gnu::always_inline]] inline F16 add(F16 a, F16 b) { return narrow(add(widen(a), widen(b))); }
[[gnu::always_inline]] inline F16 sub(F16 a, F16 b) { return narrow(sub(widen(a), widen(b))); }
[[gnu::always_inline]] inline F16 mul(F16 a, F16 b) { return narrow(mul(widen(a), widen(b))); }

/// a * b + c of numbers whose product is exact (22 bits of halves, 16 of bfloat16s), so that rounding it to as many
/// bits as they have rounds once.
[[gnu::always_inline]] inline F32 unchecked_fma_to_odd(F32 a, F32 b, F32 c) {
  const F32 product = a * b;
  const F32 sum = product + c;
  const F32 finite = round_to_odd(sum, product, c);
  return select(magnitude(sum) < infinity<F32>(), finite, sum);
}
[[gnu::always_inline]] inline F32 fma_to_odd(F32 a, F32 b, F32 c) {
  return with_nan(unchecked_fma_to_odd(a, b, c), a, b, c);
}

#if ATOLL_LEVEL_HAS(avx512)

/// a * b + c in a rounding mode of its own: the instruction's, not MXCSR's.
template <int rounding>
[[gnu::always_inline]] inline F32 fused_rounding(F32 a, F32 b, F32 c) {
  using Singles = float __attribute__((vector_size(sizeof(F32))));
  constexpr int no_exceptions = 8;
  return bits<F32>(__builtin_ia32_vfmaddps512_mask(bits<Singles>(a), bits<Singles>(b), bits<Singles>(c), 0xFFFF,
                                                   rounding | no_exceptions));
}
/// a * b + c of halves, rounded to odd; any NaN where the result is one. `round` decides the sign of an exact zero.
///
/// The sums rounded down and up are the same if the sum is exact, and otherwise neighbours, of which one is odd.
[[gnu::always_inline]] inline F32 half_fma_to_odd(F32 a, F32 b, F32 c, Round round) {
  constexpr int down = 1, up = 2;  // the instruction's rounding modes
  const F32 below = fused_rounding<down>(a, b, c), above = fused_rounding<up>(a, b, c);
  const auto is_odd = [](F32 sum) { return (bits<U32>(sum) & 1) != 0; };
  if (round == Round::minus_infinity) return select(is_odd(above), above, below);
  return select(is_odd(below), below, above);
}

#else

[[gnu::always_inline]] inline F32 half_fma_to_odd(F32 a, F32 b, F32 c, Round) { return unchecked_fma_to_odd(a, b, c); }

#endif

/// Rounded once, in the host's rounding mode, which is `round`.
[[gnu::always_inline]] inline F16 fma(F16 a, F16 b, F16 c, Round round) {
  const F32 x = widen(a), y = widen(b), z = widen(c);
  return narrow(with_nan(half_fma_to_odd(x, y, z, round), x, y, z));
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

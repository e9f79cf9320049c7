// semantics: 8-bit floating-point formats, FP8 (4 bits of exponent, 3 of fraction) and BF8 (5 and 2), in the two kinds
// that GPUs have of them.
//
// gfx942's are FNUZ: exponents biased by 8 and 16, no infinities, and a single NaN, 0x80, in the place of -0. Those of
// gfx950 and GFX12 are the Open Compute Project's E4M3 and E5M2 ("OCP 8-bit Floating Point Specification"): biased by 7
// and 15, with a -0; E4M3's largest code is its NaN, E5M2 has infinities and NaNs as IEEE's formats do. A number too
// large to round to the largest becomes infinity where there is one, NaN where not; who wants saturation clamps first.
#include "semantics/entries.h"
#include "semantics/float_lanes.h"

namespace Atoll::semantics {

/// `largest` is the greatest code of a number; `overflow`, `nan`: the codes of those, without the sign.
struct FnuzFp8 {
  static constexpr int fraction_bits = 3, bias = 8;
  static constexpr uint32_t largest = 0x7F;
};
struct FnuzBf8 {
  static constexpr int fraction_bits = 2, bias = 16;
  static constexpr uint32_t largest = 0x7F;
};
struct OcpFp8 {
  static constexpr int fraction_bits = 3, bias = 7;
  static constexpr uint32_t largest = 0x7E, overflow = 0x7F, nan = 0x7F;
};
struct OcpBf8 {
  static constexpr int fraction_bits = 2, bias = 15;
  static constexpr uint32_t largest = 0x7B, overflow = 0x7C, nan = 0x7E;
};
template <typename Kind>
constexpr bool is_fnuz = Kind::largest == 0x7F;

/// The number in the low byte of each lane; always exact.
template <typename Kind>
[[gnu::always_inline]] inline F32 decode(U32 code) {
  constexpr int fraction_bits = Kind::fraction_bits;
  const I32 size = bits<I32>(code & 0x7F);
  const I32 exponent = size >> fraction_bits;
  const I32 fraction = size & ((1 << fraction_bits) - 1);
  // Denormals have the smallest exponent and no leading one.
  const I32 significand = select(exponent == 0, fraction, fraction + (1 << fraction_bits));
  const I32 power = select(exponent == 0, I32(1), exponent) - Kind::bias - fraction_bits;
  F32 number = convert<F32>(significand) * bits<F32>((power + 127) << 23);
  if constexpr (is_fnuz<Kind>) {
    const F32 result = select((code & 0x80) != 0, negate(number), number);
    return select((code & 0xFF) == 0x80, pattern<F32>(0x7FC00000), result);
  } else {
    number = select(bits<U32>(size) > U32(Kind::largest), pattern<F32>(0x7FC00000), number);
    if constexpr (Kind::overflow != Kind::nan) {
      number = select(bits<U32>(size) == U32(Kind::overflow), infinity<F32>(), number);
    }
    return select((code & 0x80) != 0, negate(number), number);
  }
}

/// The nearest code, ties to even; toward zero if `truncate`.
template <typename Kind>
[[gnu::always_inline]] inline U32 encode(F32 a, bool truncate = false) {
  constexpr int fraction_bits = Kind::fraction_bits, smallest = 1 - Kind::bias;
  const F32 size = magnitude(a);
  const I32 exponent = __builtin_elementwise_max((bits<I32>(size) >> 23) - 127, I32(smallest));
  // In steps of the format's last place at this exponent.
  const F32 steps = size * bits<F32>((fraction_bits - exponent + 127) << 23);
  const F32 whole = truncate ? __builtin_elementwise_trunc(steps) : __builtin_elementwise_roundeven(steps);
  const auto sane = (exponent < 100) & (whole < 256);
  const U32 code = bits<U32>(((exponent - smallest) << fraction_bits) + convert<I32>(select(sane, whole, F32(0))));
  const auto fits = sane & (code <= U32(Kind::largest));
  const U32 sign = bits<U32>(a) >> 24 & 0x80;
  if constexpr (is_fnuz<Kind>) {
    return select(fits, select(code == 0, U32(0), code | sign), U32(0x80));
  } else {
    return sign | select(fits, code, select(a == a, U32(Kind::overflow), U32(Kind::nan)));
  }
}

// In the formats that the GPU has.
[[gnu::always_inline]] inline F32 from_fp8(U32 code, FloatMode mode) {
  return mode.eight_bit == EightBit::ocp ? decode<OcpFp8>(code) : decode<FnuzFp8>(code);
}
[[gnu::always_inline]] inline F32 from_bf8(U32 code, FloatMode mode) {
  return mode.eight_bit == EightBit::ocp ? decode<OcpBf8>(code) : decode<FnuzBf8>(code);
}
[[gnu::always_inline]] inline U32 to_fp8(F32 a, FloatMode mode, bool truncate = false) {
  return mode.eight_bit == EightBit::ocp ? encode<OcpFp8>(a, truncate) : encode<FnuzFp8>(a, truncate);
}
[[gnu::always_inline]] inline U32 to_bf8(F32 a, FloatMode mode, bool truncate = false) {
  return mode.eight_bit == EightBit::ocp ? encode<OcpBf8>(a, truncate) : encode<FnuzBf8>(a, truncate);
}

/// `a` with random bits added to its fraction, to be cut off after: it becomes the next larger code with a probability
/// that is its distance from the smaller one. As the vendor's software model has it, a sum that leaves the fraction
/// carries into the exponent (the pseudo-code would wrap around, to a smaller number).
[[gnu::always_inline]] inline F32 with_noise(F32 a, U32 noise) {
  return select(magnitude(a) < infinity<F32>(), bits<F32>(bits<U32>(a) + noise), a);
}

using F32x2 = Pair<F32>;
LANES(v_cvt_f32_fp8, F32, (U32 code, FloatMode mode)) { return from_fp8(code, mode); }
LANES(v_cvt_f32_bf8, F32, (U32 code, FloatMode mode)) { return from_bf8(code, mode); }
LANES(v_cvt_pk_f32_fp8, F32x2, (U32 codes, FloatMode mode)) {
  return {from_fp8(codes, mode), from_fp8(codes >> 8, mode)};
}
LANES(v_cvt_pk_f32_bf8, F32x2, (U32 codes, FloatMode mode)) {
  return {from_bf8(codes, mode), from_bf8(codes >> 8, mode)};
}

// Two codes to the low half; op_sel moves them to the upper one.
LANES(v_cvt_pk_fp8_f32, U32, (F32 a, F32 b, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFF0000u) | to_fp8(a, mode) | to_fp8(b, mode) << 8;
}
LANES(v_cvt_pk_bf8_f32, U32, (F32 a, F32 b, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFF0000u) | to_bf8(a, mode) | to_bf8(b, mode) << 8;
}
// One code to the low byte; op_sel chooses another.
LANES(v_cvt_sr_fp8_f32, U32, (F32 a, U32 noise, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFFFF00u) | to_fp8(with_noise(a, noise >> 12), mode, true);
}
LANES(v_cvt_sr_bf8_f32, U32, (F32 a, U32 noise, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFFFF00u) | to_bf8(with_noise(a, noise >> 11), mode, true);
}

std::span<const VectorEntry> float_eight_entries() {
  static constexpr VectorEntry entries[] = {
      MODELESS_ENTRY(v_cvt_f32_fp8),    MODELESS_ENTRY(v_cvt_f32_bf8),    MODELESS_ENTRY(v_cvt_pk_f32_fp8),
      MODELESS_ENTRY(v_cvt_pk_f32_bf8), MODELESS_ENTRY(v_cvt_pk_fp8_f32), MODELESS_ENTRY(v_cvt_pk_bf8_f32),
      MODELESS_ENTRY(v_cvt_sr_fp8_f32), MODELESS_ENTRY(v_cvt_sr_bf8_f32),
  };
  return entries;
}

}  // namespace Atoll::semantics

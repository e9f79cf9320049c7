// semantics: the 8-bit formats of gfx942: FP8 (4 bits of exponent, 3 of fraction, bias 8) and BF8 (5 and 2, bias 16).
//
// Both are of the FNUZ kind: finite, with a single NaN, 0x80, in the place of -0, and no infinities. What is too large
// to round to the largest number becomes NaN; who wants saturation clamps first.
#include "semantics/entries.h"
#include "semantics/float_lanes.h"

namespace Atoll::semantics {

struct Fp8 {
  static constexpr int fraction_bits = 3, smallest_exponent = -7;  ///< of normal numbers
};
struct Bf8 {
  static constexpr int fraction_bits = 2, smallest_exponent = -15;
};

/// The number in the low byte of each lane; always exact.
template <typename Format8>
[[gnu::always_inline]] inline F32 decode(U32 code) {
  constexpr int fraction_bits = Format8::fraction_bits;
  const I32 size = bits<I32>(code & 0x7F);
  const I32 exponent = size >> fraction_bits;
  const I32 fraction = size & ((1 << fraction_bits) - 1);
  // Denormals have the smallest exponent and no leading one.
  const I32 significand = select(exponent == 0, fraction, fraction + (1 << fraction_bits));
  const I32 power = select(exponent == 0, I32(1), exponent) - 1 + Format8::smallest_exponent - fraction_bits;
  const F32 number = convert<F32>(significand) * bits<F32>((power + 127) << 23);
  const F32 result = select((code & 0x80) != 0, negate(number), number);
  return select((code & 0xFF) == 0x80, pattern<F32>(0x7FC00000), result);
}

/// The nearest code, ties to even; toward zero if `truncate`.
template <typename Format8>
[[gnu::always_inline]] inline U32 encode(F32 a, bool truncate = false) {
  constexpr int fraction_bits = Format8::fraction_bits, smallest = Format8::smallest_exponent;
  const F32 size = magnitude(a);
  const I32 exponent = __builtin_elementwise_max((bits<I32>(size) >> 23) - 127, I32(smallest));
  // In steps of the format's last place at this exponent.
  const F32 steps = size * bits<F32>((fraction_bits - exponent + 127) << 23);
  const F32 whole = truncate ? __builtin_elementwise_trunc(steps) : __builtin_elementwise_roundeven(steps);
  const auto fits = (exponent < 100) & (whole < 256);
  const I32 code = ((exponent - smallest) << fraction_bits) + convert<I32>(select(fits, whole, F32(0)));
  const U32 sign = bits<U32>(a) >> 24 & 0x80;
  const U32 result = select(code == 0, U32(0), bits<U32>(code) | sign);
  return select(fits & (code <= 0x7F) & (a == a), result, U32(0x80));
}

/// `a` with random bits added to its fraction, to be cut off after: it becomes the next larger code with a probability
/// that is its distance from the smaller one. As the vendor's software model has it, a sum that leaves the fraction
/// carries into the exponent (the pseudo-code would wrap around, to a smaller number).
[[gnu::always_inline]] inline F32 with_noise(F32 a, U32 noise) {
  return select(magnitude(a) < infinity<F32>(), bits<F32>(bits<U32>(a) + noise), a);
}

LANES(v_cvt_f32_fp8, F32, (U32 code)) { return decode<Fp8>(code); }
LANES(v_cvt_f32_bf8, F32, (U32 code)) { return decode<Bf8>(code); }
LANES(v_cvt_pk_f32_fp8, Pair<F32>, (U32 codes)) { return {decode<Fp8>(codes), decode<Fp8>(codes >> 8)}; }
LANES(v_cvt_pk_f32_bf8, Pair<F32>, (U32 codes)) { return {decode<Bf8>(codes), decode<Bf8>(codes >> 8)}; }

// Two codes to the low half; op_sel moves them to the upper one.
LANES(v_cvt_pk_fp8_f32, U32, (F32 a, F32 b, Old<U32> d)) {
  return (d.value & 0xFFFF0000u) | encode<Fp8>(a) | encode<Fp8>(b) << 8;
}
LANES(v_cvt_pk_bf8_f32, U32, (F32 a, F32 b, Old<U32> d)) {
  return (d.value & 0xFFFF0000u) | encode<Bf8>(a) | encode<Bf8>(b) << 8;
}
// One code to the low byte; op_sel chooses another.
LANES(v_cvt_sr_fp8_f32, U32, (F32 a, U32 noise, Old<U32> d)) {
  return (d.value & 0xFFFFFF00u) | encode<Fp8>(with_noise(a, noise >> 12), true);
}
LANES(v_cvt_sr_bf8_f32, U32, (F32 a, U32 noise, Old<U32> d)) {
  return (d.value & 0xFFFFFF00u) | encode<Bf8>(with_noise(a, noise >> 11), true);
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

// semantics: reciprocals, roots, logarithms, powers of two, sine and cosine.
//
// The hardware approximates these within about one unit in the last place, each generation a little differently. Here
// they come out nearly always correctly rounded: computed with polynomials of this file's own, most of them in double
// precision and rounded once. Nothing depends on the host's math library, so results are the same everywhere. At the
// special values they are what the ISA guides list: of negative numbers the roots and the logarithm are the negative
// default NaN.
//
// The single precision ones know no denormals, whatever the mode (CLRX, GcnInstrsVop1.md; LLVM scales their operands
// for that reason): denormal operands are zeros, and so are denormal results.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/float_scale.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

template <typename T>
[[gnu::always_inline]] inline T negative_nan() {
  return pattern<T>(Format<T>::sign | Format<T>::default_nan);
}

/// coefficients[0] + coefficients[1] * x + ...
template <size_t count>
[[gnu::always_inline]] inline F64 polynomial(F64 x, const double (&coefficients)[count]) {
  F64 sum = coefficients[count - 1];
  for (size_t i = count - 1; i > 0; --i) sum = fused(sum, x, F64(coefficients[i - 1]));
  return sum;
}

template <typename T>
[[gnu::always_inline]] inline T reciprocal(T a) {
  return with_nan(T(1) / a, a);
}
template <typename T>
[[gnu::always_inline]] inline T square_root(T a) {
  return select(a < 0, negative_nan<T>(), with_nan(__builtin_elementwise_sqrt(a), a));
}
/// 1 / sqrt(a) of a normal number up to 2^120, within 0.6 units in the last place and 99 times of 100 correctly
/// rounded. An estimate y from the number's bits, within 3.5% (Lomont 2003, "Fast inverse square root"), cut to 12 bits
/// so that its square is exact; then y / sqrt(1 - r) for r = 1 - a y^2, by the polynomial that is closest for |r| <
/// 0.0692 (its relative error is below 2^-29). This is quicker than the host's root and division.
[[gnu::always_inline]] inline F32 plain_reciprocal_root(F32 a) {
  const F32 estimate = bits<F32>((0x5F375A86u - (bits<U32>(a) >> 1)) & 0xFFFFF000u);
  const F32 r = fused(-a, estimate * estimate, F32(1));
  F32 sum = F32(0.246988505f);
  for (const float coefficient : {0.274919361f, 0.312499791f, 0.374997854f, 0.5f})
    sum = fused(sum, r, F32(coefficient));
  return fused(estimate * r, sum, estimate);
}
/// As above, for a number that is not very small. The rounding errors of root and division are measured and
/// corrected to first order.
[[gnu::always_inline]] inline F64 plain_reciprocal_root(F64 a) {
  const F64 root = __builtin_elementwise_sqrt(a);
  const F64 inverse = 1.0 / root;
  const F64 root_error = fused(-root, root, a);             // a - root^2
  const F64 inverse_error = fused(-root, inverse, F64(1));  // 1 - root * inverse
  const F64 correction = inverse_error - 0.5 * (root_error * inverse) * inverse;
  return fused(inverse, correction, inverse);
}
/// Returns the reciprocal root of an operand that is not a positive number.
template <typename T>
[[gnu::always_inline]] inline T with_special_roots(T result, T a) {
  result = select((a == 0) | (a == infinity<T>()), T(1) / a, result);
  return select(a < 0, negative_nan<T>(), select(a == a, result, quiet(a)));
}
[[gnu::always_inline]] inline F32 reciprocal_root(F32 a) {
  // One comparison finds all that is no positive normal number, and what is so large that the root's square would be a
  // denormal: that is scaled down.
  static constexpr float large = 0x1p120f;
  constexpr uint32_t smallest = 0x00800000, first_large = __builtin_bit_cast(uint32_t, large);
  const auto special = bits<U32>(a) - smallest >= first_large - smallest;
  const auto careful = [](F32, F32 any_number) {
    const F32 flushed = flush(any_number);
    const auto is_large = flushed >= large;
    const F32 result = plain_reciprocal_root(select(is_large, flushed * 0x1p-32f, flushed));
    return with_special_roots(select(is_large, result * 0x1p-16f, result), flushed);
  };
  return unless<careful>(special, plain_reciprocal_root(a), a);
}
[[gnu::always_inline]] inline F64 reciprocal_root(F64 a) {
  // The rounding error of a very small operand would be a denormal: the operand is scaled up.
  static constexpr double small = 0x1p-900;
  const auto special = ~((a >= small) & (a < infinity<F64>()));
  const auto careful = [](F64, F64 any_number) {
    const auto is_small = any_number < small;
    const F64 result = plain_reciprocal_root(select(is_small, any_number * 0x1p256, any_number));
    return with_special_roots(select(is_small, result * 0x1p128, result), any_number);
  };
  return unless<careful>(special, plain_reciprocal_root(a), a);
}

constexpr double two_by_ln2 = 2.8853900817779268;

/// log2 of a number that is no denormal.
[[gnu::always_inline]] inline F32 log2(F32 a) {
  // a = 2^exponent * mantissa, mantissa between sqrt(1/2) and sqrt(2).
  constexpr int root_half = 0x3F3504F3;
  const I32 word = bits<I32>(a);
  const I32 exponent = (word - root_half) >> 23;
  const F64 mantissa = convert<F64>(bits<F32>(word - (exponent << 23)));
  // ln(m) = 2 atanh(t), t = (m - 1) / (m + 1), |t| < 0.172. The first term left out is below 2^-45.
  static constexpr double series[] = {two_by_ln2,     two_by_ln2 / 3,  two_by_ln2 / 5,  two_by_ln2 / 7,
                                      two_by_ln2 / 9, two_by_ln2 / 11, two_by_ln2 / 13, two_by_ln2 / 15};
  const F64 t = (mantissa - 1) / (mantissa + 1);
  const F64 logarithm = fused(t, polynomial(t * t, series), convert<F64>(exponent));
  F32 result = convert<F32>(logarithm);
  result = select(a == infinity<F32>(), a, result);
  result = select(a == 0, -infinity<F32>(), result);
  result = select(a < 0, negative_nan<F32>(), result);
  return select(a == a, result, quiet(a));
}

/// Powers of ln(2) by factorials: the Taylor series of 2^x. |x| <= 0.5; the first term left out is below 2^-41.
constexpr double exp2_series[] = {1.0,
                                  0.69314718055994531,
                                  0.24022650695910071,
                                  0.055504108664821580,
                                  0.0096181291076284772,
                                  0.0013333558146428443,
                                  0.00015403530393381609,
                                  1.5252733804059840e-05,
                                  1.3215486790144309e-06,
                                  1.0178086009239699e-07,
                                  7.0549116208011233e-09};

/// 2^a.
[[gnu::always_inline]] inline F32 exp2(F32 a) {
  const F32 bounded = select(a < -160, F32(-160), select(a > 160, F32(160), a));
  const F32 number = select(a == a, bounded, F32(0));
  const F32 whole = __builtin_elementwise_roundeven(number);
  const F64 power = polynomial(convert<F64>(number - whole), exp2_series) * power_of_two(convert<I32>(whole));
  return select(a == a, convert<F32>(power), quiet(a));
}

/// sin(2 pi a), or of a quarter turn more: the cosine. Outside of [-256, 256] the angle counts as 0.
[[gnu::always_inline]] inline F32 sine(F32 a, bool cosine) {
  constexpr double pi = 3.14159265358979323846;
  const F32 angle = select(magnitude(a) <= 256, a, F32(0));
  const F32 turn = angle - __builtin_elementwise_roundeven(angle);  // exact
  const F32 quarters = __builtin_elementwise_roundeven(turn * 4);
  const F64 x = convert<F64>(turn - quarters * 0.25f) * (2 * pi);  // at most pi / 4
  static constexpr double sine_series[] = {1.0,          -1.0 / 6,        1.0 / 120,         -1.0 / 5040,
                                           1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0};
  static constexpr double cosine_series[] = {1.0,         -1.0 / 2,       1.0 / 24,          -1.0 / 720,
                                             1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0, -1.0 / 87178291200.0};
  const F32 sine_part = convert<F32>(x * polynomial(x * x, sine_series));
  const F32 cosine_part = convert<F32>(polynomial(x * x, cosine_series));
  const I32 quadrant = convert<I32>(quarters) + (cosine ? 1 : 0);
  F32 result = select((quadrant & 1) != 0, cosine_part, sine_part);
  result = select((quadrant & 2) != 0, -result, result);
  // A zero has the sign of the angle (sine) or none (cosine).
  result = select(result == 0, cosine ? F32(0) : with_sign(F32(0), a), result);
  result = select(magnitude(a) == infinity<F32>(), negative_nan<F32>(), result);
  return select(a == a, result, quiet(a));
}

LANES(v_rcp_f32, F32, (F32 a)) { return with_nan(flush(F32(1) / flush(a)), a); }
LANES(v_rcp_iflag_f32, F32, (F32 a)) { return v_rcp_f32(a); }
LANES(v_rsq_f32, F32, (F32 a)) { return reciprocal_root(a); }
LANES(v_sqrt_f32, F32, (F32 a)) { return square_root(flush(a)); }
LANES(v_log_f32, F32, (F32 a)) { return log2(flush(a)); }
LANES(v_log_legacy_f32, F32, (F32 a)) { return v_log_f32(a); }
LANES(v_exp_f32, F32, (F32 a)) { return flush(exp2(a)); }
LANES(v_exp_legacy_f32, F32, (F32 a)) { return v_exp_f32(a); }
LANES(v_sin_f32, F32, (F32 a)) { return flush(sine(flush(a), false)); }
LANES(v_cos_f32, F32, (F32 a)) { return sine(flush(a), true); }

LANES(v_rcp_f64, F64, (F64 a)) { return reciprocal(a); }
LANES(v_rsq_f64, F64, (F64 a)) { return reciprocal_root(a); }
LANES(v_sqrt_f64, F64, (F64 a)) { return square_root(a); }

// For GFX6 and GFX7. "clamp" makes infinities the largest number, of the logarithm the negative one only.
// "legacy", which is DirectX 9's, makes them zeros. The sign stays. (Southern Islands ISA guide, "VOP1
// Instructions".)
template <typename T>
[[gnu::always_inline]] inline T clamped_infinity(T a) {
  const T largest = pattern<T>(Format<T>::exponent - 1);
  return select(magnitude(a) == infinity<T>(), with_sign(largest, a), a);
}
[[gnu::always_inline]] inline F32 zero_for_infinity(F32 a) {
  return select(magnitude(a) == infinity<F32>(), with_sign(F32(0), a), a);
}
LANES(v_rcp_clamp_f32, F32, (F32 a)) { return clamped_infinity(v_rcp_f32(a)); }
LANES(v_rcp_legacy_f32, F32, (F32 a)) { return zero_for_infinity(v_rcp_f32(a)); }
LANES(v_rsq_clamp_f32, F32, (F32 a)) { return clamped_infinity(v_rsq_f32(a)); }
LANES(v_rsq_legacy_f32, F32, (F32 a)) { return zero_for_infinity(v_rsq_f32(a)); }
LANES(v_log_clamp_f32, F32, (F32 a)) {
  const F32 result = v_log_f32(a);
  return select(result == -infinity<F32>(), clamped_infinity(result), result);
}
LANES(v_rcp_clamp_f64, F64, (F64 a)) { return clamped_infinity(v_rcp_f64(a)); }
LANES(v_rsq_clamp_f64, F64, (F64 a)) { return clamped_infinity(v_rsq_f64(a)); }

// Every denormal half is a normal single: nothing to flush.
LANES(v_rcp_f16, F16, (F16 a)) { return narrow(reciprocal(widen(a))); }
LANES(v_sqrt_f16, F16, (F16 a)) { return narrow(square_root(widen(a))); }
LANES(v_rsq_f16, F16, (F16 a)) { return narrow(reciprocal_root(widen(a))); }
LANES(v_log_f16, F16, (F16 a)) { return narrow(log2(widen(a))); }
LANES(v_exp_f16, F16, (F16 a)) { return narrow(exp2(widen(a))); }
LANES(v_sin_f16, F16, (F16 a)) { return narrow(sine(widen(a), false)); }
LANES(v_cos_f16, F16, (F16 a)) { return narrow(sine(widen(a), true)); }

/// The hyperbolic tangent.
[[gnu::always_inline]] inline F32 tangent(F32 a) {
  // (e^2x - 1) / (e^2x + 1), with e^2x = 2^n * 2^f; of small numbers a - a^3/3 + ..., whose first term left out is
  // below 2^-40 of the sum.
  static constexpr double series[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835, -1382.0 / 155925};
  const F32 size = magnitude(a);
  const F64 x = convert<F64>(select(size < 16, size, F32(16)));  // of a NaN, 16
  const F64 small = x * polynomial(x * x, series);
  const F64 number = x * two_by_ln2;
  const F64 whole = __builtin_elementwise_roundeven(number);
  const F64 power = polynomial(number - whole, exp2_series) * power_of_two(convert<I32>(whole));
  const F64 large = (power - 1) / (power + 1);
  const F32 result = with_sign(convert<F32>(select(x < 0.0625, small, large)), a);
  return select(a == a, result, quiet(a));
}
LANES(v_tanh_f32, F32, (F32 a)) { return tangent(flush(a)); }
LANES(v_tanh_f16, F16, (F16 a)) { return narrow(tangent(widen(a))); }

// bfloat16: computed in single precision.
LANES(v_rcp_bf16, U16, (U16 a)) { return to_brain(v_rcp_f32(widen(a))); }
LANES(v_sqrt_bf16, U16, (U16 a)) { return to_brain(v_sqrt_f32(widen(a))); }
LANES(v_rsq_bf16, U16, (U16 a)) { return to_brain(v_rsq_f32(widen(a))); }
LANES(v_log_bf16, U16, (U16 a)) { return to_brain(v_log_f32(widen(a))); }
LANES(v_exp_bf16, U16, (U16 a)) { return to_brain(v_exp_f32(widen(a))); }
LANES(v_sin_bf16, U16, (U16 a)) { return to_brain(v_sin_f32(widen(a))); }
LANES(v_cos_bf16, U16, (U16 a)) { return to_brain(v_cos_f32(widen(a))); }
LANES(v_tanh_bf16, U16, (U16 a)) { return to_brain(v_tanh_f32(widen(a))); }

/// The first 1201 bits of 2 / pi after the binary point, the highest first, and 15 zeros.
constexpr uint64_t two_by_pi[] = {
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B0000,
};

// A segment of 53 bits of 2 / pi for the reduction of large angles: number `segment` of them, counted from where the
// product with `a` would begin to matter. From 2^945 on the caller scales its angle by 2^-128, so the segment grows by
// as much.
LANES(v_trig_preop_f64, F64, (F64 a, U32 segment)) {
  const I32 exponent = convert<I32>(bits<I64>(bits<U64>(a) >> 52 & 0x7FF));
  const I32 shift = bits<I32>(segment & 31) * 53 + __builtin_elementwise_max(exponent - 1077, I32(0));
  U64 part = 0;
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) {
    const auto first = static_cast<unsigned>(shift[lane]);
    const unsigned index = first / 64, offset = first % 64;
    constexpr unsigned words = sizeof two_by_pi / sizeof two_by_pi[0];
    const uint64_t high = index < words ? two_by_pi[index] : 0;
    const uint64_t low = index + 1 < words ? two_by_pi[index + 1] : 0;
    part[lane] = (offset == 0 ? high : high << offset | low >> (64 - offset)) >> 11;
  }
  const F64 number = convert<F64>(bits<I64>(part));
  return scale_by_power(number, select(exponent >= 1968, I32(128 - 53), I32(-53)) - shift);
}

/// These take no notice of rounding and denormals, but without MODE.IEEE they pass a signaling NaN on.
template <F32 (*function)(F32)>
[[gnu::always_inline]] inline F32 passing_signals(F32 a, FloatMode mode) {
  const F32 result = function(a);
  return quiets(mode) ? result : select(is_signalling(a), a, result);
}
#define QUIETING_ENTRY(name) vector_entry<&passing_signals<&name>, Mode::ignored>(isa::Opcode::name)

std::span<const VectorEntry> float_transcendental_entries() {
  static constexpr VectorEntry entries[] = {
      QUIETING_ENTRY(v_rcp_f32),
      QUIETING_ENTRY(v_rcp_iflag_f32),
      QUIETING_ENTRY(v_rsq_f32),
      QUIETING_ENTRY(v_sqrt_f32),
      QUIETING_ENTRY(v_log_f32),
      QUIETING_ENTRY(v_log_legacy_f32),
      QUIETING_ENTRY(v_exp_f32),
      QUIETING_ENTRY(v_exp_legacy_f32),
      QUIETING_ENTRY(v_sin_f32),
      QUIETING_ENTRY(v_cos_f32),
      QUIETING_ENTRY(v_rcp_clamp_f32),
      QUIETING_ENTRY(v_rcp_legacy_f32),
      QUIETING_ENTRY(v_rsq_clamp_f32),
      QUIETING_ENTRY(v_rsq_legacy_f32),
      QUIETING_ENTRY(v_log_clamp_f32),
      ENTRY(v_rcp_clamp_f64),
      ENTRY(v_rsq_clamp_f64),
      ENTRY(v_rcp_f64),
      ENTRY(v_rsq_f64),
      ENTRY(v_sqrt_f64),
      ENTRY(v_rcp_f16),
      ENTRY(v_sqrt_f16),
      ENTRY(v_rsq_f16),
      ENTRY(v_log_f16),
      ENTRY(v_exp_f16),
      ENTRY(v_sin_f16),
      ENTRY(v_cos_f16),
      MODELESS_ENTRY(v_trig_preop_f64),
      MODELESS_ENTRY(v_tanh_f32),
      ENTRY(v_tanh_f16),
      MODELESS_ENTRY(v_rcp_bf16),
      MODELESS_ENTRY(v_sqrt_bf16),
      MODELESS_ENTRY(v_rsq_bf16),
      MODELESS_ENTRY(v_log_bf16),
      MODELESS_ENTRY(v_exp_bf16),
      MODELESS_ENTRY(v_sin_bf16),
      MODELESS_ENTRY(v_cos_bf16),
      MODELESS_ENTRY(v_tanh_bf16),
  };
#undef QUIETING_ENTRY
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: what gfx950 adds, conversions to bfloat16 and half precision with rounding of their own, and GFX12.5's
// arithmetic of bfloat16.
//
// A bfloat16 is the upper half of a single. These conversions round to nearest even, or stochastically, whatever the
// mode says about rounding; about denormals it is heeded.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/float_minmax.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

using F16x2 = Pair<F16>;
using U16x2 = Pair<U16>;

[[gnu::always_inline]] inline bool keeps(Denormals denormals, Denormals which) {
  return (static_cast<uint8_t>(denormals) & static_cast<uint8_t>(which)) != 0;
}
[[gnu::always_inline]] inline F32 source(F32 a, FloatMode mode) {
  return keeps(mode.denormals32, Denormals::allow_in) ? a : flush(a);
}
[[gnu::always_inline]] inline F16 result(F16 a, FloatMode mode) {
  return keeps(mode.denormals16_64, Denormals::allow_out) ? a : flush(a);
}

/// `a` with random bits below the last bit that will stay: cut off there, it goes up as often as it is near.
[[gnu::always_inline]] inline F32 noisy(F32 a, U32 noise) {
  const F32 sum = bits<F32>(bits<U32>(a) + noise);
  return select(magnitude(a) < infinity<F32>(), sum, select(a == a, a, quiet(a)));
}
/// To half precision toward zero of a number in the range of halves; larger ones go to infinity.
[[gnu::always_inline]] inline F16 cut_to_half(F32 a) {
  const F32 normal = bits<F32>(bits<U32>(a) & ~U32(0x1FFF));
  const F32 denormal = __builtin_elementwise_trunc(a * 0x1p24f) * 0x1p-24f;
  return narrow(select(magnitude(a) < 0x1p-14f, denormal, select(a == a, normal, a)));
}

LANES(v_cvt_f32_bf16, F32, (U16 a)) { return widen(a); }
LANES(v_cvt_pk_bf16_f32, U16x2, (F32 a, F32 b, FloatMode mode)) {
  return {to_brain(source(a, mode)), to_brain(source(b, mode))};
}
LANES(v_cvt_pk_f16_f32, F16x2, (F32 a, F32 b, FloatMode mode)) {
  return {result(narrow(source(a, mode)), mode), result(narrow(source(b, mode)), mode)};
}
// To the low half; op_sel moves the result to the upper one.
LANES(v_cvt_sr_bf16_f32, U32, (F32 a, U32 noise, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFF0000u) | bits<U32>(noisy(source(a, mode), noise >> 16)) >> 16;
}
LANES(v_cvt_sr_f16_f32, U32, (F32 a, U32 noise, Old<U32> d, FloatMode mode)) {
  const F16 half = result(cut_to_half(noisy(source(a, mode), noise >> 19)), mode);
  return (d.value & 0xFFFF0000u) | convert<U32>(bits<U16>(half));
}

// Converts two values: the first goes to the lower half, the second uses the noise that follows.
LANES(v_cvt_sr_pk_bf16_f32, U32, (F32 a, F32 b, U32 noise, FloatMode mode)) {
  const U32 low = bits<U32>(noisy(source(a, mode), noise >> 16));
  const U32 high = bits<U32>(noisy(source(b, mode), next_noise(noise) >> 16));
  return low >> 16 | (high & 0xFFFF0000u);
}
LANES(v_cvt_sr_pk_f16_f32, F16x2, (F32 a, F32 b, U32 noise, FloatMode mode)) {
  return {result(cut_to_half(noisy(source(a, mode), noise >> 19)), mode),
          result(cut_to_half(noisy(source(b, mode), next_noise(noise) >> 19)), mode)};
}

// --- Arithmetic, rounded once to nearest even -----------------------------------------------------------------------
// Single precision holds sums and products of bfloat16s with so many bits to spare that a second rounding does no harm.

[[gnu::always_inline]] inline U16 brain_fma(U16 a, U16 b, U16 c) {
  return to_brain(fma_to_odd(widen(a), widen(b), widen(c)));
}
LANES(v_pk_add_bf16, U16x2, (U16x2 a, U16x2 b)) {
  return {to_brain(add(widen(a.lo), widen(b.lo))), to_brain(add(widen(a.hi), widen(b.hi)))};
}
LANES(v_pk_mul_bf16, U16x2, (U16x2 a, U16x2 b)) {
  return {to_brain(mul(widen(a.lo), widen(b.lo))), to_brain(mul(widen(a.hi), widen(b.hi)))};
}
LANES(v_pk_fma_bf16, U16x2, (U16x2 a, U16x2 b, U16x2 c)) {
  return {brain_fma(a.lo, b.lo, c.lo), brain_fma(a.hi, b.hi, c.hi)};
}
[[gnu::always_inline]] inline U16 brain_min(U16 a, U16 b) {
  return to_brain(min_number<NanRule::quiet>(widen(a), widen(b), false));
}
[[gnu::always_inline]] inline U16 brain_max(U16 a, U16 b) {
  return to_brain(max_number<NanRule::quiet>(widen(a), widen(b), false));
}
LANES(v_pk_min_num_bf16, U16x2, (U16x2 a, U16x2 b)) { return {brain_min(a.lo, b.lo), brain_min(a.hi, b.hi)}; }
LANES(v_pk_max_num_bf16, U16x2, (U16x2 a, U16x2 b)) { return {brain_max(a.lo, b.lo), brain_max(a.hi, b.hi)}; }

// v_fma_mix_*_bf16: each source single precision or bfloat16, as op_sel_hi says.
[[gnu::always_inline]] inline F32 mixed_fma(Mixed a, Mixed b, Mixed c) { return fma(a.value, b.value, c.value); }
[[gnu::always_inline]] inline U32 brain_result(F32 value, Clamp clamp) {
  if (clamp.on) value = select(value > 1, F32(1), select(value > 0, value, F32(0)));
  return convert<U32>(to_brain(value));
}
LANES(v_fma_mix_f32_bf16, F32, (Mixed a, Mixed b, Mixed c)) { return mixed_fma(a, b, c); }
LANES(v_fma_mixlo_bf16, U32, (Mixed a, Mixed b, Mixed c, Old<U32> d, Clamp clamp)) {
  return (d.value & 0xFFFF0000u) | brain_result(mixed_fma(a, b, c), clamp);
}
LANES(v_fma_mixhi_bf16, U32, (Mixed a, Mixed b, Mixed c, Old<U32> d, Clamp clamp)) {
  return (d.value & 0xFFFFu) | brain_result(mixed_fma(a, b, c), clamp) << 16;
}

std::span<const VectorEntry> float_brain_entries() {
  static constexpr VectorEntry entries[] = {
      MODELESS_ENTRY(v_cvt_f32_bf16),      MODELESS_ENTRY(v_cvt_pk_bf16_f32), MODELESS_ENTRY(v_cvt_pk_f16_f32),
      MODELESS_ENTRY(v_cvt_sr_bf16_f32),   MODELESS_ENTRY(v_cvt_sr_f16_f32),  MODELESS_ENTRY(v_cvt_sr_pk_bf16_f32),
      MODELESS_ENTRY(v_cvt_sr_pk_f16_f32), MODELESS_ENTRY(v_pk_add_bf16),     MODELESS_ENTRY(v_pk_mul_bf16),
      MODELESS_ENTRY(v_pk_fma_bf16),       MODELESS_ENTRY(v_pk_min_num_bf16), MODELESS_ENTRY(v_pk_max_num_bf16),
      ENTRY(v_fma_mix_f32_bf16),           ENTRY(v_fma_mixlo_bf16),           ENTRY(v_fma_mixhi_bf16),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

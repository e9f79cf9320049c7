// semantics: what gfx950 adds: conversions to bfloat16 and half precision, with rounding of their own.
//
// A bfloat16 is the upper half of a single. These conversions round to nearest even, or stochastically, whatever the
// mode says about rounding; about denormals it is heeded.
#include "semantics/entries.h"
#include "semantics/float_lanes.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

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

LANES(v_cvt_f32_bf16, F32, (U16 a)) { return bits<F32>(convert<U32>(a) << 16); }
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

std::span<const VectorEntry> float_brain_entries() {
  static constexpr VectorEntry entries[] = {
      MODELESS_ENTRY(v_cvt_f32_bf16),    MODELESS_ENTRY(v_cvt_pk_bf16_f32), MODELESS_ENTRY(v_cvt_pk_f16_f32),
      MODELESS_ENTRY(v_cvt_sr_bf16_f32), MODELESS_ENTRY(v_cvt_sr_f16_f32),
  };
  return entries;
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

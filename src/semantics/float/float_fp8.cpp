// semantics: conversions of 8-bit floating-point numbers (small_floats.h), which know no rounding or denormal mode: to
// the nearest code, or stochastically. Who wants saturation clamps first, or sets MODE.FP16_OVFL.
#include "semantics/entries.h"
#include "semantics/float/small_floats.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

using F32x2 = Pair<F32>;
using F16x2 = Pair<F16>;
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

// GFX12.5: the clamp bit chooses another FP8, which has no sign; and conversions from and to half precision.
[[gnu::always_inline]] inline F32 from_fp8(U32 code, FloatMode mode, Clamp e5m3) {
  return e5m3.on ? decode<E5M3>(code & 0xFF) : from_fp8(code, mode);
}
[[gnu::always_inline]] inline U32 to_fp8(F32 a, FloatMode mode, Clamp e5m3, bool truncate = false) {
  return e5m3.on ? encode<E5M3>(magnitude(a), truncate, mode.clamps_overflow) : to_fp8(a, mode, truncate);
}
LANES(cvt_f32_fp8_or_e5m3, F32, (U32 code, FloatMode mode, Clamp e5m3)) { return from_fp8(code, mode, e5m3); }
LANES(cvt_pk_fp8_or_e5m3_f32, U32, (F32 a, F32 b, Old<U32> d, FloatMode mode, Clamp e5m3)) {
  return (d.value & 0xFFFF0000u) | to_fp8(a, mode, e5m3) | to_fp8(b, mode, e5m3) << 8;
}
LANES(cvt_sr_fp8_or_e5m3_f32, U32, (F32 a, U32 noise, Old<U32> d, FloatMode mode, Clamp e5m3)) {
  return (d.value & 0xFFFFFF00u) | to_fp8(with_noise(a, noise >> 12), mode, e5m3, true);
}
LANES(v_cvt_f16_fp8, F16, (U32 code, FloatMode mode)) { return narrow(from_fp8(code, mode)); }
LANES(v_cvt_f16_bf8, F16, (U32 code, FloatMode mode)) { return narrow(from_bf8(code, mode)); }
LANES(v_cvt_pk_f16_fp8, F16x2, (U16 codes, FloatMode mode)) {
  const U32 both = convert<U32>(codes);
  return {narrow(from_fp8(both, mode)), narrow(from_fp8(both >> 8, mode))};
}
LANES(v_cvt_pk_f16_bf8, F16x2, (U16 codes, FloatMode mode)) {
  const U32 both = convert<U32>(codes);
  return {narrow(from_bf8(both, mode)), narrow(from_bf8(both >> 8, mode))};
}
LANES(v_cvt_pk_fp8_f16, U16, (F16x2 a, FloatMode mode, Clamp e5m3)) {
  return convert<U16>(to_fp8(widen(a.lo), mode, e5m3) | to_fp8(widen(a.hi), mode, e5m3) << 8);
}
LANES(v_cvt_pk_bf8_f16, U16, (F16x2 a, FloatMode mode)) {
  return convert<U16>(to_bf8(widen(a.lo), mode) | to_bf8(widen(a.hi), mode) << 8);
}
LANES(v_cvt_sr_fp8_f16, U32, (F16 a, U32 noise, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFFFF00u) | to_fp8(with_noise(widen(a), noise >> 12), mode, true);
}
LANES(v_cvt_sr_bf8_f16, U32, (F16 a, U32 noise, Old<U32> d, FloatMode mode)) {
  return (d.value & 0xFFFFFF00u) | to_bf8(with_noise(widen(a), noise >> 11), mode, true);
}

std::span<const VectorEntry> float_eight_entries() {
  static constexpr VectorEntry entries[] = {
      MODELESS_ENTRY(v_cvt_f32_fp8),
      MODELESS_ENTRY(v_cvt_f32_bf8),
      MODELESS_ENTRY(v_cvt_pk_f32_fp8),
      MODELESS_ENTRY(v_cvt_pk_f32_bf8),
      MODELESS_ENTRY(v_cvt_pk_fp8_f32),
      MODELESS_ENTRY(v_cvt_pk_bf8_f32),
      MODELESS_ENTRY(v_cvt_sr_fp8_f32),
      MODELESS_ENTRY(v_cvt_sr_bf8_f32),
      MODELESS_ENTRY(v_cvt_f16_fp8),
      MODELESS_ENTRY(v_cvt_f16_bf8),
      MODELESS_ENTRY(v_cvt_pk_f16_fp8),
      MODELESS_ENTRY(v_cvt_pk_f16_bf8),
      MODELESS_ENTRY(v_cvt_pk_fp8_f16),
      MODELESS_ENTRY(v_cvt_pk_bf8_f16),
      MODELESS_ENTRY(v_cvt_sr_fp8_f16),
      MODELESS_ENTRY(v_cvt_sr_bf8_f16),
      MODELESS_ENTRY_SINCE(gfx12_5, v_cvt_f32_fp8, cvt_f32_fp8_or_e5m3),
      MODELESS_ENTRY_SINCE(gfx12_5, v_cvt_pk_fp8_f32, cvt_pk_fp8_or_e5m3_f32),
      MODELESS_ENTRY_SINCE(gfx12_5, v_cvt_sr_fp8_f32, cvt_sr_fp8_or_e5m3_f32),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

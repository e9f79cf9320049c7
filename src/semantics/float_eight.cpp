// semantics: conversions of 8-bit floating-point numbers (small_floats.h), which know no rounding or denormal mode: to
// the nearest code, or stochastically. Who wants saturation clamps first, or sets MODE.FP16_OVFL.
#include "semantics/entries.h"
#include "semantics/small_floats.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

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

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

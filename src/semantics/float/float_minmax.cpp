// semantics: minimum, maximum and median of floating-point numbers, in all precisions (float_minmax.h).
//
// Instructions of the V_MIN kind stand here once for each of the rules about NaNs; the table says which generation
// follows which.
#include "semantics/float/float_minmax.h"

#include "semantics/entries.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

using F16x2 = Pair<F16>;

#define NUMBERS template <NanRule rule>

NUMBERS LANES(v_min_f32, F32, (F32 a, F32 b, FloatMode mode)) { return min_number<rule>(a, b, mode.ieee); }
NUMBERS LANES(v_max_f32, F32, (F32 a, F32 b, FloatMode mode)) { return max_number<rule>(a, b, mode.ieee); }
NUMBERS LANES(v_min_f64, F64, (F64 a, F64 b, FloatMode mode)) { return min_number<rule>(a, b, mode.ieee); }
NUMBERS LANES(v_max_f64, F64, (F64 a, F64 b, FloatMode mode)) { return max_number<rule>(a, b, mode.ieee); }
NUMBERS LANES(v_min_f16, F16, (F16 a, F16 b, FloatMode mode)) { return min_number<rule>(a, b, mode.ieee); }
NUMBERS LANES(v_max_f16, F16, (F16 a, F16 b, FloatMode mode)) { return max_number<rule>(a, b, mode.ieee); }

NUMBERS LANES(v_min3_f32, F32, (F32 a, F32 b, F32 c, FloatMode mode)) {
  return min_number<rule>(min_number<rule>(a, b, mode.ieee), c, mode.ieee);
}
NUMBERS LANES(v_max3_f32, F32, (F32 a, F32 b, F32 c, FloatMode mode)) {
  return max_number<rule>(max_number<rule>(a, b, mode.ieee), c, mode.ieee);
}
NUMBERS LANES(v_med3_f32, F32, (F32 a, F32 b, F32 c, FloatMode mode)) { return median<rule>(a, b, c, mode.ieee); }
// GFX9's of 16 bits leave the register's other half alone, as all do from GFX10 on (float_half.cpp).
NUMBERS LANES(v_min3_f16, LowHalf<F16>, (F16 a, F16 b, F16 c, FloatMode mode)) {
  return {min_number<rule>(min_number<rule>(a, b, mode.ieee), c, mode.ieee)};
}
NUMBERS LANES(v_max3_f16, LowHalf<F16>, (F16 a, F16 b, F16 c, FloatMode mode)) {
  return {max_number<rule>(max_number<rule>(a, b, mode.ieee), c, mode.ieee)};
}
NUMBERS LANES(v_med3_f16, LowHalf<F16>, (F16 a, F16 b, F16 c, FloatMode mode)) {
  return {median<rule>(a, b, c, mode.ieee)};
}

NUMBERS LANES(v_minmax_f32, F32, (F32 a, F32 b, F32 c, FloatMode mode)) {
  return max_number<rule>(min_number<rule>(a, b, mode.ieee), c, mode.ieee);
}
NUMBERS LANES(v_maxmin_f32, F32, (F32 a, F32 b, F32 c, FloatMode mode)) {
  return min_number<rule>(max_number<rule>(a, b, mode.ieee), c, mode.ieee);
}
NUMBERS LANES(v_minmax_f16, F16, (F16 a, F16 b, F16 c, FloatMode mode)) {
  return max_number<rule>(min_number<rule>(a, b, mode.ieee), c, mode.ieee);
}
NUMBERS LANES(v_maxmin_f16, F16, (F16 a, F16 b, F16 c, FloatMode mode)) {
  return min_number<rule>(max_number<rule>(a, b, mode.ieee), c, mode.ieee);
}

NUMBERS LANES(v_pk_min_f16, F16x2, (F16x2 a, F16x2 b, FloatMode mode)) {
  return {min_number<rule>(a.lo, b.lo, mode.ieee), min_number<rule>(a.hi, b.hi, mode.ieee)};
}
NUMBERS LANES(v_pk_max_f16, F16x2, (F16x2 a, F16x2 b, FloatMode mode)) {
  return {max_number<rule>(a.lo, b.lo, mode.ieee), max_number<rule>(a.hi, b.hi, mode.ieee)};
}

// IEEE 754-2019's.
LANES(v_minimum_f16, F16, (F16 a, F16 b)) { return minimum(a, b); }
LANES(v_maximum_f16, F16, (F16 a, F16 b)) { return maximum(a, b); }
LANES(v_minimum_f32, F32, (F32 a, F32 b)) { return minimum(a, b); }
LANES(v_maximum_f32, F32, (F32 a, F32 b)) { return maximum(a, b); }
LANES(v_minimum_f64, F64, (F64 a, F64 b)) { return minimum(a, b); }
LANES(v_maximum_f64, F64, (F64 a, F64 b)) { return maximum(a, b); }
LANES(v_minimum3_f16, F16, (F16 a, F16 b, F16 c)) { return minimum(minimum(a, b), c); }
LANES(v_maximum3_f16, F16, (F16 a, F16 b, F16 c)) { return maximum(maximum(a, b), c); }
LANES(v_minimum3_f32, F32, (F32 a, F32 b, F32 c)) { return minimum(minimum(a, b), c); }
LANES(v_maximum3_f32, F32, (F32 a, F32 b, F32 c)) { return maximum(maximum(a, b), c); }
LANES(v_minimummaximum_f16, F16, (F16 a, F16 b, F16 c)) { return maximum(minimum(a, b), c); }
LANES(v_maximumminimum_f16, F16, (F16 a, F16 b, F16 c)) { return minimum(maximum(a, b), c); }
LANES(v_minimummaximum_f32, F32, (F32 a, F32 b, F32 c)) { return maximum(minimum(a, b), c); }
LANES(v_maximumminimum_f32, F32, (F32 a, F32 b, F32 c)) { return minimum(maximum(a, b), c); }
LANES(v_pk_minimum_f16, F16x2, (F16x2 a, F16x2 b)) { return {minimum(a.lo, b.lo), minimum(a.hi, b.hi)}; }
LANES(v_pk_maximum_f16, F16x2, (F16x2 a, F16x2 b)) { return {maximum(a.lo, b.lo), maximum(a.hi, b.hi)}; }
LANES(v_pk_minimum3_f16, F16x2, (F16x2 a, F16x2 b, F16x2 c)) {
  return {v_minimum3_f16(a.lo, b.lo, c.lo), v_minimum3_f16(a.hi, b.hi, c.hi)};
}
LANES(v_pk_maximum3_f16, F16x2, (F16x2 a, F16x2 b, F16x2 c)) {
  return {v_maximum3_f16(a.lo, b.lo, c.lo), v_maximum3_f16(a.hi, b.hi, c.hi)};
}

// DirectX 9's: by one comparison, so that of a NaN and a number it is the second operand (LLVM, "fmin_legacy").
LANES(v_min_legacy_f32, F32, (F32 a, F32 b)) { return select(a < b, a, b); }
LANES(v_max_legacy_f32, F32, (F32 a, F32 b)) { return select(a >= b, a, b); }

// GFX12.5's, of three: the numbers among them.
LANES(v_pk_min3_num_f16, F16x2, (F16x2 a, F16x2 b, F16x2 c)) {
  constexpr auto least = [](F16 x, F16 y) { return min_number<NanRule::quiet>(x, y, false); };
  return {least(least(a.lo, b.lo), c.lo), least(least(a.hi, b.hi), c.hi)};
}
LANES(v_pk_max3_num_f16, F16x2, (F16x2 a, F16x2 b, F16x2 c)) {
  constexpr auto greatest = [](F16 x, F16 y) { return max_number<NanRule::quiet>(x, y, false); };
  return {greatest(greatest(a.lo, b.lo), c.lo), greatest(greatest(a.hi, b.hi), c.hi)};
}

std::span<const VectorEntry> float_minmax_entries() {
  // Until GFX8 they flush no denormals, whatever the mode (LLVM, GCNSubtarget::supportsMinMaxDenormModes).
#define EACH_RULE(name)                                                                                    \
  MODELESS_ENTRY_SINCE(gfx6, name, name<NanRule::second>), ENTRY_SINCE(gfx9, name, name<NanRule::second>), \
      ENTRY_SINCE(gfx11, name, name<NanRule::first>), ENTRY_SINCE(gfx11_7, name, name<NanRule::quiet>)
  static constexpr VectorEntry entries[] = {
      EACH_RULE(v_min_f32),
      EACH_RULE(v_max_f32),
      EACH_RULE(v_min_f64),
      EACH_RULE(v_max_f64),
      EACH_RULE(v_min_f16),
      EACH_RULE(v_max_f16),
      EACH_RULE(v_min3_f32),
      EACH_RULE(v_max3_f32),
      EACH_RULE(v_med3_f32),
      EACH_RULE(v_min3_f16),
      EACH_RULE(v_max3_f16),
      EACH_RULE(v_med3_f16),
      EACH_RULE(v_minmax_f32),
      EACH_RULE(v_maxmin_f32),
      EACH_RULE(v_minmax_f16),
      EACH_RULE(v_maxmin_f16),
      EACH_RULE(v_pk_min_f16),
      EACH_RULE(v_pk_max_f16),
      ENTRY(v_minimum_f16),
      ENTRY(v_maximum_f16),
      ENTRY(v_minimum_f32),
      ENTRY(v_maximum_f32),
      ENTRY(v_minimum_f64),
      ENTRY(v_maximum_f64),
      ENTRY(v_minimum3_f16),
      ENTRY(v_maximum3_f16),
      ENTRY(v_minimum3_f32),
      ENTRY(v_maximum3_f32),
      ENTRY(v_minimummaximum_f16),
      ENTRY(v_maximumminimum_f16),
      ENTRY(v_minimummaximum_f32),
      ENTRY(v_maximumminimum_f32),
      ENTRY(v_pk_minimum_f16),
      ENTRY(v_pk_maximum_f16),
      ENTRY(v_pk_minimum3_f16),
      ENTRY(v_pk_maximum3_f16),
      ENTRY(v_pk_min3_num_f16),
      ENTRY(v_pk_max3_num_f16),
      MODELESS_ENTRY(v_min_legacy_f32),
      MODELESS_ENTRY(v_max_legacy_f32),
  };
#undef EACH_RULE
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

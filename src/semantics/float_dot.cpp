// semantics: dot products of half-precision pairs, accumulated in single precision.
//
// The product of two halves is exact in single precision, so each step rounds once; the low halves' step comes first
// (the vendor's pseudo-code). The unit takes no notice of MODE: it rounds to nearest even, keeps the halves' denormals
// and flushes the accumulator's and the result's. LLVM forms these instructions only where that is right (FDOT2 in
// SIISelLowering).
#include "semantics/entries.h"
#include "semantics/float_lanes.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

LANES(v_dot2_f32_f16, F32, (Pair<F16> a, Pair<F16> b, F32 c)) {
  return flush(fma(widen(a.hi), widen(b.hi), fma(widen(a.lo), widen(b.lo), flush(c))));
}
LANES(v_dot2c_f32_f16, F32, (Pair<F16> a, Pair<F16> b, Old<F32> c)) { return v_dot2_f32_f16(a, b, c.value); }

// gfx950's dot products of bfloat16 pairs, whose products are exact in single precision, too. v_dot2 adds the addend
// last, v_dot2c first (the vendor's pseudo-code).
[[gnu::always_inline]] inline F32 brain(U16 a) { return flush(bits<F32>(convert<U32>(a) << 16)); }
LANES(v_dot2_f32_bf16, F32, (Pair<U16> a, Pair<U16> b, F32 c)) {
  return flush(add(fma(brain(a.hi), brain(b.hi), mul(brain(a.lo), brain(b.lo))), flush(c)));
}
LANES(v_dot2c_f32_bf16, F32, (Pair<U16> a, Pair<U16> b, Old<F32> c)) {
  return flush(fma(brain(a.hi), brain(b.hi), fma(brain(a.lo), brain(b.lo), flush(c.value))));
}

std::span<const VectorEntry> float_dot_entries() {
  static constexpr VectorEntry entries[] = {
      MODELESS_ENTRY(v_dot2_f32_f16),
      MODELESS_ENTRY(v_dot2c_f32_f16),
      MODELESS_ENTRY(v_dot2_f32_bf16),
      MODELESS_ENTRY(v_dot2c_f32_bf16),
  };
  return entries;
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

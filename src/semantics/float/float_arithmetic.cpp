// semantics: floating-point sums and products, in single and double precision.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

LANES(v_add_f32, F32, (F32 a, F32 b)) { return add(a, b); }
LANES(v_sub_f32, F32, (F32 a, F32 b)) { return sub(a, b); }
LANES(v_subrev_f32, F32, (F32 a, F32 b)) { return sub(b, a); }
LANES(v_mul_f32, F32, (F32 a, F32 b)) { return mul(a, b); }
LANES(v_add_f64, F64, (F64 a, F64 b)) { return add(a, b); }
LANES(v_mul_f64, F64, (F64 a, F64 b)) { return mul(a, b); }

LANES(v_fma_f32, F32, (F32 a, F32 b, F32 c)) { return fma(a, b, c); }
LANES(v_fmac_f32, F32, (F32 a, F32 b, Old<F32> d)) { return fma(a, b, d.value); }
LANES(v_fmamk_f32, F32, (F32 a, F32 k, F32 b)) { return fma(a, k, b); }
LANES(v_fmaak_f32, F32, (F32 a, F32 b, F32 k)) { return fma(a, b, k); }
LANES(v_fmamk_f64, F64, (F64 a, F64 k, F64 b)) { return fma(a, k, b); }
LANES(v_fmaak_f64, F64, (F64 a, F64 b, F64 k)) { return fma(a, b, k); }
LANES(v_fma_f64, F64, (F64 a, F64 b, F64 c)) { return fma(a, b, c); }
LANES(v_fmac_f64, F64, (F64 a, F64 b, Old<F64> d)) { return fma(a, b, d.value); }

// v_mad_f32 and its kin round twice and know no denormals, whatever the mode: sources, product and sum are flushed
// (LLVM therefore selects them only when denormals are flushed anyway).
[[gnu::always_inline]] inline F32 flushing_sum(F32 product, F32 a, F32 b, F32 c) {
  return with_nan(flush(flush(product) + flush(c)), a, b, c);
}
[[gnu::always_inline]] inline F32 flushing_mad(F32 a, F32 b, F32 c) {
  return flushing_sum(flush(a) * flush(b), a, b, c);
}
LANES(v_mad_f32, F32, (F32 a, F32 b, F32 c)) { return flushing_mad(a, b, c); }
LANES(v_mac_f32, F32, (F32 a, F32 b, Old<F32> d)) { return flushing_mad(a, b, d.value); }
LANES(v_madmk_f32, F32, (F32 a, F32 k, F32 b)) { return flushing_mad(a, k, b); }
LANES(v_madak_f32, F32, (F32 a, F32 b, F32 k)) { return flushing_mad(a, b, k); }

LANES(v_mullit_f32, F32, (F32 a, F32 b, F32 c)) {
  constexpr float largest = std::numeric_limits<float>::max();
  return select((b > -largest) & (c > 0), mul(a, b), F32(-largest));  // neither holds of a NaN
}

// DirectX 9's multiplication: zero times anything, infinity and NaN included, is +0.
LANES(v_mul_legacy_f32, F32, (F32 a, F32 b)) { return select((a == 0) | (b == 0), F32(0), mul(a, b)); }
LANES(v_fma_legacy_f32, F32, (F32 a, F32 b, F32 c)) { return select((a == 0) | (b == 0), c, fma(a, b, c)); }
LANES(v_fmac_legacy_f32, F32, (F32 a, F32 b, Old<F32> d)) { return v_fma_legacy_f32(a, b, d.value); }
LANES(v_mad_legacy_f32, F32, (F32 a, F32 b, F32 c)) {
  const F32 product = v_mul_legacy_f32(flush(a), flush(b));
  return flushing_sum(product, product, product, c);
}
LANES(v_mac_legacy_f32, F32, (F32 a, F32 b, Old<F32> d)) { return v_mad_legacy_f32(a, b, d.value); }

// Packed single precision: two independent values, one to a register.
using F32x2 = Pair<F32>;
LANES(v_pk_add_f32, F32x2, (F32x2 a, F32x2 b)) { return {add(a.lo, b.lo), add(a.hi, b.hi)}; }
LANES(v_pk_mul_f32, F32x2, (F32x2 a, F32x2 b)) { return {mul(a.lo, b.lo), mul(a.hi, b.hi)}; }
LANES(v_pk_fma_f32, F32x2, (F32x2 a, F32x2 b, F32x2 c)) { return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)}; }

std::span<const VectorEntry> float_arithmetic_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_add_f32),        ENTRY(v_sub_f32),        ENTRY(v_subrev_f32),     ENTRY(v_mul_f32),
      ENTRY(v_add_f64),        ENTRY(v_mul_f64),        ENTRY(v_fma_f32),        ENTRY(v_fmac_f32),
      ENTRY(v_fmamk_f32),      ENTRY(v_fmaak_f32),      ENTRY(v_fma_f64),        ENTRY(v_fmac_f64),
      ENTRY(v_mad_f32),        ENTRY(v_mac_f32),        ENTRY(v_madmk_f32),      ENTRY(v_madak_f32),
      ENTRY(v_pk_add_f32),     ENTRY(v_pk_mul_f32),     ENTRY(v_mul_legacy_f32), ENTRY(v_pk_fma_f32),
      ENTRY(v_mad_legacy_f32), ENTRY(v_mac_legacy_f32), ENTRY(v_fma_legacy_f32), ENTRY(v_fmac_legacy_f32),
      ENTRY(v_mullit_f32),     ENTRY(v_fmamk_f64),      ENTRY(v_fmaak_f64),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: interpolation of pixel attributes (VINTERP, GFX11 and later).
//
// The first source holds, in the lanes of each quad, P0, P10 and P20 of an attribute ("RDNA3", "Parameter
// Interpolation"); it is read from those lanes whether EXEC has them or not. P10 + P0 is the first step,
// P20 the second.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

static_assert(chunk_lanes % 4 == 0, "quads lie within chunks");

/// Broadcasts the value of lane `lane` of each quad to all lanes of the quad.
template <unsigned lane, typename T>
[[gnu::always_inline]] inline T of_quad(T a) {
  return __builtin_shufflevector(a, a, lane, lane, lane, lane, lane + 4, lane + 4, lane + 4, lane + 4, lane + 8,
                                 lane + 8, lane + 8, lane + 8, lane + 12, lane + 12, lane + 12, lane + 12);
}

LANES(v_interp_p10_f32_inreg, F32, (F32 a, F32 i, F32 c)) { return fma(of_quad<1>(a), i, of_quad<0>(c)); }
LANES(v_interp_p2_f32_inreg, F32, (F32 a, F32 j, F32 c)) { return fma(of_quad<2>(a), j, c); }
LANES(v_interp_p10_f16_f32_inreg, F32, (F16 a, F32 i, F16 c)) {
  return fma(widen(of_quad<1>(a)), i, widen(of_quad<0>(c)));
}
LANES(v_interp_p2_f16_f32_inreg, F16, (F16 a, F32 j, F32 c)) { return narrow(fma(widen(of_quad<2>(a)), j, c)); }

/// a * b + c, rounded toward zero. The product of a half and a single is exact in double precision; of the sum, the
/// last bit says whether there is more.
[[gnu::always_inline]] inline F32 fma_toward_zero(F32 a, F32 b, F32 c) {
  const F64 product = convert<F64>(a) * convert<F64>(b), addend = convert<F64>(c), sum = product + addend;
  const F64 odd = select(magnitude(sum) < infinity<F64>(), round_to_odd(sum, product, addend), sum);
  F32 near = convert<F32>(odd);
  const auto outward = convert<I32>(magnitude(convert<F64>(near)) > magnitude(odd));
  near = bits<F32>(bits<I32>(near) + outward);  // -1 where it has been rounded away from zero
  return with_nan(near, a, b, c);
}
LANES(v_interp_p10_rtz_f16_f32_inreg, F32, (F16 a, F32 i, F16 c)) {
  return fma_toward_zero(widen(of_quad<1>(a)), i, widen(of_quad<0>(c)));
}
LANES(v_interp_p2_rtz_f16_f32_inreg, F16, (F16 a, F32 j, F32 c)) {
  return narrow_toward_zero(fma_toward_zero(widen(of_quad<2>(a)), j, c));
}

std::span<const VectorEntry> float_interpolation_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_interp_p10_f32_inreg),
      ENTRY(v_interp_p2_f32_inreg),
      ENTRY(v_interp_p10_f16_f32_inreg),
      ENTRY(v_interp_p2_f16_f32_inreg),
      MODELESS_ENTRY(v_interp_p10_rtz_f16_f32_inreg),
      MODELESS_ENTRY(v_interp_p2_rtz_f16_f32_inreg),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: floating-point numbers taken apart: rounding to whole numbers, fractions, mantissas and exponents.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/float_scale.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

LANES(v_trunc_f32, F32, (F32 a)) { return __builtin_elementwise_trunc(a); }
LANES(v_ceil_f32, F32, (F32 a)) { return __builtin_elementwise_ceil(a); }
LANES(v_floor_f32, F32, (F32 a)) { return __builtin_elementwise_floor(a); }
LANES(v_rndne_f32, F32, (F32 a)) { return __builtin_elementwise_roundeven(a); }
LANES(v_trunc_f64, F64, (F64 a)) { return __builtin_elementwise_trunc(a); }
LANES(v_ceil_f64, F64, (F64 a)) { return __builtin_elementwise_ceil(a); }
LANES(v_floor_f64, F64, (F64 a)) { return __builtin_elementwise_floor(a); }
LANES(v_rndne_f64, F64, (F64 a)) { return __builtin_elementwise_roundeven(a); }
LANES(v_trunc_f16, F16, (F16 a)) { return narrow(v_trunc_f32(widen(a))); }
LANES(v_ceil_f16, F16, (F16 a)) { return narrow(v_ceil_f32(widen(a))); }
LANES(v_floor_f16, F16, (F16 a)) { return narrow(v_floor_f32(widen(a))); }
LANES(v_rndne_f16, F16, (F16 a)) { return narrow(v_rndne_f32(widen(a))); }

/// a - floor(a), kept below 1 where the difference would round up to it; NaN of an infinity. `below_one` is the largest
/// number less than 1.
template <typename T>
[[gnu::always_inline]] inline T fraction(T a, T below_one) {
  const T part = with_nan(a - __builtin_elementwise_floor(a), a);
  return select(part > below_one, below_one, part);
}
LANES(v_fract_f32, F32, (F32 a)) { return fraction(a, F32(0x1.fffffep-1f)); }
LANES(v_fract_f64, F64, (F64 a)) { return fraction(a, F64(0x1.fffffffffffffp-1)); }
LANES(v_fract_f16, F16, (F16 a)) { return narrow(fraction(widen(a), F32(0x1.ffcp-1f))); }

// frexp: a = mantissa * 2^exponent, the mantissa's magnitude in [0.5, 1). Infinities and NaNs are their own mantissa,
// with exponent 0; so is zero (the pseudo-code would give zero another exponent; C's frexp, which is built of these,
// must see 0).
template <typename T>
struct Parts {
  T mantissa;
  decltype(T{} < T{}) exponent;
};
template <typename T>
[[gnu::always_inline]] inline Parts<T> frexp(T a) {
  using F = Format<T>;
  using Signed = decltype(a < a);
  const auto tiny = magnitude(a) < pattern<T>(F::fraction + 1);
  constexpr int lift = F::fraction_bits + 1;
  const T normal = select(tiny, a * static_cast<typename row::Element<T>::type>(uint64_t{1} << lift), a);
  const BitsOf<T> word = bits<BitsOf<T>>(normal);
  const Signed biased = bits<Signed>((word & BitsOf<T>(F::exponent)) >> F::fraction_bits);
  const auto plain = (magnitude(a) < infinity<T>()) & (a != 0);
  const T mantissa = bits<T>((word & ~BitsOf<T>(F::exponent)) | BitsOf<T>(uint64_t{F::bias - 1} << F::fraction_bits));
  const Signed exponent = biased - (F::bias - 1) - select(tiny, Signed(lift), Signed(0));
  const T itself = select(a == a, a, quiet(a));
  return {select(plain, mantissa, itself), select(plain, exponent, Signed(0))};
}
LANES(v_frexp_mant_f32, F32, (F32 a)) { return frexp(a).mantissa; }
LANES(v_frexp_exp_i32_f32, I32, (F32 a)) { return frexp(a).exponent; }
LANES(v_frexp_mant_f64, F64, (F64 a)) { return frexp(a).mantissa; }
LANES(v_frexp_exp_i32_f64, I32, (F64 a)) { return convert<I32>(frexp(a).exponent); }
LANES(v_frexp_mant_f16, F16, (F16 a)) { return narrow(frexp(widen(a)).mantissa); }
LANES(v_frexp_exp_i16_f16, I16, (F16 a)) { return convert<I16>(frexp(widen(a)).exponent); }

// A NaN's sign is not left to the product: -a * 4 may become a * -4.
LANES(v_ldexp_f32, F32, (F32 a, I32 exponent)) { return with_nan(scale_by_power(a, exponent), a); }
LANES(v_ldexp_f64, F64, (F64 a, I32 exponent)) { return with_nan(scale_by_power(a, exponent), a); }
LANES(v_ldexp_f16, F16, (F16 a, I16 exponent)) { return scale_by_power(a, convert<I32>(exponent)); }

std::span<const VectorEntry> float_rounding_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_trunc_f32),         ENTRY(v_ceil_f32),       ENTRY(v_floor_f32),         ENTRY(v_rndne_f32),
      ENTRY(v_trunc_f64),         ENTRY(v_ceil_f64),       ENTRY(v_floor_f64),         ENTRY(v_rndne_f64),
      ENTRY(v_trunc_f16),         ENTRY(v_ceil_f16),       ENTRY(v_floor_f16),         ENTRY(v_rndne_f16),
      ENTRY(v_fract_f32),         ENTRY(v_fract_f64),      ENTRY(v_fract_f16),         ENTRY(v_frexp_mant_f32),
      ENTRY(v_frexp_exp_i32_f32), ENTRY(v_frexp_mant_f64), ENTRY(v_frexp_exp_i32_f64), ENTRY(v_frexp_mant_f16),
      ENTRY(v_frexp_exp_i16_f16), ENTRY(v_ldexp_f32),      ENTRY(v_ldexp_f64),         ENTRY(v_ldexp_f16),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

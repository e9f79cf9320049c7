// semantics: conversions between floating-point formats and integers.
//
// A conversion to an integer truncates unless its name says otherwise, saturates at the ends of the integer's range,
// and makes 0 of NaN. A conversion to a narrower format rounds in the wave's mode.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// Truncates to integer lanes `To`, saturating at the limits of To's type; NaN gives 0.
template <typename To, typename From>
[[gnu::always_inline]] inline To saturate(From a) {
  using Integer = typename row::Element<To>::type;
  using Float = typename row::Element<From>::type;
  constexpr Integer low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
  // The lowest value is a power of two or 0, so exact; the highest may not be, the one past it always is.
  constexpr Float past = static_cast<Float>(uint64_t{1} << (sizeof(Integer) * 8 - std::is_signed_v<Integer>));
  const From lowest = static_cast<Float>(low);
  From inside = select(a == a, a, From(0));
  inside = select(inside < lowest, lowest, inside);
  const auto above = inside >= From(past);
  inside = select(above, From(0), inside);
  if constexpr (sizeof(Float) > sizeof(Integer)) {  // a comparison's lanes are as wide as what was compared
    return select(convert<I32>(above), To(high), convert<To>(inside));
  } else {
    return select(above, To(high), convert<To>(inside));
  }
}

LANES(v_cvt_i32_f32, I32, (F32 a)) { return saturate<I32>(a); }
LANES(v_cvt_u32_f32, U32, (F32 a)) { return saturate<U32>(a); }
LANES(v_cvt_i32_f64, I32, (F64 a)) { return saturate<I32>(a); }
LANES(v_cvt_u32_f64, U32, (F64 a)) { return saturate<U32>(a); }
LANES(v_cvt_flr_i32_f32, I32, (F32 a)) { return saturate<I32>(__builtin_elementwise_floor(a)); }
// floor(a + 0.5), the sum unrounded: rounded to single precision it would be wrong just below 0.5 and above 2^23.
LANES(v_cvt_rpi_i32_f32, I32, (F32 a)) {
  const F32 floor = __builtin_elementwise_floor(a);
  return saturate<I32>(select(a - floor >= 0.5f, floor + 1, floor));
}

// Unsigned numbers by way of signed ones: the compiler's own sequence makes -0 of 0 when rounding toward -infinity.
[[gnu::always_inline]] inline F64 twice_from_unsigned(U32 a) {
  const I32 word = bits<I32>(a);
  return convert<F64>(word) + select(convert<I64>(word) < 0, F64(0x1p32), F64(0));
}
[[gnu::always_inline]] inline F32 single_from_unsigned(U32 a) {
  const I32 word = bits<I32>(a);
  const F32 halved = convert<F32>(bits<I32>(a >> 1 | (a & 1)));  // the bit shifted out stays to be rounded
  return select(word < 0, halved * 2, convert<F32>(word));
}
LANES(v_cvt_f32_i32, F32, (I32 a)) { return convert<F32>(a); }
LANES(v_cvt_f32_u32, F32, (U32 a)) { return single_from_unsigned(a); }
LANES(v_cvt_f64_i32, F64, (I32 a)) { return convert<F64>(a); }
LANES(v_cvt_f64_u32, F64, (U32 a)) { return twice_from_unsigned(a); }
LANES(v_cvt_f32_f64, F32, (F64 a)) { return convert<F32>(a); }
LANES(v_cvt_f64_f32, F64, (F32 a)) { return convert<F64>(a); }
LANES(v_cvt_f32_f16, F32, (F16 a)) { return widen(a); }
LANES(v_cvt_f16_f32, F16, (F32 a)) { return narrow(a); }
LANES(v_cvt_f32_ubyte0, F32, (U32 a)) { return convert<F32>(bits<I32>(a & 0xFF)); }
LANES(v_cvt_f32_ubyte1, F32, (U32 a)) { return convert<F32>(bits<I32>(a >> 8 & 0xFF)); }
LANES(v_cvt_f32_ubyte2, F32, (U32 a)) { return convert<F32>(bits<I32>(a >> 16 & 0xFF)); }
LANES(v_cvt_f32_ubyte3, F32, (U32 a)) { return convert<F32>(bits<I32>(a >> 24)); }
// A signed 4-bit number in sixteenths.
LANES(v_cvt_off_f32_i4, F32, (U32 a)) { return convert<F32>(bits<I32>(a << 28) >> 28) * 0.0625f; }

LANES(v_cvt_f16_u16, F16, (U16 a)) { return narrow(convert<F32>(a)); }
LANES(v_cvt_f16_i16, F16, (I16 a)) { return narrow(convert<F32>(a)); }
/// As saturate(), to 16 bits.
template <typename To>
[[gnu::always_inline]] inline To saturate16(F32 a) {
  using Integer = typename row::Element<To>::type;
  const I32 whole = saturate<I32>(a);
  const I32 low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
  return convert<To>(__builtin_elementwise_min(__builtin_elementwise_max(whole, low), high));
}
LANES(v_cvt_u16_f16, U16, (F16 a)) { return saturate16<U16>(widen(a)); }
LANES(v_cvt_i16_f16, I16, (F16 a)) { return saturate16<I16>(widen(a)); }

using I16x2 = Pair<I16>;
using U16x2 = Pair<U16>;
using F16x2 = Pair<F16>;
LANES(v_cvt_pk_i16_f32, I16x2, (F32 a, F32 b)) { return {saturate16<I16>(a), saturate16<I16>(b)}; }
LANES(v_cvt_pk_u16_f32, U16x2, (F32 a, F32 b)) { return {saturate16<U16>(a), saturate16<U16>(b)}; }

// Normalised integers: [-1, 1] or [0, 1] over the integer's range, rounded in the wave's mode. Double precision keeps
// the product exact.
[[gnu::always_inline]] inline F64 scaled(F32 a, double scale) {
  return __builtin_elementwise_nearbyint(convert<F64>(a) * scale);
}
[[gnu::always_inline]] inline I16 signed_norm(F32 a) {
  const I32 whole = saturate<I32>(scaled(a, 32767.0));
  return convert<I16>(__builtin_elementwise_min(__builtin_elementwise_max(whole, I32(-32767)), I32(32767)));
}
[[gnu::always_inline]] inline U16 unsigned_norm(F32 a) {
  return convert<U16>(__builtin_elementwise_min(saturate<U32>(scaled(a, 65535.0)), U32(65535)));
}
LANES(v_cvt_norm_i16_f16, I16, (F16 a)) { return signed_norm(widen(a)); }
LANES(v_cvt_norm_u16_f16, U16, (F16 a)) { return unsigned_norm(widen(a)); }
LANES(v_cvt_pknorm_i16_f16, I16x2, (F16 a, F16 b)) { return {signed_norm(widen(a)), signed_norm(widen(b))}; }
LANES(v_cvt_pknorm_u16_f16, U16x2, (F16 a, F16 b)) { return {unsigned_norm(widen(a)), unsigned_norm(widen(b))}; }
LANES(v_cvt_pknorm_i16_f32, I16x2, (F32 a, F32 b)) { return {signed_norm(a), signed_norm(b)}; }
LANES(v_cvt_pknorm_u16_f32, U16x2, (F32 a, F32 b)) { return {unsigned_norm(a), unsigned_norm(b)}; }

LANES(v_cvt_pkrtz_f16_f32, F16x2, (F32 a, F32 b)) { return {narrow_toward_zero(a), narrow_toward_zero(b)}; }

/// `a` rounded in the wave's mode and saturated to a byte, in place of byte `position` mod 4 of `rest`.
[[gnu::always_inline]] inline U32 insert_byte(F32 a, U32 position, U32 rest) {
  const U32 byte = __builtin_elementwise_min(saturate<U32>(__builtin_elementwise_nearbyint(a)), U32(255));
  const U32 shift = (position & 3) * 8;
  return (rest & ~(U32(0xFF) << shift)) | byte << shift;
}
LANES(v_cvt_pk_u8_f32, U32, (F32 a, U32 position, U32 rest)) { return insert_byte(a, position, rest); }
LANES(v_cvt_pkaccum_u8_f32, U32, (F32 a, U32 position, Old<U32> rest)) { return insert_byte(a, position, rest.value); }

std::span<const VectorEntry> float_convert_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_cvt_i32_f32),        ENTRY(v_cvt_u32_f32),        ENTRY(v_cvt_i32_f64),
      ENTRY(v_cvt_u32_f64),        ENTRY(v_cvt_flr_i32_f32),    ENTRY(v_cvt_rpi_i32_f32),
      ENTRY(v_cvt_f32_i32),        ENTRY(v_cvt_f32_u32),        ENTRY(v_cvt_f64_i32),
      ENTRY(v_cvt_f64_u32),        ENTRY(v_cvt_f32_f64),        ENTRY(v_cvt_f64_f32),
      ENTRY(v_cvt_f32_f16),        ENTRY(v_cvt_f16_f32),        ENTRY(v_cvt_f32_ubyte0),
      ENTRY(v_cvt_f32_ubyte1),     ENTRY(v_cvt_f32_ubyte2),     ENTRY(v_cvt_f32_ubyte3),
      ENTRY(v_cvt_off_f32_i4),     ENTRY(v_cvt_f16_u16),        ENTRY(v_cvt_f16_i16),
      ENTRY(v_cvt_u16_f16),        ENTRY(v_cvt_i16_f16),        ENTRY(v_cvt_norm_i16_f16),
      ENTRY(v_cvt_norm_u16_f16),   ENTRY(v_cvt_pknorm_i16_f16), ENTRY(v_cvt_pknorm_u16_f16),
      ENTRY(v_cvt_pknorm_i16_f32), ENTRY(v_cvt_pknorm_u16_f32), ENTRY(v_cvt_pkrtz_f16_f32),
      ENTRY(v_cvt_pk_i16_f32),     ENTRY(v_cvt_pk_u16_f32),     ENTRY(v_cvt_pk_u8_f32),
      ENTRY(v_cvt_pkaccum_u8_f32),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: conversions of gfx950 and GFX12.5 between the small floating-point formats (small_floats.h) and f32, f16
// and bf16 with a scale, v_cvt_scalef32_* and v_cvt_scale_*.
//
// The scale is the exponent of a single: a power of two, or NaN where the exponent is all ones, as E8M0 has it ("OCP
// Microscaling Formats Specification"). A number is divided by it on its way to a small format, and multiplied with it
// on its way back. All round to nearest even, or stochastically, whatever the mode says. Of 32 numbers in 6 bits each,
// the first is in the lowest bits. Source: CDNA4 ISA guide, "Vector ALU instructions".
#include "semantics/entries.h"
#include "semantics/float/small_floats.h"
#include "semantics/lanes/lane_words.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

using F32x2 = Pair<F32>;
using F16x2 = Pair<F16>;
using U16x2 = Pair<U16>;

[[gnu::always_inline]] inline F32 widen(F32 a) { return a; }
/// 2 to `power`, from -127 to 127, or NaN for 128.
[[gnu::always_inline]] inline F32 scale_factor(I32 power) {
  const F32 factor = bits<F32>(select(power == -127, I32(0x0040'0000), (power + 127) << 23));
  return select(power > 127, pattern<F32>(Format<F32>::default_nan), factor);
}
[[gnu::always_inline]] inline I32 exponent_of(F32 scale) { return bits<I32>(bits<U32>(scale) >> 23 & 0xFF) - 127; }
[[gnu::always_inline]] inline F32 multiplied(F32 a, F32 scale) { return mul(a, scale_factor(exponent_of(scale))); }
[[gnu::always_inline]] inline F32 divided(F32 a, F32 scale) {
  const I32 exponent = exponent_of(scale);
  return mul(a, scale_factor(select(exponent == 128, exponent, -exponent)));
}

/// Down to the format and up again.
template <typename Kind>
[[gnu::always_inline]] inline U32 code_of(F32 a, F32 scale) {
  return encode<Kind>(divided(a, scale));
}
template <typename Kind>
[[gnu::always_inline]] inline U32 noisy_code_of(F32 a, U32 noise, F32 scale) {
  return encode<Kind>(with_noise(divided(a, scale), noise >> (9 + Kind::fraction_bits)), true);
}
template <typename Kind>
[[gnu::always_inline]] inline F32 number_of(U32 code, F32 scale) {
  return multiplied(decode<Kind>(code), scale);
}

LANES(v_prng_b32, U32, (U32 seed)) { return next_noise(seed); }

// --- 8 bits ---------------------------------------------------------------------------------------------------------

template <typename Kind>
[[gnu::always_inline]] inline U32 two_bytes(F32 a, F32 b, F32 scale, U32 old) {
  return (old & 0xFFFF0000u) | code_of<Kind>(a, scale) | code_of<Kind>(b, scale) << 8;
}
template <typename Kind>
[[gnu::always_inline]] inline OneByte noisy_byte(F32 a, U32 noise, F32 scale) {
  return {noisy_code_of<Kind>(a, noise, scale)};
}

#define BYTES(name, Kind)                                                                                         \
  LANES(v_cvt_scalef32_pk_##name##_f32, U32, (F32 a, F32 b, F32 scale, Old<U32> d)) {                             \
    return two_bytes<Kind>(a, b, scale, d.value);                                                                 \
  }                                                                                                               \
  LANES(v_cvt_scalef32_pk_##name##_f16, U32, (F16x2 a, F32 scale, Old<U32> d)) {                                  \
    return two_bytes<Kind>(widen(a.lo), widen(a.hi), scale, d.value);                                             \
  }                                                                                                               \
  LANES(v_cvt_scalef32_pk_##name##_bf16, U32, (U16x2 a, F32 scale, Old<U32> d)) {                                 \
    return two_bytes<Kind>(widen(a.lo), widen(a.hi), scale, d.value);                                             \
  }                                                                                                               \
  LANES(v_cvt_scalef32_sr_##name##_f32, OneByte, (F32 a, U32 noise, F32 scale, Old<U32>)) {                       \
    return noisy_byte<Kind>(a, noise, scale);                                                                     \
  }                                                                                                               \
  LANES(v_cvt_scalef32_sr_##name##_f16, OneByte, (F16 a, U32 noise, F32 scale, Old<U32>)) {                       \
    return noisy_byte<Kind>(widen(a), noise, scale);                                                              \
  }                                                                                                               \
  LANES(v_cvt_scalef32_sr_##name##_bf16, OneByte, (U16 a, U32 noise, F32 scale, Old<U32>)) {                      \
    return noisy_byte<Kind>(widen(a), noise, scale);                                                              \
  }                                                                                                               \
  LANES(v_cvt_scalef32_f32_##name, F32, (Part<8> code, F32 scale)) { return number_of<Kind>(code.value, scale); } \
  LANES(v_cvt_scalef32_f16_##name, U32, (Part<8> code, F32 scale, Old<U32> d)) {                                  \
    const U32 half = convert<U32>(bits<U16>(narrow(number_of<Kind>(code.value, scale))));                         \
    return (d.value & 0xFFFF0000u) | half;                                                                        \
  }                                                                                                               \
  LANES(v_cvt_scalef32_pk_f32_##name, F32x2, (Part<16> codes, F32 scale)) {                                       \
    return {number_of<Kind>(codes.value, scale), number_of<Kind>(codes.value >> 8, scale)};                       \
  }                                                                                                               \
  LANES(v_cvt_scalef32_pk_f16_##name, F16x2, (Part<16> codes, F32 scale)) {                                       \
    return {narrow(number_of<Kind>(codes.value, scale)), narrow(number_of<Kind>(codes.value >> 8, scale))};       \
  }                                                                                                               \
  LANES(v_cvt_scalef32_pk_bf16_##name, U16x2, (Part<16> codes, F32 scale)) {                                      \
    return {to_brain(number_of<Kind>(codes.value, scale)), to_brain(number_of<Kind>(codes.value >> 8, scale))};   \
  }
BYTES(fp8, OcpFp8)
BYTES(bf8, OcpBf8)

// --- 4 bits ---------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline OneByte two_nibbles(F32 a, F32 b, F32 scale) {
  return {code_of<Fp4>(a, scale) | code_of<Fp4>(b, scale) << 4};
}
[[gnu::always_inline]] inline OneByte noisy_nibbles(F32 a, F32 b, U32 noise, F32 scale) {
  return {noisy_code_of<Fp4>(a, noise, scale) | noisy_code_of<Fp4>(b, v_prng_b32(noise), scale) << 4};
}
LANES(v_cvt_scalef32_pk_fp4_f32, OneByte, (F32 a, F32 b, F32 scale, Old<U32>)) { return two_nibbles(a, b, scale); }
LANES(v_cvt_scalef32_pk_fp4_f16, OneByte, (F16x2 a, F32 scale, Old<U32>)) {
  return two_nibbles(widen(a.lo), widen(a.hi), scale);
}
LANES(v_cvt_scalef32_pk_fp4_bf16, OneByte, (U16x2 a, F32 scale, Old<U32>)) {
  return two_nibbles(widen(a.lo), widen(a.hi), scale);
}
LANES(v_cvt_scalef32_sr_pk_fp4_f32, OneByte, (F32x2 a, U32 noise, F32 scale, Old<U32>)) {
  return noisy_nibbles(a.lo, a.hi, noise, scale);
}
LANES(v_cvt_scalef32_sr_pk_fp4_f16, OneByte, (F16x2 a, U32 noise, F32 scale, Old<U32>)) {
  return noisy_nibbles(widen(a.lo), widen(a.hi), noise, scale);
}
LANES(v_cvt_scalef32_sr_pk_fp4_bf16, OneByte, (U16x2 a, U32 noise, F32 scale, Old<U32>)) {
  return noisy_nibbles(widen(a.lo), widen(a.hi), noise, scale);
}
LANES(v_cvt_scalef32_pk_f32_fp4, F32x2, (Part<8> codes, F32 scale)) {
  return {number_of<Fp4>(codes.value, scale), number_of<Fp4>(codes.value >> 4, scale)};
}
LANES(v_cvt_scalef32_pk_f16_fp4, F16x2, (Part<8> codes, F32 scale)) {
  return {narrow(number_of<Fp4>(codes.value, scale)), narrow(number_of<Fp4>(codes.value >> 4, scale))};
}
LANES(v_cvt_scalef32_pk_bf16_fp4, U16x2, (Part<8> codes, F32 scale)) {
  return {to_brain(number_of<Fp4>(codes.value, scale)), to_brain(number_of<Fp4>(codes.value >> 4, scale))};
}

// --- 32 numbers of 6 bits -------------------------------------------------------------------------------------------

using Codes = LaneWords<6>;    ///< 32 codes of 6 bits
using Halves = LaneWords<16>;  ///< 32 halves, or bfloat16s
using Singles = LaneWords<32>;

template <unsigned count>
[[gnu::always_inline]] inline F32 single(const LaneWords<count>& numbers, unsigned i) {
  return bits<F32>(numbers.word[i]);
}
template <unsigned count>
[[gnu::always_inline]] inline U16 half_bits(const LaneWords<count>& numbers, unsigned i) {
  return convert<U16>(numbers.word[i / 2] >> (i % 2 * 16));
}
template <unsigned count>
[[gnu::always_inline]] inline F32 half(const LaneWords<count>& numbers, unsigned i) {
  return widen(bits<F16>(half_bits(numbers, i)));
}
template <unsigned count>
[[gnu::always_inline]] inline F32 brain(const LaneWords<count>& numbers, unsigned i) {
  return widen(half_bits(numbers, i));
}

template <typename Kind, auto number, typename Numbers>
[[gnu::always_inline]] inline Codes codes_of(const Numbers& numbers, F32 scale) {
  Codes codes{};
  for (unsigned i = 0; i < 32; ++i) put_field<6>(codes, i, code_of<Kind>(number(numbers, i), scale));
  return codes;
}
template <typename Kind, auto number, typename Numbers>
[[gnu::always_inline]] inline Codes noisy_codes_of(const Numbers& numbers, U32 noise, F32 scale) {
  Codes codes{};
  for (unsigned i = 0; i < 32; ++i) {
    put_field<6>(codes, i, noisy_code_of<Kind>(number(numbers, i), noise, scale));
    noise = v_prng_b32(noise);
  }
  return codes;
}
/// Both halves' first numbers, both halves' second ones, and so on.
template <typename Kind>
[[gnu::always_inline]] inline Codes interleaved_codes_of(const LaneWords<16>& a, const LaneWords<16>& b, F32 scale) {
  Codes codes{};
  for (unsigned i = 0; i < 16; ++i) {
    put_field<6>(codes, 2 * i, code_of<Kind>(bits<F32>(a.word[i]), scale));
    put_field<6>(codes, 2 * i + 1, code_of<Kind>(bits<F32>(b.word[i]), scale));
  }
  return codes;
}
template <typename Kind>
[[gnu::always_inline]] inline Singles singles_of(const Codes& codes, F32 scale) {
  Singles numbers;
  for (unsigned i = 0; i < 32; ++i) numbers.word[i] = bits<U32>(number_of<Kind>(get_field<6>(codes, i), scale));
  return numbers;
}
template <typename Kind, auto narrowed>
[[gnu::always_inline]] inline Halves halves_of(const Codes& codes, F32 scale) {
  Halves numbers{};
  for (unsigned i = 0; i < 32; ++i) {
    numbers.word[i / 2] |= convert<U32>(narrowed(number_of<Kind>(get_field<6>(codes, i), scale))) << (i % 2 * 16);
  }
  return numbers;
}
[[gnu::always_inline]] inline U16 narrow_bits(F32 a) { return bits<U16>(narrow(a)); }

#define SIXES(name, Kind)                                                                                              \
  LANES(v_cvt_scalef32_2xpk16_##name##_f32, Codes, (LaneWords<16> a, LaneWords<16> b, F32 scale)) {                    \
    return interleaved_codes_of<Kind>(a, b, scale);                                                                    \
  }                                                                                                                    \
  LANES(v_cvt_scalef32_sr_pk32_##name##_f32, Codes, (Singles a, U32 noise, F32 scale)) {                               \
    return noisy_codes_of<Kind, single<32>>(a, noise, scale);                                                          \
  }                                                                                                                    \
  LANES(v_cvt_scalef32_pk32_##name##_f16, Codes, (Halves a, F32 scale)) { return codes_of<Kind, half<16>>(a, scale); } \
  LANES(v_cvt_scalef32_pk32_##name##_bf16, Codes, (Halves a, F32 scale)) {                                             \
    return codes_of<Kind, brain<16>>(a, scale);                                                                        \
  }                                                                                                                    \
  LANES(v_cvt_scalef32_sr_pk32_##name##_f16, Codes, (Halves a, U32 noise, F32 scale)) {                                \
    return noisy_codes_of<Kind, half<16>>(a, noise, scale);                                                            \
  }                                                                                                                    \
  LANES(v_cvt_scalef32_sr_pk32_##name##_bf16, Codes, (Halves a, U32 noise, F32 scale)) {                               \
    return noisy_codes_of<Kind, brain<16>>(a, noise, scale);                                                           \
  }                                                                                                                    \
  LANES(v_cvt_scalef32_pk32_f32_##name, Singles, (Codes a, F32 scale)) { return singles_of<Kind>(a, scale); }          \
  LANES(v_cvt_scalef32_pk32_f16_##name, Halves, (Codes a, F32 scale)) {                                                \
    return halves_of<Kind, narrow_bits>(a, scale);                                                                     \
  }                                                                                                                    \
  LANES(v_cvt_scalef32_pk32_bf16_##name, Halves, (Codes a, F32 scale)) { return halves_of<Kind, to_brain>(a, scale); }
SIXES(fp6, Fp6)
SIXES(bf6, Bf6)

// --- 8 or 16 numbers, of GFX12.5 ------------------------------------------------------------------------------------
// On their way back a byte of the scale's register is the exponent, E8M0; the instruction says which (scale_sel). Its
// third bit, of whose meaning nothing is published, is not looked at.

/// Operand in place of the truth table that other instructions have.
using ScaleSelect = TruthTable;

[[gnu::always_inline]] inline F32 chosen_scale(U32 scales, ScaleSelect select) {
  return scale_factor(bits<I32>(scales >> 8 * (select.bits & 3u) & 0xFF) - 127);
}
template <typename Kind>
constexpr unsigned code_width = 1 + Kind::exponent_bits + Kind::fraction_bits;
template <typename Kind, unsigned count>
using CodesOf = LaneWords<(count * code_width<Kind> + 31) / 32>;
template <typename Kind>
using Codes8 = CodesOf<Kind, 8>;
template <typename Kind>
using Codes16 = CodesOf<Kind, 16>;

template <typename Kind, unsigned count, auto number, typename Numbers>
[[gnu::always_inline]] inline CodesOf<Kind, count> packed_codes(const Numbers& numbers, F32 scale) {
  CodesOf<Kind, count> codes{};
  for (unsigned i = 0; i < count; ++i) {
    put_field<code_width<Kind>>(codes, i, code_of<Kind>(number(numbers, i), scale));
  }
  return codes;
}
template <typename Kind, unsigned count, auto number, typename Numbers>
[[gnu::always_inline]] inline CodesOf<Kind, count> noisy_packed_codes(const Numbers& numbers, U32 noise, F32 scale) {
  CodesOf<Kind, count> codes{};
  for (unsigned i = 0; i < count; ++i) {
    put_field<code_width<Kind>>(codes, i, noisy_code_of<Kind>(number(numbers, i), noise, scale));
    noise = v_prng_b32(noise);
  }
  return codes;
}
template <typename Kind, unsigned count>
[[gnu::always_inline]] inline LaneWords<count> unpacked_singles(const CodesOf<Kind, count>& codes, F32 scale) {
  LaneWords<count> numbers;
  for (unsigned i = 0; i < count; ++i) {
    numbers.word[i] = bits<U32>(mul(decode<Kind>(get_field<code_width<Kind>>(codes, i)), scale));
  }
  return numbers;
}
template <typename Kind, unsigned count, auto narrowed>
[[gnu::always_inline]] inline LaneWords<count / 2> unpacked_halves(const CodesOf<Kind, count>& codes, F32 scale) {
  LaneWords<count / 2> numbers{};
  for (unsigned i = 0; i < count; ++i) {
    const F32 number = mul(decode<Kind>(get_field<code_width<Kind>>(codes, i)), scale);
    numbers.word[i / 2] |= convert<U32>(narrowed(number)) << (i % 2 * 16);
  }
  return numbers;
}

#define PACKED(count, name, Kind)                                                                                     \
  LANES(v_cvt_scale_pk##count##_f32_##name, LaneWords<count>,                                                         \
        (CodesOf<Kind, count> a, U32 scales, ScaleSelect which)) {                                                    \
    return unpacked_singles<Kind, count>(a, chosen_scale(scales, which));                                             \
  }                                                                                                                   \
  LANES(v_cvt_scale_pk##count##_f16_##name, LaneWords<count / 2>,                                                     \
        (CodesOf<Kind, count> a, U32 scales, ScaleSelect which)) {                                                    \
    return unpacked_halves<Kind, count, narrow_bits>(a, chosen_scale(scales, which));                                 \
  }                                                                                                                   \
  LANES(v_cvt_scale_pk##count##_bf16_##name, LaneWords<count / 2>,                                                    \
        (CodesOf<Kind, count> a, U32 scales, ScaleSelect which)) {                                                    \
    return unpacked_halves<Kind, count, to_brain>(a, chosen_scale(scales, which));                                    \
  }                                                                                                                   \
  LANES(v_cvt_scalef32_pk##count##_##name##_f32, Codes##count<Kind>, (LaneWords<count> a, F32 scale)) {               \
    return packed_codes<Kind, count, single<count>>(a, scale);                                                        \
  }                                                                                                                   \
  LANES(v_cvt_scalef32_pk##count##_##name##_f16, Codes##count<Kind>, (LaneWords<count / 2> a, F32 scale)) {           \
    return packed_codes<Kind, count, half<count / 2>>(a, scale);                                                      \
  }                                                                                                                   \
  LANES(v_cvt_scalef32_pk##count##_##name##_bf16, Codes##count<Kind>, (LaneWords<count / 2> a, F32 scale)) {          \
    return packed_codes<Kind, count, brain<count / 2>>(a, scale);                                                     \
  }                                                                                                                   \
  LANES(v_cvt_scalef32_sr_pk##count##_##name##_f32, Codes##count<Kind>, (LaneWords<count> a, U32 noise, F32 scale)) { \
    return noisy_packed_codes<Kind, count, single<count>>(a, noise, scale);                                           \
  }                                                                                                                   \
  LANES(v_cvt_scalef32_sr_pk##count##_##name##_f16, Codes##count<Kind>,                                               \
        (LaneWords<count / 2> a, U32 noise, F32 scale)) {                                                             \
    return noisy_packed_codes<Kind, count, half<count / 2>>(a, noise, scale);                                         \
  }                                                                                                                   \
  LANES(v_cvt_scalef32_sr_pk##count##_##name##_bf16, Codes##count<Kind>,                                              \
        (LaneWords<count / 2> a, U32 noise, F32 scale)) {                                                             \
    return noisy_packed_codes<Kind, count, brain<count / 2>>(a, noise, scale);                                        \
  }
PACKED(8, fp8, OcpFp8)
PACKED(8, bf8, OcpBf8)
PACKED(8, fp4, Fp4)
PACKED(16, fp6, Fp6)
PACKED(16, bf6, Bf6)

std::span<const VectorEntry> float_scaled_entries() {
#define BYTE_ENTRIES(name)                                                                             \
  MODELESS_ENTRY(v_cvt_scalef32_pk_##name##_f32), MODELESS_ENTRY(v_cvt_scalef32_pk_##name##_f16),      \
      MODELESS_ENTRY(v_cvt_scalef32_pk_##name##_bf16), MODELESS_ENTRY(v_cvt_scalef32_sr_##name##_f32), \
      MODELESS_ENTRY(v_cvt_scalef32_sr_##name##_f16), MODELESS_ENTRY(v_cvt_scalef32_sr_##name##_bf16), \
      MODELESS_ENTRY(v_cvt_scalef32_f32_##name), MODELESS_ENTRY(v_cvt_scalef32_f16_##name),            \
      MODELESS_ENTRY(v_cvt_scalef32_pk_f32_##name), MODELESS_ENTRY(v_cvt_scalef32_pk_f16_##name),      \
      MODELESS_ENTRY(v_cvt_scalef32_pk_bf16_##name)
#define SIX_ENTRIES(name)                                                                                        \
  MODELESS_ENTRY(v_cvt_scalef32_2xpk16_##name##_f32), MODELESS_ENTRY(v_cvt_scalef32_sr_pk32_##name##_f32),       \
      MODELESS_ENTRY(v_cvt_scalef32_pk32_##name##_f16), MODELESS_ENTRY(v_cvt_scalef32_pk32_##name##_bf16),       \
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk32_##name##_f16), MODELESS_ENTRY(v_cvt_scalef32_sr_pk32_##name##_bf16), \
      MODELESS_ENTRY(v_cvt_scalef32_pk32_f32_##name), MODELESS_ENTRY(v_cvt_scalef32_pk32_f16_##name),            \
      MODELESS_ENTRY(v_cvt_scalef32_pk32_bf16_##name)
#define PACKED_ENTRIES(count, name)                                                                                 \
  MODELESS_ENTRY(v_cvt_scale_pk##count##_f32_##name), MODELESS_ENTRY(v_cvt_scale_pk##count##_f16_##name),           \
      MODELESS_ENTRY(v_cvt_scale_pk##count##_bf16_##name), MODELESS_ENTRY(v_cvt_scalef32_pk##count##_##name##_f32), \
      MODELESS_ENTRY(v_cvt_scalef32_pk##count##_##name##_f16),                                                      \
      MODELESS_ENTRY(v_cvt_scalef32_pk##count##_##name##_bf16),                                                     \
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk##count##_##name##_f32),                                                   \
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk##count##_##name##_f16),                                                   \
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk##count##_##name##_bf16)
  static constexpr VectorEntry entries[] = {
      PACKED_ENTRIES(8, fp8),
      PACKED_ENTRIES(8, bf8),
      PACKED_ENTRIES(8, fp4),
      PACKED_ENTRIES(16, fp6),
      PACKED_ENTRIES(16, bf6),
      MODELESS_ENTRY(v_prng_b32),
      BYTE_ENTRIES(fp8),
      BYTE_ENTRIES(bf8),
      MODELESS_ENTRY(v_cvt_scalef32_pk_fp4_f32),
      MODELESS_ENTRY(v_cvt_scalef32_pk_fp4_f16),
      MODELESS_ENTRY(v_cvt_scalef32_pk_fp4_bf16),
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk_fp4_f32),
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk_fp4_f16),
      MODELESS_ENTRY(v_cvt_scalef32_sr_pk_fp4_bf16),
      MODELESS_ENTRY(v_cvt_scalef32_pk_f32_fp4),
      MODELESS_ENTRY(v_cvt_scalef32_pk_f16_fp4),
      MODELESS_ENTRY(v_cvt_scalef32_pk_bf16_fp4),
      SIX_ENTRIES(fp6),
      SIX_ENTRIES(bf6),
  };
#undef BYTE_ENTRIES
#undef SIX_ENTRIES
#undef PACKED_ENTRIES
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: floating-point formats of 8, 6 and 4 bits: a sign, a few bits of exponent and a few of fraction.
//
// FP8 (4 bits of exponent, 3 of fraction) and BF8 (5 and 2) are of two kinds. gfx942's are FNUZ: exponents biased by 8
// and 16, no infinities, and a single NaN, 0x80, in the place of -0. Those of gfx950 and GFX12 are the Open Compute
// Project's E4M3 and E5M2 ("OCP 8-bit Floating Point Specification"): biased by 7 and 15, with a -0; E4M3's largest
// code is its NaN, E5M2 has infinities and NaNs as IEEE's formats do. FP6 (E2M3), BF6 (E3M2) and FP4 (E2M1) of gfx950
// are those of the "OCP Microscaling Formats Specification": numbers only, no infinities and no NaN.
//
// A number too large to round to the largest becomes infinity where there is one, else NaN, and where there is neither,
// the largest. So it does where MODE.FP16_OVFL says so, infinities among them, in the conversions that have no scale
// (the vendor's emulator of GFX12.5 has that, ROCm's quick reduction relies on it on gfx942).
#pragma once

#include "semantics/float/float_lanes.h"
#include "semantics/host_isa.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// `largest` is the greatest code of a number; `overflow`, `nan`: the codes of those. All without the sign.
struct FnuzFp8 {
  static constexpr int exponent_bits = 4, fraction_bits = 3, bias = 8;
  static constexpr uint32_t largest = 0x7F;
};
struct FnuzBf8 {
  static constexpr int exponent_bits = 5, fraction_bits = 2, bias = 16;
  static constexpr uint32_t largest = 0x7F;
};
struct OcpFp8 {
  static constexpr int exponent_bits = 4, fraction_bits = 3, bias = 7;
  static constexpr uint32_t largest = 0x7E, overflow = 0x7F, nan = 0x7F;
};
struct OcpBf8 {
  static constexpr int exponent_bits = 5, fraction_bits = 2, bias = 15;
  static constexpr uint32_t largest = 0x7B, overflow = 0x7C, nan = 0x7E;
};
/// Without a sign: what FP8 is on GFX12.5 where an instruction's clamp bit says so, and a scale of its matrices.
struct E5M3 {
  static constexpr int exponent_bits = 5, fraction_bits = 3, bias = 15;
  static constexpr uint32_t largest = 0xFE, overflow = 0xFF, nan = 0xFF;
};
struct Fp6 {
  static constexpr int exponent_bits = 2, fraction_bits = 3, bias = 1;
  static constexpr uint32_t largest = 0x1F, overflow = 0x1F, nan = 0x1F;
};
struct Bf6 {
  static constexpr int exponent_bits = 3, fraction_bits = 2, bias = 3;
  static constexpr uint32_t largest = 0x1F, overflow = 0x1F, nan = 0x1F;
};
struct Fp4 {
  static constexpr int exponent_bits = 2, fraction_bits = 1, bias = 1;
  static constexpr uint32_t largest = 0x7, overflow = 0x7, nan = 0x7;
};

template <typename Kind>
constexpr uint32_t sign_bit = 1u << (Kind::exponent_bits + Kind::fraction_bits);
template <typename Kind>
constexpr bool is_fnuz = Kind::largest == 0x7F;

/// 2 to a power from -126 to 127.
constexpr float power_of_two(int power) { return __builtin_bit_cast(float, (power + 127) << 23); }

/// The number in the low bits of each lane, whatever stands above them; always exact.
template <typename Kind>
[[gnu::always_inline]] inline F32 decode(U32 code) {
  constexpr int width = Kind::exponent_bits + Kind::fraction_bits;
  const U32 size = code & (sign_bit<Kind> - 1);
  // As the fields of a single, with its bias. Those of a denormal become the fraction of the least normal number, which
  // is then subtracted: hosts are slow with denormals of their own.
  constexpr uint32_t unit = 1u << 23;
  const U32 fields = (size << (23 - Kind::fraction_bits)) + (127 - Kind::bias) * unit;
  const F32 denormal = bits<F32>(fields + unit) - power_of_two(1 - Kind::bias);
  F32 number = select(size < (1u << Kind::fraction_bits), denormal, bits<F32>(fields));
  if constexpr (is_fnuz<Kind>) {
    number = select((code & 0xFF) == 0x80, pattern<F32>(0x7FC00000), number);
  } else if constexpr (Kind::overflow != Kind::largest) {
    number = select(size > U32(Kind::largest), pattern<F32>(0x7FC00000), number);
    if constexpr (Kind::overflow != Kind::nan) {
      number = select(size == U32(Kind::overflow), infinity<F32>(), number);
    }
  }
  const U32 sign = (code & sign_bit<Kind>) << (31 - width);
  if constexpr (is_fnuz<Kind>) {
    return bits<F32>(bits<U32>(number) | select(size == 0, U32(0), sign));
  } else {
    return bits<F32>(bits<U32>(number) | sign);
  }
}

/// The nearest code, ties to even; toward zero if `truncate`. If `clamps`, what is too large becomes the largest
/// number.
template <typename Kind>
[[gnu::always_inline]] inline U32 encode(F32 a, bool truncate = false, bool clamps = false) {
  constexpr int fraction_bits = Kind::fraction_bits, smallest = 1 - Kind::bias;
  const F32 size = magnitude(a);
  const I32 exponent = __builtin_elementwise_max((bits<I32>(size) >> 23) - 127, I32(smallest));
  // In steps of the format's last place at this exponent.
  const F32 steps = size * bits<F32>((fraction_bits - exponent + 127) << 23);
  const F32 whole = truncate ? __builtin_elementwise_trunc(steps) : __builtin_elementwise_roundeven(steps);
  const auto sane = (exponent < 100) & (whole < 256);
  const U32 code = bits<U32>(((exponent - smallest) << fraction_bits) + convert<I32>(select(sane, whole, F32(0))));
  const auto fits = sane & (code <= U32(Kind::largest));
  const U32 sign = bits<U32>(a) >> (31 - Kind::exponent_bits - Kind::fraction_bits) & sign_bit<Kind>;
  if constexpr (is_fnuz<Kind>) {
    const U32 overflow = clamps ? select(a == a, Kind::largest | sign, U32(0x80)) : U32(0x80);
    return select(fits, select(code == 0, U32(0), code | sign), overflow);
  } else {
    const U32 overflow = U32(clamps ? Kind::largest : Kind::overflow);
    return sign | select(fits, code, select(a == a, overflow, U32(Kind::nan)));
  }
}

// In the formats that the GPU has.
[[gnu::always_inline]] inline F32 from_fp8(U32 code, FloatMode mode) {
  return mode.eight_bit == Fp8Format::ocp ? decode<OcpFp8>(code) : decode<FnuzFp8>(code);
}
[[gnu::always_inline]] inline F32 from_bf8(U32 code, FloatMode mode) {
  return mode.eight_bit == Fp8Format::ocp ? decode<OcpBf8>(code) : decode<FnuzBf8>(code);
}
[[gnu::always_inline]] inline U32 to_fp8(F32 a, FloatMode mode, bool truncate = false) {
  return mode.eight_bit == Fp8Format::ocp ? encode<OcpFp8>(a, truncate, mode.clamps_overflow)
                                          : encode<FnuzFp8>(a, truncate, mode.clamps_overflow);
}
[[gnu::always_inline]] inline U32 to_bf8(F32 a, FloatMode mode, bool truncate = false) {
  return mode.eight_bit == Fp8Format::ocp ? encode<OcpBf8>(a, truncate, mode.clamps_overflow)
                                          : encode<FnuzBf8>(a, truncate, mode.clamps_overflow);
}

/// `a` with random bits added to its fraction, to be cut off after: it becomes the next larger code with a probability
/// that is its distance from the smaller one. As the vendor's software model has it, a sum that leaves the fraction
/// carries into the exponent (the pseudo-code would wrap around, to a smaller number).
[[gnu::always_inline]] inline F32 with_noise(F32 a, U32 noise) {
  return select(magnitude(a) < infinity<F32>(), bits<F32>(bits<U32>(a) + noise), a);
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

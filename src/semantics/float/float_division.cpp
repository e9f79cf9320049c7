// semantics: the instructions that compilers divide with.
//
// A division n / d is a sequence (LLVM's expansion of fdiv): V_DIV_SCALE moves d and n to where no intermediate result
// overflows or loses bits as a denormal, V_RCP and a few V_FMA approach the quotient, V_DIV_FMAS takes the last step
// and undoes the scaling, V_DIV_FIXUP puts in the results of special operands and the sign. Together they must round as
// IEEE division does. Two places of the ISA guides' pseudo-code would not: V_DIV_FMAS multiplies by 2^32 (2^64 for
// doubles) whichever way V_DIV_SCALE scaled, and V_DIV_SCALE makes a large denominator larger. Here the first
// multiplies by the scale's inverse, 2^64 or 2^-64 (2^128 or 2^-128), and the second makes it smaller.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/float_scale.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

template <typename T>
struct Division;
template <>
struct Division<F32> {
  static constexpr int scale = 64;        ///< exponent of the scaling factor
  static constexpr int large = 96;        ///< quotients of at least about 2^large are scaled down
  static constexpr int tiny = 23;         ///< numerators of biased exponent up to this lose bits of their residue
  static constexpr int small = -126;      ///< quotients whose exponents differ by this or less may be denormals
  static constexpr int underflow = -150;  ///< difference of exponents below which the quotient is under half a denormal
  static constexpr float smallest_normal = 0x1p-126f, reciprocal_is_denormal = 0x1p126f, smallest = 0x1p-149f;
  static constexpr float up = 0x1p64f, down = 0x1p-64f;
};
template <>
struct Division<F64> {
  static constexpr int scale = 128, large = 768, tiny = 53, small = -1022, underflow = -1075;
  static constexpr double smallest_normal = 0x1p-1022, reciprocal_is_denormal = 0x1p1022, smallest = 0x1p-1074;
  static constexpr double up = 0x1p128, down = 0x1p-128;
};

template <typename T>
[[gnu::always_inline]] inline auto biased_exponent(T a) {
  return bits<decltype(a < a)>((bits<BitsOf<T>>(a) & BitsOf<T>(Format<T>::exponent)) >> Format<T>::fraction_bits);
}

/// `a` is the denominator to scale the denominator, the numerator to scale the numerator. The mask is set where the
/// quotient is scaled, and where an operand is zero. The exponents decide whether the quotient may be a denormal.
/// Measured on GFX11 (tinygrad, test/amd/hw/test_vop3.py): VCC is 1 for 0 / 1, 1 / 0 and 2^-126 / 1.
template <typename T>
[[gnu::always_inline]] inline WithMask<T> scale_for_division(T a, T denominator, T numerator) {
  using D = Division<T>;
  const auto difference = biased_exponent(numerator) - biased_exponent(denominator);
  const auto is_zero = (denominator == 0) | (numerator == 0);
  const auto large = difference >= D::large;
  const auto denormal_denominator = magnitude(denominator) < T(D::smallest_normal);
  const auto denormal_reciprocal = magnitude(denominator) > T(D::reciprocal_is_denormal);
  const auto denormal_quotient = (difference <= D::small) & (denominator == denominator);
  const auto tiny = biased_exponent(numerator) <= D::tiny;

  const T up = a * D::up, down = a * D::down;
  const auto is_denominator = a == denominator, is_numerator = a == numerator;
  // From the last rule to the first: an earlier one prevails.
  T result = select(tiny, up, a);
  result = select(denormal_quotient, select(is_numerator, up, a), result);
  result = select(denormal_reciprocal, select(denormal_quotient, select(is_denominator, down, a), down), result);
  result = select(denormal_denominator, up, result);
  result = select(large, select(is_denominator, up, a), result);
  result = select(is_nan(a), a, result);
  result = select(is_zero, pattern<T>(Format<T>::default_nan), result);
  const auto scaled = is_zero | large | (~denormal_denominator & denormal_quotient);
  return {result, mask_of(scaled)};
}
LANES(v_div_scale_f32, WithMask<F32>, (F32 a, F32 denominator, F32 numerator)) {
  return scale_for_division(a, denominator, numerator);
}
LANES(v_div_scale_f64, WithMask<F64>, (F64 a, F64 denominator, F64 numerator)) {
  return scale_for_division(a, denominator, numerator);
}

/// GFX12 makes a signaling NaN quiet, earlier generations pass it on, whatever MODE.IEEE is (measured on gfx90a,
/// gfx950, gfx1100 and gfx1201: llvm/llvm-project#208733).
template <typename T>
[[gnu::always_inline]] inline WithMask<T> scale_and_quiet(T a, T denominator, T numerator) {
  const WithMask<T> scaled = scale_for_division(a, denominator, numerator);
  return {select(is_nan(scaled.value), quiet(scaled.value), scaled.value), scaled.mask};
}

/// a * b + c; where `scaled`, times the scale that V_DIV_SCALE took out of the quotient. `c` is nearly the quotient: at
/// least 2 if the true one is too large, less if it is a denormal. Rounded once.
template <typename T>
[[gnu::always_inline]] inline T fused_step(T a, T b, T c, Mask scaled, Round round) {
  using D = Division<T>;
  const T plain = fma(a, b, c);
  if (scaled.bits == 0) return plain;
  T small = plain * D::down;
  if (round == Round::nearest_even) {
    // This second rounding is wrong where it broke a tie that is none, because the fma had rounded: what it rounded off
    // says on which side the sum is.
    const T product = a * b;
    const T error = ((c - plain) + product) + fused(a, b, -product);
    const T rest = plain - small * D::up;  // exact
    const auto was_tie = magnitude(rest) == T(D::smallest * D::up / 2);
    const auto same_side = (rest > 0) == (error > 0);
    const T next = small + with_sign(T(D::smallest), rest);
    small = select(was_tie & (error != 0) & same_side, next, small);
  }
  const T restored = select(magnitude(c) >= T(2), plain * D::up, small);
  const auto nan = plain != plain;
  if constexpr (sizeof(T) == sizeof(F64)) {
    return select(convert<I64>(lanes_of(scaled)) & ~nan, restored, plain);
  } else {
    return select(lanes_of(scaled) & ~nan, restored, plain);
  }
}
LANES(v_div_fmas_f32, F32, (F32 a, F32 b, F32 c, Mask scaled, FloatMode mode)) {
  return fused_step(a, b, c, scaled, mode.round32);
}
LANES(v_div_fmas_f64, F64, (F64 a, F64 b, F64 c, Mask scaled, FloatMode mode)) {
  return fused_step(a, b, c, scaled, mode.round16_64);
}

/// The quotient's magnitude is `a`, unless the operands decide it without division.
template <typename T>
[[gnu::always_inline]] inline T fix_quotient(T a, T denominator, T numerator) {
  using B = BitsOf<T>;
  using F = Format<T>;
  const B sign = (bits<B>(denominator) ^ bits<B>(numerator)) & B(F::sign);
  const B n = bits<B>(numerator) & ~B(F::sign), d = bits<B>(denominator) & ~B(F::sign);
  const B infinite = B(F::exponent);
  B result = sign | (bits<B>(a) & ~B(F::sign));
  if constexpr (sizeof(T) != sizeof(F16)) {
    using D = Division<T>;
    const auto underflows = biased_exponent(numerator) - biased_exponent(denominator) < D::underflow;
    // Between finite operands NaN comes from an intermediate quotient that overflowed.
    const auto overflows = is_nan(a);
    if (any(underflows | overflows)) [[unlikely]] {
      // Rounded in the wave's mode: to 0 or the smallest denormal, to infinity or the largest number.
      using Number = typename row::Element<T>::type;
      const T underflow = bits<T>(sign | bits<B>(T(D::smallest))) * static_cast<Number>(0.25);
      const T overflow = bits<T>(sign | (infinite - B(1))) * static_cast<Number>(4);
      result = select(overflows, bits<B>(overflow), result);
      result = select(underflows, bits<B>(underflow), result);
    }
  }
  result = select((d == infinite) | (n == 0), sign, result);
  result = select((d == 0) | (n == infinite), sign | infinite, result);
  // The pseudo-code's 0xFFC00000 and its like: the negative default NaN.
  result = select(((d == 0) & (n == 0)) | ((d == infinite) & (n == infinite)), B(F::sign | F::default_nan), result);
  result = select(d > infinite, bits<B>(quiet(denominator)), result);
  result = select(n > infinite, bits<B>(quiet(numerator)), result);
  return bits<T>(result);
}
LANES(v_div_fixup_f32, F32, (F32 a, F32 denominator, F32 numerator)) { return fix_quotient(a, denominator, numerator); }
LANES(v_div_fixup_f64, F64, (F64 a, F64 denominator, F64 numerator)) { return fix_quotient(a, denominator, numerator); }
LANES(v_div_fixup_f16, LowHalf<F16>, (F16 a, F16 denominator, F16 numerator)) {
  return {fix_quotient(a, denominator, numerator)};
}
LANES(v_div_fixup_legacy_f16, F16, (F16 a, F16 denominator, F16 numerator)) {
  return fix_quotient(a, denominator, numerator);
}

std::span<const VectorEntry> float_division_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_div_scale_f32),
      ENTRY(v_div_scale_f64),
      ENTRY_SINCE(gfx12, v_div_scale_f32, scale_and_quiet<F32>),
      ENTRY_SINCE(gfx12, v_div_scale_f64, scale_and_quiet<F64>),
      ENTRY(v_div_fmas_f32),
      ENTRY(v_div_fmas_f64),
      ENTRY(v_div_fixup_f32),
      ENTRY(v_div_fixup_f64),
      EXACT_INFINITY_ENTRY(v_div_fixup_f16),
      EXACT_INFINITY_ENTRY(v_div_fixup_legacy_f16),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: half-precision arithmetic, one value or two to a register.
//
// Most instructions with a 16-bit result clear the upper half of its register. GFX9 gave some a new opcode that leaves
// it alone, LowHalf here, and kept the old ones as "legacy"; the ones that only GFX9 has leave it alone, too, and so do
// v_mac_f16, v_madmk_f16 and v_madak_f16 there (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest, from experiments). From
// GFX10 on all do (vector_function.cpp).
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

using F16x2 = Pair<F16>;

LANES(v_add_f16, F16, (F16 a, F16 b)) { return add(a, b); }
LANES(v_sub_f16, F16, (F16 a, F16 b)) { return sub(a, b); }
LANES(v_subrev_f16, F16, (F16 a, F16 b)) { return sub(b, a); }
LANES(v_mul_f16, F16, (F16 a, F16 b)) { return mul(a, b); }

LANES(v_fma_f16, LowHalf<F16>, (F16 a, F16 b, F16 c, FloatMode mode)) { return {fma(a, b, c, mode.round16_64)}; }
LANES(v_fmac_f16, F16, (F16 a, F16 b, Old<F16> d, FloatMode mode)) { return fma(a, b, d.value, mode.round16_64); }
LANES(v_fmamk_f16, F16, (F16 a, F16 k, F16 b, FloatMode mode)) { return fma(a, k, b, mode.round16_64); }
LANES(v_fmaak_f16, F16, (F16 a, F16 b, F16 k, FloatMode mode)) { return fma(a, b, k, mode.round16_64); }
LANES(v_fma_legacy_f16, F16, (F16 a, F16 b, F16 c, FloatMode mode)) { return fma(a, b, c, mode.round16_64); }

// As in single precision, v_mad and its kin round twice and know no denormals.
[[gnu::always_inline]] inline F16 flushing_mad(F16 a, F16 b, F16 c) {
  const F32 product = widen(flush(narrow(widen(flush(a)) * widen(flush(b)))));
  return flush(narrow(with_nan(product + widen(flush(c)), widen(a), widen(b), widen(c))));
}
LANES(v_mad_f16, LowHalf<F16>, (F16 a, F16 b, F16 c)) { return {flushing_mad(a, b, c)}; }
LANES(v_mad_legacy_f16, F16, (F16 a, F16 b, F16 c)) { return flushing_mad(a, b, c); }
LANES(v_mac_f16, F16, (F16 a, F16 b, Old<F16> d)) { return flushing_mad(a, b, d.value); }
LANES(v_madmk_f16, F16, (F16 a, F16 k, F16 b)) { return flushing_mad(a, k, b); }
LANES(v_madak_f16, F16, (F16 a, F16 b, F16 k)) { return flushing_mad(a, b, k); }

// --- Packed halves --------------------------------------------------------------------------------------------------
// A chunk has 32 halves: those of the first lanes and those of the last ones are a vector of singles each. So the two
// halves of a lane need not be separated.

using AllHalves = _Float16 __attribute__((ext_vector_type(2 * chunk_lanes)));
using HalfWords = uint16_t __attribute__((ext_vector_type(2 * chunk_lanes)));

[[gnu::always_inline]] inline F32 first_lanes(HalfPairs pairs) { return widen(F16(bits<AllHalves>(pairs.words).lo)); }
[[gnu::always_inline]] inline F32 last_lanes(HalfPairs pairs) { return widen(F16(bits<AllHalves>(pairs.words).hi)); }
[[gnu::always_inline]] inline U32 rounded(F32 first, F32 last) {
  return bits<U32>(HalfWords(__builtin_shufflevector(bits<U16>(narrow(first)), bits<U16>(narrow(last)), 0, 1, 2, 3, 4,
                                                     5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                                     23, 24, 25, 26, 27, 28, 29, 30, 31)));
}

[[gnu::always_inline]] inline F16x2 separated(U32 words) {
  return {bits<F16>(convert<U16>(words)), bits<F16>(convert<U16>(words >> 16))};
}
[[gnu::always_inline]] inline U32 joined(F16 low, F16 high) {
  return convert<U32>(bits<U16>(low)) | convert<U32>(bits<U16>(high)) << 16;
}
/// choose_nan() for both halves.
template <typename... Words>
[[gnu::always_inline]] inline U32 choose_half_nans(U32 result, Words... operands) {
  return joined(choose_nan(separated(result).lo, separated(operands).lo...),
                choose_nan(separated(result).hi, separated(operands).hi...));
}

[[gnu::always_inline]] inline U32 sums(HalfPairs a, HalfPairs b) {
  return rounded(first_lanes(a) + first_lanes(b), last_lanes(a) + last_lanes(b));
}
LANES(v_pk_add_f16, HalfPairs, (HalfPairs a, HalfPairs b)) {
  return {unless_half_nan<&choose_half_nans<U32, U32>>(sums(a, b), a.words, b.words)};
}
/// An invalid sum is a negative NaN on gfx942 and gfx950 (measured: SemiAnalysisAI/FuzzX, m140).
[[gnu::always_inline]] inline U32 choose_negative_nans(U32 result, U32 a, U32 b) {
  const auto chosen = [](F16 sum, F16 x, F16 y) __attribute__((always_inline)) {
    const F16 nan = choose_nan(sum, x, y);
    return select(is_nan(nan) & ~is_nan(x) & ~is_nan(y), negate(nan), nan);
  };
  return joined(chosen(separated(result).lo, separated(a).lo, separated(b).lo),
                chosen(separated(result).hi, separated(a).hi, separated(b).hi));
}
[[gnu::always_inline]] inline HalfPairs pk_add_with_negative_nan(HalfPairs a, HalfPairs b) {
  return {unless_half_nan<&choose_negative_nans>(sums(a, b), a.words, b.words)};
}
LANES(v_pk_mul_f16, HalfPairs, (HalfPairs a, HalfPairs b)) {
  const U32 products = rounded(first_lanes(a) * first_lanes(b), last_lanes(a) * last_lanes(b));
  return {unless_half_nan<&choose_half_nans<U32, U32>>(products, a.words, b.words)};
}
LANES(v_pk_fma_f16, HalfPairs, (HalfPairs a, HalfPairs b, HalfPairs c, FloatMode mode)) {
  const U32 sums = rounded(half_fma_to_odd(first_lanes(a), first_lanes(b), first_lanes(c), mode.round16_64),
                           half_fma_to_odd(last_lanes(a), last_lanes(b), last_lanes(c), mode.round16_64));
  return {unless_half_nan<&choose_half_nans<U32, U32, U32>>(sums, a.words, b.words, c.words)};
}
LANES(v_pk_fmac_f16, HalfPairs, (HalfPairs a, HalfPairs b, Old<HalfPairs> d, FloatMode mode)) {
  return v_pk_fma_f16(a, b, d.value, mode);
}
LANES(v_pack_b32_f16, F16x2, (F16 a, F16 b)) { return {a, b}; }

// --- v_mad_mix, v_fma_mix: each source single or half precision, as op_sel_hi says
// -------------------------------------

[[gnu::always_inline]] inline F32 mixed_fma(Mixed a, Mixed b, Mixed c) { return fma(a.value, b.value, c.value); }
[[gnu::always_inline]] inline F32 mixed_mad(Mixed a, Mixed b, Mixed c) {
  const F32 product = flush(flush(a.value) * flush(b.value));
  return flush(with_nan(product + flush(c.value), a.value, b.value, c.value));
}
/// Returns the result as a half, clamped, in the low half of each lane. The instruction's name decides which half
/// of the register receives it, so the writer cannot clamp.
[[gnu::always_inline]] inline U32 half_result(F32 value, Mixed a, Mixed b, Mixed c, Clamp clamp, FloatMode mode) {
  if (clamp.on) {
    const F32 nan = mode.dx10_clamp ? F32(0) : value;
    value = select(value > 1, F32(1), select(value > 0, value, select(value == value, F32(0), nan)));
  }
  F16 half = narrow(value);
  if ((static_cast<uint8_t>(mode.denormals16_64) & static_cast<uint8_t>(Denormals::allow_out)) == 0) half = flush(half);
  U32 result = convert<U32>(bits<U16>(half));
  if (mode.clamps_overflow) {
    const auto is_finite = [](Mixed source) { return magnitude(source.value) < infinity<F32>(); };
    const auto overflow = ((result & 0x7FFF) == 0x7C00) & is_finite(a) & is_finite(b) & is_finite(c);
    result = select(overflow, result - 1, result);
  }
  return result;
}
[[gnu::always_inline]] inline U32 into_low(U32 half, U32 old) { return (old & 0xFFFF0000u) | half; }
[[gnu::always_inline]] inline U32 into_high(U32 half, U32 old) { return (old & 0x0000FFFFu) | half << 16; }

LANES(v_fma_mix_f32, F32, (Mixed a, Mixed b, Mixed c)) { return mixed_fma(a, b, c); }
LANES(v_mad_mix_f32, F32, (Mixed a, Mixed b, Mixed c)) { return mixed_mad(a, b, c); }
LANES(v_fma_mixlo_f16, U32, (Mixed a, Mixed b, Mixed c, Old<U32> d, Clamp clamp, FloatMode mode)) {
  return into_low(half_result(mixed_fma(a, b, c), a, b, c, clamp, mode), d.value);
}
/// The unfused forms flush a denormal half in every mode (llvm/llvm-project#224911, Mesa).
[[gnu::always_inline]] inline U32 flushed_half_result(Mixed a, Mixed b, Mixed c, Clamp clamp, FloatMode mode) {
  mode.denormals16_64 = Denormals::flush_in_out;
  return half_result(mixed_mad(a, b, c), a, b, c, clamp, mode);
}
LANES(v_mad_mixlo_f16, U32, (Mixed a, Mixed b, Mixed c, Old<U32> d, Clamp clamp, FloatMode mode)) {
  return into_low(flushed_half_result(a, b, c, clamp, mode), d.value);
}
LANES(v_fma_mixhi_f16, U32, (Mixed a, Mixed b, Mixed c, Old<U32> d, Clamp clamp, FloatMode mode)) {
  return into_high(half_result(mixed_fma(a, b, c), a, b, c, clamp, mode), d.value);
}
LANES(v_mad_mixhi_f16, U32, (Mixed a, Mixed b, Mixed c, Old<U32> d, Clamp clamp, FloatMode mode)) {
  return into_high(flushed_half_result(a, b, c, clamp, mode), d.value);
}

std::span<const VectorEntry> float_half_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_add_f16),
      ENTRY(v_sub_f16),
      ENTRY(v_subrev_f16),
      ENTRY(v_mul_f16),
      ENTRY(v_fma_f16),
      ENTRY(v_fmac_f16),
      ENTRY(v_fmamk_f16),
      ENTRY(v_fmaak_f16),
      ENTRY(v_fma_legacy_f16),
      ENTRY(v_mad_f16),
      ENTRY(v_mad_legacy_f16),
      ENTRY(v_mac_f16),
      ENTRY(v_madmk_f16),
      ENTRY(v_madak_f16),
      ENTRY_SINCE(gfx9, v_mac_f16, KeepsUpperHalf<&v_mac_f16>::call),
      ENTRY_SINCE(gfx9, v_madmk_f16, KeepsUpperHalf<&v_madmk_f16>::call),
      ENTRY_SINCE(gfx9, v_madak_f16, KeepsUpperHalf<&v_madak_f16>::call),
      ENTRY(v_pk_add_f16),
      ENTRY_SINCE(gfx940, v_pk_add_f16, pk_add_with_negative_nan),
      ENTRY_SINCE(gfx10, v_pk_add_f16, v_pk_add_f16),
      ENTRY(v_pk_mul_f16),
      ENTRY(v_pk_fma_f16),
      ENTRY(v_pk_fmac_f16),
      MODELESS_ENTRY(v_pack_b32_f16),
      ENTRY(v_fma_mix_f32),
      ENTRY(v_mad_mix_f32),
      ENTRY(v_fma_mixlo_f16),
      ENTRY(v_mad_mixlo_f16),
      ENTRY(v_fma_mixhi_f16),
      ENTRY(v_mad_mixhi_f16),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

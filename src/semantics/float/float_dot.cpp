// semantics: dot products of pairs of 16-bit floats and of four 8-bit floats.
//
// The products are exact in single precision, so each step rounds once; the step of the lowest elements comes first
// (the vendor's pseudo-code). The unit ignores MODE: it rounds to nearest even, keeps the halves' denormals (but on
// gfx90a) and flushes the accumulator's and the result's if these are singles. LLVM forms these instructions only where
// that is right (FDOT2 in SIISelLowering).
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/small_floats.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

[[gnu::always_inline]] inline F32 dot2(Pair<F16> a, Pair<F16> b, F32 c) {
  return flush(fma(widen(a.hi), widen(b.hi), fma(widen(a.lo), widen(b.lo), flush(c))));
}
LANES(v_dot2_f32_f16, F32, (Pair<F16> a, Pair<F16> b, F32 c)) { return dot2(a, b, c); }
LANES(v_dot2c_f32_f16, F32, (Pair<F16> a, Pair<F16> b, Old<F32> c)) { return dot2(a, b, c.value); }

// gfx90a alone flushes the halves, too, in every mode (measured on several generations: llvm/llvm-project#205101).
[[gnu::always_inline]] inline F32 dot2_of_flushed(Pair<F16> a, Pair<F16> b, F32 c) {
  return dot2({flush(a.lo), flush(a.hi)}, {flush(b.lo), flush(b.hi)}, c);
}
[[gnu::always_inline]] inline F32 dot2c_of_flushed(Pair<F16> a, Pair<F16> b, Old<F32> c) {
  return dot2_of_flushed(a, b, c.value);
}

// gfx942 and gfx950 return one negative NaN, whatever NaN the operands have (measured: SemiAnalysisAI/FuzzX, m128).
[[gnu::always_inline]] inline F32 dot2_with_negative_nan(Pair<F16> a, Pair<F16> b, F32 c) {
  const F32 sum = dot2(a, b, c);
  return select(is_nan(sum), pattern<F32>(Format<F32>::default_nan | Format<F32>::sign), sum);
}
[[gnu::always_inline]] inline F32 dot2c_with_negative_nan(Pair<F16> a, Pair<F16> b, Old<F32> c) {
  return dot2_with_negative_nan(a, b, c.value);
}

// Dot products of bfloat16 pairs, whose products are exact in single precision, too. gfx950's v_dot2 adds the addend
// last; its v_dot2c and GFX11's v_dot2 begin with it (the vendor's pseudo-code).
[[gnu::always_inline]] inline F32 brain(U16 a) { return flush(bits<F32>(convert<U32>(a) << 16)); }
LANES(v_dot2_f32_bf16, F32, (Pair<U16> a, Pair<U16> b, F32 c)) {
  return flush(add(fma(brain(a.hi), brain(b.hi), mul(brain(a.lo), brain(b.lo))), flush(c)));
}
LANES(v_dot2c_f32_bf16, F32, (Pair<U16> a, Pair<U16> b, Old<F32> c)) {
  return flush(fma(brain(a.hi), brain(b.hi), fma(brain(a.lo), brain(b.lo), flush(c.value))));
}
[[gnu::always_inline]] inline F32 accumulator_first(Pair<U16> a, Pair<U16> b, F32 c) {
  return v_dot2c_f32_bf16(a, b, {c});
}

// GFX11's with a 16-bit accumulator, to which each step rounds.
LANES(v_dot2_f16_f16, F16, (Pair<F16> a, Pair<F16> b, F16 c)) {
  constexpr auto round = Round::nearest_even;
  return fma(a.hi, b.hi, fma(a.lo, b.lo, c, round), round);
}

/// a * b + c in bfloat16, rounded once.
[[gnu::always_inline]] inline U16 brain_fma(U16 a, U16 b, U16 c) {
  const F32 product = mul(brain(a), brain(b)), addend = brain(c);
  const F32 sum = add(product, addend);
  return to_brain(select(magnitude(sum) < infinity<F32>(), round_to_odd(sum, product, addend), sum));
}
LANES(v_dot2_bf16_bf16, U16, (Pair<U16> a, Pair<U16> b, U16 c)) {
  return brain_fma(a.hi, b.hi, brain_fma(a.lo, b.lo, c));
}

// Dot products of 8-bit floats, from GFX11.7 on.
template <F32 (*from_a)(U32, FloatMode), F32 (*from_b)(U32, FloatMode)>
[[gnu::always_inline]] inline F32 dot4(U32 a, U32 b, F32 c, FloatMode mode) {
  F32 sum = flush(c);
  for (unsigned i = 0; i < 32; i += 8) sum = fma(from_a(a >> i, mode), from_b(b >> i, mode), sum);
  return flush(sum);
}

std::span<const VectorEntry> float_dot_entries() {
#define DOT4(a, b) vector_entry<&dot4<&from_##a, &from_##b>, Mode::ignored>(isa::Opcode::v_dot4_f32_##a##_##b)
  static constexpr VectorEntry entries[] = {
      MODELESS_ENTRY(v_dot2_f32_f16),
      MODELESS_ENTRY_SINCE(gfx90a, v_dot2_f32_f16, dot2_of_flushed),
      MODELESS_ENTRY_SINCE(gfx940, v_dot2_f32_f16, dot2_with_negative_nan),
      MODELESS_ENTRY_SINCE(gfx10, v_dot2_f32_f16, v_dot2_f32_f16),
      MODELESS_ENTRY(v_dot2c_f32_f16),
      MODELESS_ENTRY_SINCE(gfx90a, v_dot2c_f32_f16, dot2c_of_flushed),
      MODELESS_ENTRY_SINCE(gfx940, v_dot2c_f32_f16, dot2c_with_negative_nan),
      MODELESS_ENTRY_SINCE(gfx10, v_dot2c_f32_f16, v_dot2c_f32_f16),
      MODELESS_ENTRY(v_dot2_f32_bf16),
      MODELESS_ENTRY_SINCE(gfx11, v_dot2_f32_bf16, accumulator_first),
      MODELESS_ENTRY(v_dot2c_f32_bf16),
      MODELESS_ENTRY(v_dot2_f16_f16),
      MODELESS_ENTRY(v_dot2_bf16_bf16),
      DOT4(fp8, fp8),
      DOT4(fp8, bf8),
      DOT4(bf8, fp8),
      DOT4(bf8, bf8),
  };
#undef DOT4
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

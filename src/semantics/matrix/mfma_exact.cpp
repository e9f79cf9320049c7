// semantics: matrix instructions that add the products of a group to what there is already and round once.
//
// So gfx908's matrix cores do with halves, four at a time, and with bfloat16, two at a time: "Bit-Accurate Modeling of
// GPU Matrix Multiply-Accumulate Units" (arXiv 2511.10909v2, algorithm 6), and the model of the MI100 in the toolbox of
// Khattak and Mikaitis (north-numerical-computing/MATLAB-tensor-core, MI100MC.m), both compared with the GPU. Denormals
// are kept.
//
// Doubles hold the products exactly, and most sums; the error of a sum of two doubles is a double and says when not
// (Knuth, "The Art of Computer Programming", volume 2, 4.2.2, theorem B). Then the terms become an expansion, numbers
// whose bits don't overlap (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997, figure 6), and these are
// added up from the smallest on, rounded to odd, which leaves to the last rounding all that it must know.
#include <cstdint>

#include "semantics/matrix/matrix_stripe.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

struct Sum {
  F64 sum, error;
};
[[gnu::always_inline]] inline Sum add_exactly(F64 a, F64 b) {
  const F64 sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

template <bool denormals>
[[gnu::always_inline]] inline F64 widen(F32 a) {
  return denormals ? widen_denormals(a) : convert<F64>(a);
}
template <bool denormals>
[[gnu::always_inline]] inline F32 narrow(F64 a) {
  return denormals ? narrow_denormals(a) : convert<F32>(a);
}

/// The sum of the terms, rounded once, whatever they are.
template <bool denormals, unsigned count>
[[gnu::noinline]] F32 round_sum(const F64 (&terms)[count]) {
  F64 parts[count];  // from the smallest up
  F64 plain = F64(-0.0);
  for (unsigned i = 0; i < count; ++i) {
    plain += terms[i];
    F64 rest = terms[i];
    for (unsigned j = 0; j < i; ++j) {
      const Sum next = add_exactly(rest, parts[j]);
      rest = next.sum;
      parts[j] = next.error;
    }
    parts[i] = rest;
  }
  F64 sum = parts[0];
  for (unsigned i = 1; i < count; ++i) sum = round_to_odd(sum + parts[i], sum, parts[i]);
  const auto zero = (sum == 0) & (plain == 0);  // of which `plain` has the sign
  return narrow<denormals>(select((magnitude(plain) < infinity<F64>()) & ~zero, sum, plain));
}

template <unsigned columns, unsigned group, bool denormals>
[[gnu::always_inline]] inline void add_groups(const Factors& f, unsigned chunk, Sums<1>& sums) {
  for (unsigned k = 0; k < f.depth; k += group) {
    const float* a = f.a + size_t{k} * f.a_step;
    F64 b[group];
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < group; ++i)
      b[i] = widen<denormals>(Stripe<columns>::b(f.b + size_t{k + i} * f.b_step, chunk));
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
      F64 terms[group + 1];
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < group; ++i) {
        terms[i] = widen<denormals>(Stripe<columns>::a(a + size_t{i} * f.a_step, row, chunk)) * b[i];
      }
      terms[group] = widen<denormals>(sums.of[row][0]);
      F64 sum = terms[0];
      I64 lost = I64(0);
#pragma clang loop unroll(full)
      for (unsigned i = 1; i <= group; ++i) {
        const Sum next = add_exactly(sum, terms[i]);
        sum = next.sum;
        lost |= bits<I64>(next.error);
      }
      F32 result = narrow<denormals>(sum);
      if (any(lost)) [[unlikely]]
        result = round_sum<denormals>(terms);
      sums.of[row][0] = result;
    }
  }
}

template <unsigned columns, unsigned group>
void do_stripe(const Factors& f, const Target& t) {
  if (t.may_be_denormal) return sum_up_stripe<Use::floats, 1>(f, t, add_groups<columns, group, true>);
  sum_up_stripe<Use::floats, 1>(f, t, add_groups<columns, group, false>);
}

template <unsigned columns>
StripeFunction stripe_function(unsigned group) {
  return group == 4 ? do_stripe<columns, 4> : do_stripe<columns, 2>;
}

}  // namespace

StripeFunction exact_stripe(unsigned columns, unsigned group) {
  return columns == 32   ? stripe_function<32>(group)
         : columns == 16 ? stripe_function<16>(group)
                         : stripe_function<4>(group);
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

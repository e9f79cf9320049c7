// semantics: matrix instructions whose products are aligned to the largest of a group and cut off before the sum.
//
// So gfx942's matrix cores do with floats of 16 and 8 bits and xf32. The source is "Bit-Accurate Modeling of GPU Matrix
// Multiply-Accumulate Units" (arXiv 2511.10909v2, algorithms 10 and 11, tables 6 and 7) with its implementation
// (microsoft/MMA-Sim, fdpa.py), compared with the GPU bit by bit; the model of the MI300X in the toolbox of Khattak and
// Mikaitis (north-numerical-computing/MATLAB-tensor-core, MI300MC.m) has the same. The products of 8 neighbours in the
// depth are one group, of 4 with xf32, of 16 with 8 bits:
//
// 1. The exponent of a product is the sum of its factors' exponents, a denormal's being that of the smallest normal
//    number; e is the largest of the group, zeros left out. Each product is cut off, toward zero, behind 2^(e - 24),
//    and they are summed up exactly. With 8 bits the even and the odd depths are two groups, whose sums are rounded
//    down (toward minus infinity) to multiples of 2^(e - 24) of the larger e, and added.
// 2. With C's exponent c, -126 or more, and E the larger of e and c: the sum is rounded down to a multiple of
//    2^(E - 32), C to one of 2^(E - 24); with 8 bits a C with c < E - 25 is 0. The two are added exactly.
// 3. The result is rounded down 31 places behind its own exponent, and then to nearest even. Denormals are kept.
//
// A product of 2^128 or more is infinite. Infinities and NaNs give what they would in any order of the sum. Of the two
// sources the second keeps a bit less in the second step and leaves out the rounding down in the third; the first is
// newer there. A sum of 0 is +0, which no source says.
//
// Nearly always exponents are such that nothing under- or overflows on the way. Then a multiplication with 2^(24 - e)
// and a conversion to integers do the first step, the exponents being bytes of which a vector holds those of all four
// registers of a chunk. Where c is not much more than e, nothing but C is rounded down in the second: the sum of
// integers is exact, and its conversion to single precision the only rounding. Matrices of small whole numbers,
// whatever their unit, lose nothing at all: theirs is an exact sum in single precision.
#include <cstdint>
#include <utility>

#include "semantics/matrix_sources.h"
#include "semantics/matrix_stripe.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

namespace {

constexpr int kept_places = 24, kept_places_of_sum = 32, kept_places_of_result = 31, least_exponent = -126;
constexpr int exponent_bias = 127, fraction_bits = 23;

// --- Any numbers, in double precision ------------------------------------------------------------------------------

/// 2 to powers that doubles have.
[[gnu::always_inline]] inline F64 power(I32 exponent) { return bits<F64>((convert<I64>(exponent) + 1023) << 52); }

/// The next whole number below, of numbers below 2^51.
[[gnu::always_inline]] inline F64 round_down(F64 a) {
  constexpr double places = 0x1.8p52;
  const F64 nearest = (a + places) - places;
  return nearest - select(nearest > a, F64(1), F64(0));
}

/// The same of numbers of any size that single precision has.
[[gnu::always_inline]] inline F64 round_down_any(F64 a) { return select(magnitude(a) < F64(0x1p51), round_down(a), a); }

/// The sum of products in multiples of 2^(exponent - 24).
struct Sum {
  F64 sum;
  I32 exponent;
};

constexpr int exponent_of_zeros = 2 * least_exponent - 1;

template <unsigned count>
[[gnu::always_inline]] inline Sum align(const F32* a, const F32* b, const Factors& f, unsigned stride) {
  const auto exponent_of = [](F32 value, int least) __attribute__((always_inline)) {
    return __builtin_elementwise_max((bits<I32>(magnitude(value)) >> fraction_bits) - exponent_bias, I32(least));
  };
  Sum result{.sum = F64(0), .exponent = I32(exponent_of_zeros)};
  for (unsigned i = 0; i < count * stride; i += stride) {
    const I32 exponent = exponent_of(a[i], f.a_least_exponent) + exponent_of(b[i], f.b_least_exponent);
    const I32 zero = (a[i] == 0) | (b[i] == 0);
    result.exponent = __builtin_elementwise_max(result.exponent, select(zero, I32(exponent_of_zeros), exponent));
  }
  const F64 factor = power(kept_places - result.exponent);
  for (unsigned i = 0; i < count * stride; i += stride) {
    const F64 product = convert<F64>(a[i]) * convert<F64>(b[i]) * factor, size = round_down(magnitude(product));
    result.sum += select(product < 0, -size, size);
  }
  return result;
}

[[gnu::always_inline]] inline Sum add(const Sum& a, const Sum& b) {
  const I32 exponent = __builtin_elementwise_max(a.exponent, b.exponent);
  return {.sum = round_down(a.sum * power(a.exponent - exponent)) + round_down(b.sum * power(b.exponent - exponent)),
          .exponent = exponent};
}

template <bool eight_bits>
[[gnu::always_inline]] inline F32 add_c(const Sum& sum, F32 c) {
  const I32 c_exponent = __builtin_elementwise_max(bits<I32>(magnitude(c)) >> fraction_bits, I32(1)) - exponent_bias;
  const I32 top = __builtin_elementwise_max(sum.exponent, c_exponent);
  // In multiples of 2^(top - 32).
  const F64 products = round_down(sum.sum * power(sum.exponent - kept_places + kept_places_of_sum - top));
  const F64 c_scaled = convert<F64>(c) * power(kept_places - top);
  F64 c_part = round_down(c_scaled);
  if constexpr (eight_bits) c_part = select(magnitude(c_scaled) < F64(0.5), F64(0), c_part);
  F64 total = products + c_part * static_cast<double>(1 << (kept_places_of_sum - kept_places));

  const I32 exponent = convert<I32>(bits<I64>(magnitude(total)) >> 52) - 1023;
  const I32 last_place = __builtin_elementwise_max(exponent - kept_places_of_result,
                                                   least_exponent - kept_places_of_result + kept_places_of_sum - top);
  total = round_down(total * power(-last_place)) * power(last_place);
  return convert<F32>(total * power(top - kept_places_of_sum));
}

/// All three steps for a group and one chunk, whatever the numbers are.
template <unsigned columns, unsigned group>
[[gnu::noinline]] F32 add_any_group(const Factors& f, unsigned k, unsigned row, unsigned chunk, F32 c) {
  constexpr bool eight_bits = group == 16;
  F32 a[group], b[group];
  F64 plain = convert<F64>(c);
  I32 finite = magnitude(c) < infinity<F32>();
  for (unsigned i = 0; i < group; ++i) {
    a[i] = Stripe<columns>::a(f.a + size_t{k + i} * f.a_step, row, chunk);
    b[i] = Stripe<columns>::b(f.b + size_t{k + i} * f.b_step, chunk);
    F64 product = convert<F64>(a[i]) * convert<F64>(b[i]);
    const I64 infinite = magnitude(product) >= F64(0x1p128);
    product = select(infinite, select(product < 0, -infinity<F64>(), infinity<F64>()), product);
    finite &= convert<I32>(I64(magnitude(product) < infinity<F64>()));
    plain += product;
  }
  Sum sum;
  if constexpr (eight_bits) {
    sum = add(align<group / 2>(a, b, f, 2), align<group / 2>(a + 1, b + 1, f, 2));
  } else {
    sum = align<group>(a, b, f, 1);
  }
  return select(finite != 0, add_c<eight_bits>(sum, c), convert<F32>(plain));
}

// --- Usual exponents, in integers and single precision --------------------------------------------------------------

// Of the four registers of a chunk, one after the other, a byte for each result.
using Bytes = uint8_t __attribute__((ext_vector_type(stripe_rows * chunk_lanes)));
using ChunkBytes = uint8_t __attribute__((ext_vector_type(chunk_lanes)));
using RowBytes = uint8_t __attribute__((ext_vector_type(stripe_rows)));

template <size_t... lanes>
[[gnu::always_inline]] inline Bytes each_for_a_row(RowBytes rows, std::index_sequence<lanes...>) {
  return __builtin_shufflevector(rows, rows, (lanes / chunk_lanes)...);
}
template <size_t... lanes>
[[gnu::always_inline]] inline Bytes for_each_row(ChunkBytes columns, std::index_sequence<lanes...>) {
  return __builtin_shufflevector(columns, columns, (lanes % chunk_lanes)...);
}
template <size_t... lanes>
[[gnu::always_inline]] inline ChunkBytes bytes_of_row(Bytes bytes, unsigned row, std::index_sequence<lanes...>) {
  ChunkBytes rows[stripe_rows] = {__builtin_shufflevector(bytes, bytes, lanes...),
                                  __builtin_shufflevector(bytes, bytes, (lanes + chunk_lanes)...),
                                  __builtin_shufflevector(bytes, bytes, (lanes + 2 * chunk_lanes)...),
                                  __builtin_shufflevector(bytes, bytes, (lanes + 3 * chunk_lanes)...)};
  return rows[row];
}
constexpr std::make_index_sequence<stripe_rows * chunk_lanes> all_results;
constexpr std::make_index_sequence<chunk_lanes> all_columns;

template <unsigned columns>
[[gnu::always_inline]] inline Bytes a_alignment(const uint8_t* a, unsigned chunk) {
  if constexpr (columns == 4) {
    uint8_t rows[stripe_rows][chunk_lanes];
    for (unsigned row = 0; row < stripe_rows; ++row) {
      std::memcpy(rows[row], a + row * wave_lanes + chunk * chunk_lanes, chunk_lanes);
    }
    return load<Bytes>(rows);
  } else {
    return each_for_a_row(load<RowBytes>(a + Stripe<columns>::a_row(0, chunk)), all_results);
  }
}
template <unsigned columns>
[[gnu::always_inline]] inline Bytes b_alignment(const uint8_t* b, unsigned chunk) {
  return for_each_row(load<ChunkBytes>(b + Stripe<columns>::b_column(chunk)), all_results);
}

/// The sums of products, in multiples of 2^(127 - scale); `scale` is 151 - e, that of zeros larger than any other.
struct Sums4 {
  I32 sum[stripe_rows];
  Bytes scale;
  bool has_zeros;  ///< that a scale is one of zeros
};
constexpr uint8_t scale_of_zeros = 240;

template <unsigned columns, unsigned count, unsigned stride>
[[gnu::always_inline]] inline Sums4 align_usual(const Factors& f, unsigned first, unsigned chunk) {
  Sums4 result;
  result.scale = Bytes(Alignment::of_zero);
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < count; ++i) {
    const size_t k = first + i * stride;
    result.scale = __builtin_elementwise_min(
        result.scale, __builtin_elementwise_add_sat(a_alignment<columns>(f.a_alignment + k * f.a_step, chunk),
                                                    b_alignment<columns>(f.b_alignment + k * f.b_step, chunk)));
  }
  result.has_zeros = any(result.scale == Bytes(Alignment::of_zero));
  result.scale = __builtin_elementwise_min(result.scale, Bytes(scale_of_zeros));
  F32 factor[stripe_rows];
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < stripe_rows; ++row) {
    factor[row] = bits<F32>(convert<I32>(bytes_of_row(result.scale, row, all_columns)) << fraction_bits);
    result.sum[row] = I32(0);
  }
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < count; ++i) {
    const size_t k = first + i * stride;
    const F32 b = Stripe<columns>::b(f.b + k * f.b_step, chunk);
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
      result.sum[row] += convert<I32>(Stripe<columns>::a(f.a + k * f.a_step, row, chunk) * b * factor[row]);
    }
  }
  return result;
}

/// The even and the odd depths' products: those of the smaller exponent rounded down to multiples of what the others'
/// are.
[[gnu::always_inline]] inline Sums4 add(const Sums4& a, const Sums4& b) {
  Sums4 result;
  result.scale = __builtin_elementwise_min(a.scale, b.scale);
  result.has_zeros = a.has_zeros & b.has_zeros;
  const auto rounded_down = [&](const Sums4& p, unsigned row) __attribute__((always_inline)) {
    const Bytes places = __builtin_elementwise_min(Bytes(p.scale - result.scale), Bytes(31));
    return p.sum[row] >> convert<I32>(bytes_of_row(places, row, all_columns));
  };
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < stripe_rows; ++row) result.sum[row] = rounded_down(a, row) + rounded_down(b, row);
  return result;
}

/// From which multiple of 2^(e - 24) on a C is too large for the sum to be an integer of 32 bits, and from which on it
/// may not be a number in single precision.
constexpr float large_addend = 0x1p30f, huge_addend = 0x1p100f;

/// The second and third step for any but a huge C, `scaled` being it in multiples of 2^(e - 24).
template <bool eight_bits>
[[gnu::always_inline]] inline F32 add_large(I32 sum, I32 scale, F32 c, F32 scaled) {
  const F32 unit = bits<F32>((2 * exponent_bias - scale) << fraction_bits);
  const auto biased_exponent = [](F32 value) __attribute__((always_inline)) {
    return bits<I32>(magnitude(value)) >> fraction_bits;
  };
  // The sum loses what stands below 2^(E - 32) or 31 places behind the result. Whether the result's exponent is that
  // before or after rounding makes no difference: the two differ where it is rounded to a power of two either way. Nor
  // does it what becomes of a sum that is all below: the result is C.
  const I32 exponent = __builtin_elementwise_max(biased_exponent(c + convert<F32>(sum) * unit), biased_exponent(c) - 1);
  constexpr int nothing_lost = 2 * exponent_bias + kept_places_of_result;
  const I32 lost = __builtin_elementwise_max(exponent + scale - nothing_lost, I32(0));
  sum &= I32(-1) << __builtin_elementwise_min(lost, I32(31));
  F64 c_part = round_down_any(convert<F64>(scaled));
  if constexpr (eight_bits) c_part = select(magnitude(convert<F64>(scaled)) < F64(0.5), F64(0), c_part);
  return convert<F32>(convert<F64>(sum) + c_part) * unit;
}

/// For groups in which a C is large, or not finite, or all products are zeros.
template <unsigned columns, unsigned group>
[[gnu::noinline]] Sums<1> add_rare_group(const Factors& f, unsigned k, unsigned chunk, const Sums4& products,
                                         const Sums<1>& c) {
  Sums<1> sums;
  for (unsigned row = 0; row < stripe_rows; ++row) {
    const F32 own = c.of[row][0];
    F32& sum = sums.of[row][0];
    const I32 scale = convert<I32>(bytes_of_row(products.scale, row, all_columns));
    const F32 scaled = own * bits<F32>(scale << fraction_bits);
    if (any(~(magnitude(scaled) < F32(huge_addend)))) [[unlikely]] {
      sum = add_any_group<columns, group>(f, k, row, chunk, own);
      continue;
    }
    sum = add_large < group == 16 > (products.sum[row], scale, own, scaled);
    sum = select(scale == scale_of_zeros, own + 0.0f, sum);
  }
  return sums;
}

template <unsigned columns, unsigned group>
[[gnu::always_inline]] inline void add_usual_group(const Factors& f, unsigned k, unsigned chunk, Sums<1>& sums) {
  constexpr bool eight_bits = group == 16;
  Sums4 products;
  if constexpr (eight_bits) {
    products =
        add(align_usual<columns, group / 2, 2>(f, k, chunk), align_usual<columns, group / 2, 2>(f, k + 1, chunk));
  } else {
    products = align_usual<columns, group, 1>(f, k, chunk);
  }
  const Sums<1> c = sums;
  I32 large = I32(0);
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < stripe_rows; ++row) {
    const I32 scale = convert<I32>(bytes_of_row(products.scale, row, all_columns));
    const I32 factor = scale << fraction_bits, unit = ((2 * exponent_bias) << fraction_bits) - factor;
    const F32 scaled = c.of[row][0] * bits<F32>(factor);
    large |= ~(magnitude(scaled) < F32(large_addend));
    I32 c_part = convert<I32>(scaled);
    c_part += convert<F32>(c_part) > scaled;  // down, where the conversion went up
    if constexpr (eight_bits) c_part = select(magnitude(scaled) < F32(0.5f), I32(0), c_part);
    sums.of[row][0] = convert<F32>(products.sum[row] + c_part) * bits<F32>(unit);
  }
  if (any(large) || products.has_zeros) {
    const Sums4 own = products;
    const Sums<1> before = c;
    sums = add_rare_group<columns, group>(f, k, chunk, own, before);
  }
}

// --- Small whole numbers --------------------------------------------------------------------------------------------

/// If no bit of any product or C is cut off or rounded away, and so all sums are exact in single precision: adds the
/// products. Else false.
template <unsigned columns>
[[gnu::always_inline]] inline bool add_whole_numbers(const Factors& f, unsigned chunk, Sums<1>& sums) {
  constexpr float largest = 0x1p22f;
  const F32 whole = F32(f.unit * 0x1.8p23f);  // a sum with this has no room for parts of the unit
  I32 fits = I32(-1);
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < stripe_rows; ++row) {
    const F32 c = sums.of[row][0];
    fits &= (magnitude(c) <= F32(f.unit * largest)) & ((c + whole) - whole == c);
  }
  if (any(~fits)) return false;
  for (unsigned k = 0; k < f.depth; ++k) {
    const F32 b = Stripe<columns>::b(f.b + size_t{k} * f.b_step, chunk);
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
      F32& sum = sums.of[row][0];
      sum = fused(Stripe<columns>::a(f.a + size_t{k} * f.a_step, row, chunk), b, sum);
    }
  }
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < stripe_rows; ++row) sums.of[row][0] += 0.0f;  // no -0
  return true;
}

template <unsigned columns, unsigned group>
[[gnu::always_inline]] inline void add_groups(const Factors& f, unsigned chunk, Sums<1>& sums) {
  if (f.unit != 0 && add_whole_numbers<columns>(f, chunk, sums)) return;
  // What is added to must not be so small that it vanishes when it is multiplied with a scale.
  bool usual = f.a_alignment != nullptr;
  for (unsigned row = 0; row < stripe_rows; ++row) {
    const F32 size = magnitude(sums.of[row][0]);
    usual = usual && !any((size < F32(Alignment::least_addend)) & (size != 0));
  }
  if (usual) [[likely]] {
    for (unsigned k = 0; k < f.depth; k += group) add_usual_group<columns, group>(f, k, chunk, sums);
    return;
  }
  for (unsigned k = 0; k < f.depth; k += group) {
    for (unsigned row = 0; row < stripe_rows; ++row) {
      F32& sum = sums.of[row][0];
      sum = add_any_group<columns, group>(f, k, row, chunk, sum);
    }
  }
}

template <unsigned columns, unsigned group>
void do_stripe(const Factors& f, const Target& t) {
  sum_up_stripe<Use::floats, 1>(f, t, add_groups<columns, group>);
}

template <unsigned columns>
StripeFunction stripe_function(unsigned group) {
  return group == 16 ? do_stripe<columns, 16> : group == 8 ? do_stripe<columns, 8> : do_stripe<columns, 4>;
}

}  // namespace

StripeFunction aligned_stripe(unsigned columns, unsigned group) {
  return columns == 32   ? stripe_function<32>(group)
         : columns == 16 ? stripe_function<16>(group)
                         : stripe_function<4>(group);
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

// semantics: matrix instructions whose products are aligned to the largest of a group and cut off before the sum.
//
// So gfx942's matrix cores do with floats of 16 and 8 bits and xf32. The source is "Bit-Accurate Modeling of GPU Matrix
// Multiply-Accumulate Units" (arXiv 2511.10909v2, algorithms 10 and 11, tables 6 and 7) with its implementation
// (microsoft/MMA-Sim, fdpa.py), compared with the GPU bit by bit; the model of the MI300X in the toolbox of Khattak and
// Mikaitis (north-numerical-computing/MATLAB-tensor-core, MI300MC.m) has the same. The products of 8 neighbours in the
// depth are one group, of 4 with xf32, of 16 with 8 bits:
//
// 1. The exponent of a product is the sum of its factors' exponents, a denormal's being that of the smallest normal
//    number; e is the largest of the group, zeros left out. Each product is cut off, toward zero, below 2^(e - 24),
//    and they are summed up exactly. With 8 bits the even and the odd depths are two groups, whose sums are rounded
//    down (toward minus infinity) to multiples of 2^(e - 24) of the larger e, and added.
// 2. With C's exponent c, -126 or more, and E the larger of e and c: the sum is rounded down to a multiple of
//    2^(E - 32), C to one of 2^(E - 24); with 8 bits a C with c < E - 25 is 0. The two are added exactly.
// 3. The result is rounded down 31 places below its own exponent, and then to nearest even. Denormals are kept.
//
// A product of 2^128 or more is infinite. Infinities and NaNs give what they would in any order of the sum. Of the two
// sources the second keeps a bit less in the second step and leaves out the rounding down in the third; the first is
// newer there. A sum of 0 is +0, which no source says.
//
// Nearly always exponents are such that nothing under- or overflows on the way. Then a multiplication with 2^(24 - e)
// and a conversion to integers do the first step, the exponents being bytes of which a vector holds those of all four
// registers of a chunk. Where c is not much more than e, nothing but C is rounded down in the second: the sum of
// integers is exact, and its conversion to single precision the only rounding. Where it is more, C and the sum are
// added in single precision with what that rounds off, or in double precision. Matrices of small whole numbers,
// whatever their unit, lose nothing at all: theirs is an exact sum in single precision.
//
// Denormals of bfloat16 and xf32 are 0 where a group has a product of usual elements: that is 2^-74 or more, and a
// product with a denormal below 2^-98, so that all of it is cut off.
#include <bit>
#include <cstdint>
#include <utility>

#include "semantics/matrix/matrix_sources.h"
#include "semantics/matrix/matrix_stripe.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

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
  F64 products[count];
  for (unsigned i = 0; i < count; ++i) {
    const F32 of_a = a[i * stride], of_b = b[i * stride];
    products[i] = widen_denormals(of_a) * widen_denormals(of_b);
    const I32 exponent = exponent_of(of_a, f.a_least_exponent) + exponent_of(of_b, f.b_least_exponent);
    const I32 zero = convert<I32>(I64(products[i] == 0));
    result.exponent = __builtin_elementwise_max(result.exponent, select(zero != 0, I32(exponent_of_zeros), exponent));
  }
  const F64 factor = power(kept_places - result.exponent);
  for (const F64& one : products) {
    const F64 product = one * factor, size = round_down(magnitude(product));
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
  const F64 c_scaled = widen_denormals(c) * power(kept_places - top);
  F64 c_part = round_down(c_scaled);
  if constexpr (eight_bits) c_part = select(magnitude(c_scaled) < F64(0.5), F64(0), c_part);
  F64 total = products + c_part * static_cast<double>(1 << (kept_places_of_sum - kept_places));

  const I32 exponent = convert<I32>(bits<I64>(magnitude(total)) >> 52) - 1023;
  const I32 last_place = __builtin_elementwise_max(exponent - kept_places_of_result,
                                                   least_exponent - kept_places_of_result + kept_places_of_sum - top);
  total = round_down(total * power(-last_place)) * power(last_place);
  return narrow_denormals(total * power(top - kept_places_of_sum));
}

/// All three steps for a group and one chunk, whatever the numbers are.
template <unsigned columns, unsigned group>
[[gnu::noinline]] F32 add_any_group(const Factors& f, unsigned k, unsigned row, unsigned chunk, F32 c) {
  constexpr bool eight_bits = group == 16;
  F32 a[group], b[group];
  const float *const of_a = f.a_denormals != nullptr ? f.a_denormals : f.a, *const of_b = f.b_denormals != nullptr
                                                                                              ? f.b_denormals
                                                                                              : f.b;
  F64 plain = widen_denormals(c);
  I32 finite = bits<I32>(magnitude(c)) < I32(Format<F32>::exponent);
  for (unsigned i = 0; i < group; ++i) {
    a[i] = Stripe<columns>::a(of_a + size_t{k + i} * f.a_step, row, chunk);
    b[i] = Stripe<columns>::b(of_b + size_t{k + i} * f.b_step, chunk);
    F64 product = widen_denormals(a[i]) * widen_denormals(b[i]);
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
  return select(finite != 0, add_c<eight_bits>(sum, c), narrow_denormals(plain));
}

// --- Usual exponents, in integers and single precision --------------------------------------------------------------

/// A byte for each result of a stripe's chunk: the four rows of a column side by side, as one of the word's.
using Bytes = uint8_t __attribute__((ext_vector_type(stripe_rows * chunk_lanes)));

/// The byte of a row in each column's word, `places` further left.
template <unsigned row, int places>
[[gnu::always_inline]] inline I32 byte_of_row(Bytes bytes) {
  constexpr int left = places - static_cast<int>(row) * 8;
  const U32 words = bits<U32>(bytes);
  U32 moved;
  if constexpr (left >= 0) {
    moved = words << left;
  } else {
    moved = words >> -left;
  }
  return bits<I32>(moved & (0xFFu << places));
}

template <size_t... bytes>
[[gnu::always_inline]] inline Bytes rows_side_by_side(Bytes rows, std::index_sequence<bytes...>) {
  return __builtin_shufflevector(rows, rows, (bytes % stripe_rows * chunk_lanes + bytes / stripe_rows)...);
}

template <unsigned columns>
[[gnu::always_inline]] inline Bytes a_alignment(const uint8_t* a, unsigned chunk) {
  if constexpr (columns == 4) {
    uint8_t rows[stripe_rows][chunk_lanes];
    for (unsigned row = 0; row < stripe_rows; ++row) {
      std::memcpy(rows[row], a + row * wave_lanes + chunk * chunk_lanes, chunk_lanes);
    }
    return rows_side_by_side(load<Bytes>(rows), std::make_index_sequence<sizeof(Bytes)>());
  } else {
    return bits<Bytes>(U32(load<uint32_t>(a + Stripe<columns>::a_row(0, chunk))));
  }
}

/// Does something for each row, which is a constant there.
template <typename Do>
[[gnu::always_inline]] inline void for_each_row(Do action) {
  static_assert(stripe_rows == 4);
  action(std::integral_constant<unsigned, 0>());
  action(std::integral_constant<unsigned, 1>());
  action(std::integral_constant<unsigned, 2>());
  action(std::integral_constant<unsigned, 3>());
}

/// The scales of a stripe's groups, 151 - e. They are read for all chunks before any product is aligned: each is a
/// minimum of sums that wait for each other.
struct StripeScales {
  static constexpr unsigned max_groups = 8;
  alignas(64) Bytes of[max_groups][row_chunks];  ///< with 8 bits the even and the odd depths are groups of their own
  bool are_read = false;
  bool has_zeros = false;  ///< that there is a group without products but zeros
};
/// Larger than any other, and no factor is infinite when it is multiplied with it, as infinity times 0 is not 0.
constexpr uint8_t scale_of_zeros = 226;
static_assert(scale_of_zeros > exponent_bias + kept_places - 2 * Alignment::least_exponent &&
              scale_of_zeros - exponent_bias + Alignment::max_exponent < exponent_bias);

/// With 8 bits neighbours in the depth belong to two groups.
constexpr unsigned stride_of(unsigned group) { return group == 16 ? 2 : 1; }
constexpr unsigned max_products = 8;  ///< of a group that is aligned
constexpr unsigned products_of(unsigned group) { return group == 16 ? max_products : group; }

template <unsigned columns, unsigned group>
[[gnu::always_inline]] inline void read_scales(const Factors& f, StripeScales& scales) {
  constexpr unsigned stride = stride_of(group);
  U32 zeros = U32(0);
  unsigned place = 0;
  for (unsigned k = 0; k < f.depth; k += group) {
    for (unsigned first = k; first < k + stride; ++first, ++place) {
#pragma clang loop unroll(full)
      for (unsigned chunk = 0; chunk < row_chunks; ++chunk) {
        const uint8_t* a = f.a_alignment + size_t{first} * f.a_step;
        const uint32_t* b = f.b_alignment + size_t{first} * f.b_step + Stripe<columns>::b_column(chunk);
        Bytes scale = Bytes(Alignment::of_zero);
#pragma clang loop unroll(full)
        for (unsigned i = 0; i < products_of(group); ++i) {
          scale = __builtin_elementwise_min(
              scale, __builtin_elementwise_add_sat(a_alignment<columns>(a, chunk), load<Bytes>(b)));
          a += stride * f.a_step;
          b += stride * f.b_step;
        }
        zeros |= bits<U32>(scale == Bytes(Alignment::of_zero));
        scales.of[place][chunk] = __builtin_elementwise_min(scale, Bytes(scale_of_zeros));
      }
    }
  }
  scales.has_zeros = any(bits<I32>(zeros));
  scales.are_read = true;
}

/// The sums of products, in multiples of 2^(127 - scale).
struct Sums4 {
  I32 sum[stripe_rows];
  Bytes scale;
};

template <unsigned columns, unsigned group>
[[gnu::always_inline]] inline Sums4 align_usual(const Factors& f, unsigned first, unsigned chunk, Bytes scale) {
  constexpr unsigned stride = stride_of(group);
  Sums4 result;
  result.scale = scale;
  F32 factor[stripe_rows];
  for_each_row([&](auto row) __attribute__((always_inline)) {
    factor[row] = bits<F32>(byte_of_row<row, fraction_bits>(scale));
    result.sum[row] = I32(0);
  });
  const float *a = f.a + size_t{first} * f.a_step, *b = f.b + size_t{first} * f.b_step;
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < products_of(group); ++i) {
    const F32 b_row = Stripe<columns>::b(b, chunk);
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
      // The factor first: products that wait for it would not all find a register.
      result.sum[row] += convert<I32>(b_row * factor[row] * Stripe<columns>::a(a, row, chunk));
    }
    a += stride * f.a_step;
    b += stride * f.b_step;
  }
  return result;
}

/// The even and the odd depths' products: those of the smaller exponent rounded down to multiples of what the others'
/// are.
[[gnu::always_inline]] inline Sums4 add(const Sums4& a, const Sums4& b) {
  Sums4 result;
  result.scale = __builtin_elementwise_min(a.scale, b.scale);
  const auto places_of = [&](const Sums4& p) __attribute__((always_inline)) {
    return __builtin_elementwise_min(Bytes(p.scale - result.scale), Bytes(31));
  };
  const Bytes a_places = places_of(a), b_places = places_of(b);
  for_each_row([&](auto row) __attribute__((always_inline)) {
    result.sum[row] = (a.sum[row] >> byte_of_row<row, 0>(a_places)) + (b.sum[row] >> byte_of_row<row, 0>(b_places));
  });
  return result;
}

/// The next whole number below.
[[gnu::always_inline]] inline F32 round_down(F32 a) {
#if ATOLL_LEVEL_HAS(avx2)
  return __builtin_elementwise_floor(a);
#else
  // One at a time, and by calls, is what the compiler would make of it.
  const F32 nearest = select(magnitude(a) < F32(0x1p23f), convert<F32>(convert<I32>(a)), a);
  return nearest - select(nearest > a, F32(1), F32(0));
#endif
}

/// Returns the significant part of a C in multiples of 2^(e - 24), where e is larger than c.
template <bool eight_bits>
[[gnu::always_inline]] inline F32 whole_part(F32 c) {
  const F32 whole = round_down(c);
  return eight_bits ? select(magnitude(c) < F32(0.5f), F32(0), whole) : whole;
}

/// The second and third step for a sum of products and a C in multiples of `unit`, 2^(e - 24), C below
/// end_of_usual_c(): nothing of the sum is lost.
template <bool eight_bits>
[[gnu::always_inline]] inline F32 add_usual_c(I32 sum, F32 c, I32 unit) {
  F32 whole = whole_part<eight_bits>(c);
  // From 2^30 on C's last bits are 0, and those of the sum are far below what is rounded to: half of both fits an
  // integer of 32 bits, in which it is enough to know that a bit is lost.
  const I32 large = ~(magnitude(c) < F32(0x1p30f));
  whole = select(large, whole * 0.5f, whole);
  sum = select(large, (sum >> 1) | (sum & 1), sum);
  return convert<F32>(sum + convert<I32>(whole)) * bits<F32>(unit + (large & 1 << fraction_bits));
}
/// A product is below 2^26, and so C and all of them are below 2^32.
constexpr float end_of_usual_c(bool eight_bits) { return 0x1p32f - (eight_bits ? 0x1p30f : 0x1p29f); }

/// How much larger C's may be, as multiples of 2^(e - 24).
enum class LargeC : uint8_t {
  below_2_37,  ///< the sum loses no more than 6 places
  below_2_100  ///< within single precision
};
constexpr float end_of(LargeC large) { return large == LargeC::below_2_37 ? 0x1p37f : 0x1p100f; }

/// As above for a C that may be so large that the sum loses its last places.
template <bool eight_bits, LargeC large>
[[gnu::always_inline]] inline F32 add_large_c(I32 sum, F32 c, I32 unit) {
  const F32 whole = whole_part<eight_bits>(c);
  // The sum loses what stands below 2^(E - 32) or 31 places below the result. Whether the result's exponent is that
  // before or after rounding makes no difference: the two differ where it is rounded to a power of two either way. Nor
  // does it what becomes of a sum that is all below: the result is C.
  const auto kept_of = [](F32 result) __attribute__((always_inline)) {
    const I32 exponent = bits<I32>(magnitude(result)) >> fraction_bits;
    const I32 lost = __builtin_elementwise_max(exponent - (exponent_bias + kept_places_of_result), I32(0));
    return I32(-1) << (large == LargeC::below_2_37 ? lost : __builtin_elementwise_min(lost, I32(31)));
  };
  if constexpr (large == LargeC::below_2_37) {
    // Single precision has room for all but the last 7 places of the sum. What the sum of C and the rest is rounded by
    // is a number in single precision, too (Knuth's TwoSum), and a whole one below 2^14, so that it and those 7 places
    // add up exactly.
    constexpr int last_places = 0x7F;
    const F32 first = convert<F32>(sum & ~last_places), nearest = whole + first;
    const F32 last = convert<F32>(sum & last_places & kept_of(nearest));
    const F32 first_there = nearest - whole, whole_there = nearest - first_there;
    const F32 rounded_by = (whole - whole_there) + (first - first_there);
    return (nearest + (rounded_by + last)) * bits<F32>(unit);
  }
  sum &= kept_of(whole + convert<F32>(sum));
  return convert<F32>(convert<F64>(sum) + convert<F64>(whole)) * bits<F32>(unit);
}

[[gnu::always_inline]] inline I32 unit_of(I32 factor) { return ((2 * exponent_bias) << fraction_bits) - factor; }

/// For groups in which a C is large or not finite, or without products but zeros.
template <unsigned columns, unsigned group>
[[gnu::noinline]] void add_rare_group(const Factors& f, unsigned k, unsigned chunk, const Sums4& products,
                                      Sums<1>& sums) {
  constexpr bool eight_bits = group == 16;
  for_each_row([&](auto row) __attribute__((always_inline)) {
    F32& sum = sums.of[row][0];
    const I32 factor = byte_of_row<row, fraction_bits>(products.scale), unit = unit_of(factor);
    const I32 no_products = factor == scale_of_zeros << fraction_bits;
    if ((f.a_denormals != nullptr || f.b_denormals != nullptr) && any(no_products)) {
      sum = add_any_group<columns, group>(f, k, row, chunk, sum);
      return;
    }
    const F32 c = sum + 0.0f, scaled = select(no_products, F32(0), sum * bits<F32>(factor));
    const auto all_below = [](F32 value, float limit)
                               __attribute__((always_inline)) { return !any(~(magnitude(value) < F32(limit))); };
    if (all_below(scaled, end_of_usual_c(eight_bits))) {
      sum = add_usual_c<eight_bits>(products.sum[row], scaled, unit);
    } else if (all_below(scaled, end_of(LargeC::below_2_100))) {
      sum = add_large_c<eight_bits, LargeC::below_2_100>(products.sum[row], scaled, unit);
    } else {
      sum = add_any_group<columns, group>(f, k, row, chunk, sum);
      return;
    }
    sum = select(no_products, c, sum);
  });
}

template <unsigned columns, unsigned group>
[[gnu::always_inline]] inline void add_usual_group(const Factors& f, unsigned k, unsigned chunk,
                                                   const StripeScales& scales, Sums<1>& sums) {
  constexpr bool eight_bits = group == 16;
  const unsigned place = k / group * stride_of(group);
  Sums4 products = align_usual<columns, group>(f, k, chunk, scales.of[place][chunk]);
  if constexpr (eight_bits) {
    products = add(products, align_usual<columns, group>(f, k + 1, chunk, scales.of[place + 1][chunk]));
  }
  F32 scaled[stripe_rows];
  I32 unit[stripe_rows];
  for_each_row([&](auto row) __attribute__((always_inline)) {
    const I32 factor = byte_of_row<row, fraction_bits>(products.scale);
    scaled[row] = sums.of[row][0] * bits<F32>(factor);
    unit[row] = unit_of(factor);
  });
  const auto all_below = [&](float limit) __attribute__((always_inline)) {
    I32 below = I32(-1);
    for (const F32 c : scaled) below &= magnitude(c) < F32(limit);
    return !any(~below);
  };
  if (all_below(end_of_usual_c(eight_bits)) && !scales.has_zeros) {
    for_each_row([&](auto row) __attribute__((always_inline)) {
      sums.of[row][0] = add_usual_c<eight_bits>(products.sum[row], scaled[row], unit[row]);
    });
    return;
  }
  if (all_below(end_of(LargeC::below_2_37)) && !scales.has_zeros) {
    for_each_row([&](auto row) __attribute__((always_inline)) {
      sums.of[row][0] = add_large_c<eight_bits, LargeC::below_2_37>(products.sum[row], scaled[row], unit[row]);
    });
    return;
  }
  // Copies, so that registers do not have to be memory for it.
  const Sums4 own = products;
  Sums<1> rare = sums;
  add_rare_group<columns, group>(f, k, chunk, own, rare);
  sums = rare;
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

/// That a C is so small that it vanishes when it is multiplied with a scale, and yet not 0.
[[gnu::always_inline]] inline bool any_vanishes(const Sums<1>& sums) {
  constexpr uint32_t least = std::bit_cast<uint32_t>(Alignment::least_addend);
  const auto size = [&](unsigned row) __attribute__((always_inline)) { return bits<U32>(magnitude(sums.of[row][0])); };
  U32 smallest = size(0);
  for (unsigned row = 1; row < stripe_rows; ++row) smallest = __builtin_elementwise_min(smallest, size(row));
  if (!any(smallest < least)) [[likely]]
    return false;
  for (unsigned row = 0; row < stripe_rows; ++row) {
    if (any(size(row) - 1 < least - 1)) return true;
  }
  return false;
}

template <unsigned columns, unsigned group>
[[gnu::always_inline]] inline void add_groups(const Factors& f, unsigned chunk, StripeScales& scales, Sums<1>& sums) {
  const bool vanishes = any_vanishes(sums);
  if (f.unit != 0 && !vanishes && add_whole_numbers<columns>(f, chunk, sums)) return;
  if (f.a_alignment != nullptr && !vanishes) [[likely]] {
    if (!scales.are_read) read_scales<columns, group>(f, scales);
    for (unsigned k = 0; k < f.depth; k += group) add_usual_group<columns, group>(f, k, chunk, scales, sums);
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
  StripeScales scales;
  sum_up_stripe<Use::floats, 1>(
      f, {.d = t.d, .c = t.c, .constant = t.constant, .flush_c = false, .may_be_denormal = true},
      [&](const Factors& factors, unsigned chunk, Sums<1>& sums)
          __attribute__((always_inline)) { add_groups<columns, group>(factors, chunk, scales, sums); });
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

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

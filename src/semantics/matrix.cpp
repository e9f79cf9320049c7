// semantics: the products and sums of matrix instructions (matrix.h).
//
// Four registers of D are done at a time: a stripe (matrix_stripe.h). The sums of its chunks stay in host registers
// while the depth goes by: for each depth a chunk of a row of B is multiplied with one element of A, the same for all
// its lanes, and added. Hosts with fewer registers do a part of the chunks at a time.
//
// The sums of i8 are single precision, too: no instruction has so many products that they would not be exact.
#include "semantics/matrix.h"

#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "semantics/float_lanes.h"
#include "semantics/matrix_sources.h"
#include "semantics/matrix_stripe.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

namespace {

#if ATOLL_LEVEL_HAS(avx512)
constexpr unsigned chunks_at_once = 4;  ///< of each of a stripe's registers, so that their sums fit the host's
#else
constexpr unsigned chunks_at_once = 1;
#endif

/// How the products are summed up: in a chain of fused multiply-adds; in pairs, groups of two or four; in groups of
/// four halves, whose products are exact, so that a fused multiply-add rounds as often as a sum of two products does.
enum class Order : uint8_t { chain, twos, fours, fours_of_halves };

constexpr unsigned group_of(Order order) { return order == Order::chain ? 1 : order == Order::twos ? 2 : 4; }

/// The sum of the products of a group, pairs first.
template <unsigned columns, Order order>
[[gnu::always_inline]] inline F32 group_sum(const Factors& f, const float* a, const F32 (&b)[4], unsigned row,
                                            unsigned chunk) {
  const auto pair = [&](unsigned k) __attribute__((always_inline)) {
    const F32 first = Stripe<columns>::a(a + k * f.a_step, row, chunk) * b[k];
    const F32 factor = Stripe<columns>::a(a + (k + 1) * f.a_step, row, chunk);
    if constexpr (order == Order::fours_of_halves) return fused(factor, b[k + 1], first);
    return first + factor * b[k + 1];
  };
  if constexpr (group_of(order) == 2) return pair(0);
  return pair(0) + pair(2);
}

template <unsigned columns, Order order>
[[gnu::always_inline]] inline void add_products(const Factors& f, unsigned first_chunk, Sums<chunks_at_once>& sums) {
  constexpr unsigned group = group_of(order);
  const float *a = f.a, *b = f.b;
  for (unsigned k = 0; k < f.depth; k += group) {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < chunks_at_once; ++i) {
      const unsigned chunk = first_chunk + i;
      F32 factors[4];
#pragma clang loop unroll(full)
      for (unsigned j = 0; j < group; ++j) factors[j] = Stripe<columns>::b(b + j * f.b_step, chunk);
#pragma clang loop unroll(full)
      for (unsigned row = 0; row < stripe_rows; ++row) {
        F32& sum = sums.of[row][i];
        if constexpr (order == Order::chain) {
          sum = fused(Stripe<columns>::a(a, row, chunk), factors[0], sum);
        } else {
          sum += group_sum<columns, order>(f, a, factors, row, chunk);
        }
      }
    }
    a += group * f.a_step;
    b += group * f.b_step;
  }
}

/// The same for a sparse A, each of whose elements has its own row of B.
template <unsigned columns>
[[gnu::always_inline]] inline void add_sparse_products(const Factors& f, unsigned first_chunk,
                                                       Sums<chunks_at_once>& sums) {
  for (unsigned k = 0; k < f.depth; ++k) {
    const float* a = f.a + size_t{k} * f.a_step;
    const uint8_t* index = f.index + size_t{k} * f.a_step;
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < chunks_at_once; ++i) {
#pragma clang loop unroll(full)
      for (unsigned row = 0; row < stripe_rows; ++row) {
        const unsigned chunk = first_chunk + i, a_row = Stripe<columns>::a_row(row, chunk);
        const F32 b = Stripe<columns>::b(f.b + size_t{index[a_row]} * f.b_step, chunk);
        sums.of[row][i] = fused(F32(a[a_row]), b, sums.of[row][i]);
      }
    }
  }
}

template <unsigned columns, Order order, Use use>
void do_stripe(const Factors& f, const Target& t) {
  sum_up_stripe<use, chunks_at_once>(
      f, t, [](const Factors& factors, unsigned chunk, Sums<chunks_at_once>& sums) __attribute__((always_inline)) {
        if (order == Order::chain && factors.index != nullptr) {
          if constexpr (columns != 4) add_sparse_products<columns>(factors, chunk, sums);
        } else {
          add_products<columns, order>(factors, chunk, sums);
        }
      });
}

template <unsigned columns>
StripeFunction stripe_function(Order order, Use use) {
  if (use == Use::integers) return do_stripe<columns, Order::chain, Use::integers>;
  if (use == Use::partial) return do_stripe<columns, Order::chain, Use::partial>;
  switch (order) {
    case Order::chain:
      return do_stripe<columns, Order::chain, Use::floats>;
    case Order::twos:
      return do_stripe<columns, Order::twos, Use::floats>;
    case Order::fours:
      return do_stripe<columns, Order::fours, Use::floats>;
    case Order::fours_of_halves:
      return do_stripe<columns, Order::fours_of_halves, Use::floats>;
  }
  return nullptr;
}

StripeFunction stripe_function(unsigned columns, Order order, Use use) {
  return columns == 32   ? stripe_function<32>(order, use)
         : columns == 16 ? stripe_function<16>(order, use)
                         : stripe_function<4>(order, use);
}

/// Results so small that they are denormal become 0 (MXCSR's FTZ, Intel SDM volume 1, 10.2.3.3).
class FlushingResults {
 public:
  FlushingResults() : before_(_mm_getcsr()) { _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON); }
  ~FlushingResults() { _mm_setcsr(before_); }
  FlushingResults(const FlushingResults&) = delete;
  FlushingResults& operator=(const FlushingResults&) = delete;

 private:
  unsigned before_;
};

bool is_sixteen_bits(MatrixElement element) { return element == MatrixElement::f16 || element == MatrixElement::bf16; }

/// How many products are aligned with each other; 0 where products are not aligned. How sparse matrices are summed up
/// nobody has measured.
unsigned aligned_group(const MatrixCall& call) {
  if (call.sums != target::MatrixSums::aligned || call.index != nullptr) return 0;
  if (is_sixteen_bits(call.a_element)) return std::min(unsigned{call.shape->depth}, 8u);
  if (call.a_element == MatrixElement::xf32) return 4;
  return call.a_element == MatrixElement::fp8 || call.a_element == MatrixElement::bf8 ? 16 : 0;
}

StripeFunction stripe_function(const MatrixCall& call) {
  using target::MatrixSums;
  const MatrixShape& shape = *call.shape;
  if (call.a_element == MatrixElement::i8) return stripe_function(shape.columns, Order::chain, Use::integers);
  if (const unsigned group = aligned_group(call); group != 0) return aligned_stripe(shape.columns, group);
  if (!is_sixteen_bits(call.a_element)) return stripe_function(shape.columns, Order::chain, Use::floats);
  const unsigned of_lane = shape.depth * shape.rows * shape.blocks / wave_lanes;
  if (call.sums == MatrixSums::exact) return exact_stripe(shape.columns, of_lane);
  Order order = Order::chain;
  if (call.sums == MatrixSums::pairwise_flushing) {
    order = call.a_element == MatrixElement::f16 ? Order::fours_of_halves : of_lane == 4 ? Order::fours : Order::twos;
  }
  return stripe_function(shape.columns, order, Use::floats);
}

/// A of 4x4 blocks, each element once for each column: for every depth four rows of 64 lanes.
void expand_blocks(const MatrixSource& a, float* out) {
  for (unsigned k = 0; k < a.depth; ++k) {
    for (unsigned row = 0; row < stripe_rows; ++row) {
      for (unsigned lane = 0; lane < wave_lanes; ++lane) *out++ = a.at(k)[lane / 4 * 4 + row];
    }
  }
}

/// A stripe's first row of A, counted through the blocks, and the first column of its block of B.
struct Place {
  unsigned row, column;
};

/// Where the stripes of an instruction are. All sizes are powers of two, and divisions would take as long as a stripe.
class Places {
 public:
  explicit Places(const MatrixShape& shape)
      : rows_(shape.columns == 32 ? 8 : 16),
        row_bits_(static_cast<unsigned>(std::countr_zero(shape.rows))),
        column_bits_(static_cast<unsigned>(std::countr_zero(shape.columns))) {}

  Place of(unsigned stripe) const {
    const unsigned row = stripe * rows_;
    return {row, row >> row_bits_ << column_bits_};
  }

 private:
  unsigned rows_, row_bits_, column_bits_;
};

// --- Scales ---------------------------------------------------------------------------------------------------------

constexpr unsigned scaled_depth = 32;  ///< elements that share a scale

/// The scales of one source: exponents, without their bias, of `width` rows or columns for each 32 depths.
struct Scales {
  int32_t exponent[wave_lanes];
  bool nan[wave_lanes];
};

Scales read_scales(const Row& row, unsigned byte) {
  Scales scales;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const auto code = static_cast<int32_t>(row[lane] >> 8 * byte & 0xFF);
    scales.exponent[lane] = code - 127;
    scales.nan[lane] = code == 255;
  }
  return scales;
}

/// 2 to a power from -127 to 127; 0 for -127, the half of an exponent at which no result is left.
[[gnu::always_inline]] inline F32 power(I32 exponent) { return bits<F32>((exponent + 127) << 23); }

/// Multiplies the sums in `partial` with the scales of their rows and columns and adds them to the sums in `total`.
void add_scaled(const MatrixShape& shape, const Scales& a, const Scales& b, unsigned first_scale, const Row* partial,
                Row* total) {
  const unsigned registers = shape.rows * shape.columns / wave_lanes;
  for (unsigned r = 0; r < registers; ++r) {
    for (unsigned lane = 0; lane < wave_lanes; lane += chunk_lanes) {
      const unsigned rows_beside = wave_lanes / shape.columns;
      const unsigned row = (r / stripe_rows * rows_beside + lane / shape.columns) * stripe_rows + r % stripe_rows;
      const unsigned a_scale = first_scale + row, b_scale = first_scale + lane % shape.columns;
      const I32 exponent = load<I32>(&b.exponent[b_scale]) + a.exponent[a_scale];
      const I32 half = exponent >> 1;
      F32 sum = load<F32>(&partial[r][lane]) * power(half) * power(exponent - half);
      bool nan = a.nan[a_scale];
      for (unsigned i = 0; i < chunk_lanes; ++i) nan |= b.nan[b_scale + i];
      if (nan) [[unlikely]] {
        for (unsigned i = 0; i < chunk_lanes; ++i) {
          if (a.nan[a_scale] || b.nan[b_scale + i]) sum[i] = __builtin_nanf("");
        }
      }
      sum += load<F32>(&total[r][lane]);
      sum = select(sum == sum, sum, pattern<F32>(Format<F32>::default_nan));
      std::memcpy(&total[r][lane], &sum, sizeof sum);
    }
  }
}

// --- Instructions by their kind of result ---------------------------------------------------------------------------

constexpr unsigned most_registers = 32;  ///< of C and D
struct alignas(64) Registers {
  Row rows[most_registers];
};

void multiply_floats(const MatrixCall& call, const Row* c) {
  const MatrixShape& shape = *call.shape;
  MatrixSource a, b;
  read_a(call, a);
  read_b(call, b);
  SparseIndex index;
  if (call.index != nullptr) index = read_index(call, a);

  Factors whole{.a = a.elements, .b = b.elements, .a_step = a.width, .b_step = b.width, .depth = a.depth};
  alignas(64) float expanded[4 * stripe_rows * wave_lanes];
  if (shape.columns == 4) {
    expand_blocks(a, expanded);
    whole.a = expanded;
    whole.a_step = stripe_rows * wave_lanes;
  }
  Alignment alignment;
  if (aligned_group(call) != 0) {
    whole.a_least_exponent = least_normal_exponent(call.a_element, call.eight_bit);
    whole.b_least_exponent = least_normal_exponent(call.b_element, call.eight_bit);
    if (read_a_alignment(whole.a, whole.a_step * whole.depth, whole.a_least_exponent, alignment) &&
        read_b_alignment(whole.b, whole.b_step * whole.depth, whole.b_least_exponent, alignment)) {
      whole.a_alignment = alignment.of_a;
      whole.b_alignment = alignment.of_b;
    }
    const int kept = (22 - std::countr_zero(whole.depth)) / 2;
    whole.unit = unit_of(whole.a, whole.a_step * whole.depth, kept);
    if (whole.unit != 0) whole.unit *= unit_of(whole.b, whole.b_step * whole.depth, kept);
  }
  const StripeFunction function = stripe_function(call);
  const auto constant = static_cast<uint32_t>(call.constant);
  const bool flush_c = call.sums == target::MatrixSums::pairwise_flushing && is_sixteen_bits(call.a_element);
  const unsigned stripes = registers_of_d(shape) / stripe_rows;
  const Places places(shape);
  const auto each_stripe = [&](const Factors& factors, StripeFunction work, Row* d, const Row* from) {
    Factors f = factors;
    Target target{.d = d, .c = from, .constant = constant, .flush_c = flush_c};
    for (unsigned stripe = 0; stripe < stripes; ++stripe) {
      const Place place = places.of(stripe);
      f.a = factors.a + place.row;
      f.b = factors.b + place.column;
      if (f.a_alignment != nullptr) {
        f.a_alignment = factors.a_alignment + place.row;
        f.b_alignment = factors.b_alignment + place.column;
      }
      if (call.index != nullptr) f.index = index.depth + place.row;
      work(f, target);
      target.d += stripe_rows;
      if (from != nullptr) target.c += stripe_rows;
    }
  };
  if (call.scale[0] == nullptr) {
    // Of halves, neither products nor sums are so small.
    if (flush_c && call.a_element == MatrixElement::bf16) {
      const FlushingResults flushing;
      return each_stripe(whole, function, call.d, c);
    }
    return each_stripe(whole, function, call.d, c);
  }

  const Scales a_scales = read_scales(*call.scale[0], call.scale_byte[0]);
  const Scales b_scales = read_scales(*call.scale[1], call.scale_byte[1]);
  for (unsigned r = 0; r < registers_of_d(shape); ++r) {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) call.d[r][lane] = c != nullptr ? c[r][lane] : constant;
  }
  for (unsigned k = 0; k < shape.depth; k += scaled_depth) {
    Registers partial;
    Factors part = whole;
    part.a += size_t{k} * part.a_step;
    part.b += size_t{k} * part.b_step;
    part.depth = scaled_depth;
    each_stripe(part, stripe_function(shape.columns, Order::chain, Use::partial), partial.rows, nullptr);
    add_scaled(shape, a_scales, b_scales, k / scaled_depth * shape.rows, partial.rows, call.d);
  }
}

struct alignas(64) Doubles {
  double of[wave_lanes];
};

Doubles read_doubles(const Row* rows, bool negative) {
  Doubles doubles;
  const uint64_t sign = negative ? Format<F64>::sign : 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    doubles.of[lane] = std::bit_cast<double>((rows[0][lane] | uint64_t{rows[1][lane]} << 32) ^ sign);
  }
  return doubles;
}

/// A lane holds one element of each source, so that lanes are in the order of the elements. Chunk `chunk` of a pair of
/// D's registers is a row of D, or the same row of all blocks.
void multiply_doubles(const MatrixCall& call, const Row* c) {
  const MatrixShape& shape = *call.shape;
  const Doubles a = read_doubles(call.a, call.negate[0]), b = read_doubles(call.b, call.negate[1]);
  const unsigned width = unsigned{shape.rows} * shape.blocks;
  const uint64_t c_sign = call.negate[2] ? Format<F64>::sign : 0;
  for (unsigned pair = 0; pair < registers_of_d(shape) / 2; ++pair) {
    for (unsigned chunk = 0; chunk < row_chunks; ++chunk) {
      const unsigned row = pair * row_chunks + chunk, first_lane = chunk * chunk_lanes;
      U64 start = U64(call.constant);
      if (c != nullptr) {
        start = convert<U64>(load<U32>(&c[2 * pair][first_lane])) |
                convert<U64>(load<U32>(&c[2 * pair + 1][first_lane])) << 32;
      }
      F64 sum = bits<F64>(start ^ c_sign);
      for (unsigned k = 0; k < shape.depth; ++k) {
        F64 factor = F64(a.of[k * width + row]);
        if (shape.blocks != 1) {
          for (unsigned lane = 0; lane < chunk_lanes; ++lane) factor[lane] = a.of[k * width + lane / 4 * 4 + row];
        }
        sum = fused(factor, load<F64>(&b.of[k * width]), sum);
      }
      sum = select(sum == sum, sum, pattern<F64>(Format<F64>::default_nan));
      const U32 low = convert<U32>(bits<U64>(sum)), high = convert<U32>(bits<U64>(sum) >> 32);
      std::memcpy(&call.d[2 * pair][first_lane], &low, sizeof low);
      std::memcpy(&call.d[2 * pair + 1][first_lane], &high, sizeof high);
    }
  }
}

// --- Instructions in a row ------------------------------------------------------------------------------------------

/// All products that a stripe takes up, of several instructions. A register of A or B is all of it.
template <unsigned columns, unsigned depth>
void do_stripe_of_chain(std::span<const MatrixFactors> chain, Place place, const Target& target) {
  constexpr unsigned width = wave_lanes / depth;
  sum_up_stripe<Use::floats, chunks_at_once>(
      Factors{}, target,
      [&](const Factors&, unsigned chunk, Sums<chunks_at_once>& sums) __attribute__((always_inline)) {
        for (const MatrixFactors& f : chain) {
          const float* a = reinterpret_cast<const float*>(*f.a) + place.row;
          const float* b = reinterpret_cast<const float*>(*f.b) + place.column;
          add_products<columns, Order::chain>({.a = a, .b = b, .a_step = width, .b_step = width, .depth = depth}, chunk,
                                              sums);
        }
      });
}

template <unsigned columns, unsigned depth>
void do_chain(const MatrixCall& call, const Row* c, std::span<const MatrixFactors> chain) {
  const unsigned stripes = registers_of_d(*call.shape) / stripe_rows;
  const Places places(*call.shape);
  Target target{.d = call.d, .c = c, .constant = static_cast<uint32_t>(call.constant), .flush_c = false};
  for (unsigned stripe = 0; stripe < stripes; ++stripe) {
    do_stripe_of_chain<columns, depth>(chain, places.of(stripe), target);
    target.d += stripe_rows;
    if (c != nullptr) target.c += stripe_rows;
  }
}

using ChainFunction = void (*)(const MatrixCall&, const Row* c, std::span<const MatrixFactors>);

/// What does instructions on single precision whose sources stay where they are, so that their products can be taken up
/// without a pause: sums that become NaNs stay NaNs, so one look for them at the end is enough. Null for other
/// instructions.
ChainFunction chain_function(const MatrixCall& call) {
  const MatrixShape& shape = *call.shape;
  if (shape.a != MatrixElement::f32 || call.cbsz != 0 || call.blgp != 0) return nullptr;
  switch (shape.columns * 8u + shape.depth) {
    case 32 * 8 + 2:
      return do_chain<32, 2>;
    case 32 * 8 + 1:
      return do_chain<32, 1>;
    case 16 * 8 + 4:
      return do_chain<16, 4>;
    case 16 * 8 + 1:
      return do_chain<16, 1>;
    default:
      return nullptr;
  }
}

void multiply_one(const MatrixCall& call) {
  // The sources are read before anything is written, C register by register: it matters only where C is elsewhere.
  const unsigned registers = registers_of_d(*call.shape);
  const Row* c = call.c;
  Registers copy;
  if (c != nullptr && c != call.d && c < call.d + registers && call.d < c + registers) {
    std::memcpy(copy.rows, c, registers * sizeof(Row));
    c = copy.rows;
  }
  if (call.shape->a == MatrixElement::f64) return multiply_doubles(call, c);
  multiply_floats(call, c);
}

}  // namespace

void multiply(const MatrixCall& call, std::span<const MatrixFactors> further) {
  if (const ChainFunction function = chain_function(call)) {
    const unsigned registers = registers_of_d(*call.shape);
    const auto is_apart = [&](const Row* row) { return row < call.d || row >= call.d + registers; };
    const auto stays = [&](const MatrixFactors& f) { return is_apart(f.a) && is_apart(f.b); };
    const bool c_stays =
        call.c == nullptr || call.c == call.d || call.c + registers <= call.d || call.c >= call.d + registers;
    MatrixFactors chain[most_multiplied];
    chain[0] = {call.a, call.b};
    if (c_stays && stays(chain[0]) && further.size() < most_multiplied && std::ranges::all_of(further, stays)) {
      std::ranges::copy(further, chain + 1);
      return function(call, call.c, std::span(chain, further.size() + 1));
    }
  }
  multiply_one(call);
  MatrixCall next = call;
  next.c = call.d;
  for (const MatrixFactors& factors : further) {
    next.a = factors.a;
    next.b = factors.b;
    multiply_one(next);
  }
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

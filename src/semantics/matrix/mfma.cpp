// semantics: the products and sums of matrix instructions (matrix.h).
//
// Four registers of D are done at a time: a stripe (matrix_stripe.h). The sums of its chunks stay in host registers
// while the depth goes by: for each depth a chunk of a row of B is multiplied with one element of A, the same for all
// its lanes, and added. Hosts with fewer registers do a part of the chunks at a time.
//
// The sums of i8 are single precision, too: no instruction has so many products that they would not be exact.
#include "semantics/matrix/mfma.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "semantics/float/denormals.h"
#include "semantics/float/float_lanes.h"
#include "semantics/matrix/matrix_sources.h"
#include "semantics/matrix/matrix_stripe.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

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

/// As above for a sparse A, each of whose elements has its own row of B.
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

bool is_sixteen_bits(MatrixElement element) { return element == MatrixElement::f16 || element == MatrixElement::bf16; }

/// Number of products that are aligned with each other; 0 where products are not aligned. The summation of sparse
/// matrices has not been measured.
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

// --- Denormals (denormals.h) ----------------------------------------------------------------------------------------

bool rows_have_denormal(const Row* rows, unsigned count) {
  LeastSize<F32> least;
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned lane = 0; lane < wave_lanes; lane += chunk_lanes) least.add(load<F32>(&rows[i][lane]));
  }
  return least.has_denormal();
}

/// Whether C, in so many registers or the constant, has a denormal.
bool has_denormal_c(const Row* c, unsigned registers, uint64_t constant) {
  if (c != nullptr) return rows_have_denormal(c, registers);
  return any_denormal(bits<F32>(U32(static_cast<uint32_t>(constant))));
}

/// Whether elements are as small as denormals in single precision.
bool is_wide(MatrixElement element) {
  return element == MatrixElement::f32 || element == MatrixElement::xf32 || element == MatrixElement::bf16;
}

/// Whether the sums are a chain of fused multiply-adds in single precision, from C on.
bool is_chain(const MatrixCall& call) {
  if (call.a_element == MatrixElement::i8 || call.scale[0] != nullptr || aligned_group(call) != 0) return false;
  return call.sums == target::MatrixSums::chained || call.sums == target::MatrixSums::aligned ||
         !is_sixteen_bits(call.a_element);
}

/// Whether an operand of a chain or an exact sum, or its result, may be denormal.
bool may_have_denormals(const MatrixCall& call, const Row* c, const Factors& f) {
  if (!is_chain(call) && call.sums != target::MatrixSums::exact) return false;
  if (call.a_element == MatrixElement::i8 || call.scale[0] != nullptr) return false;
  if (is_wide(call.a_element) && may_be_denormal<F32>(least_exponent<F32>(f.a, f.a_step * f.depth),
                                                      least_exponent<F32>(f.b, f.b_step * call.shape->depth))) {
    return true;
  }
  return has_denormal_c(c, registers_of_d(*call.shape), call.constant);
}

/// The sources of a chain, or of several that are added to the same D one after the other.
class ChainSources {
 public:
  static constexpr unsigned max_scaled = 1024;

  /// `parts` have so many elements each. `index`: of a sparse A, which has one part.
  ChainSources(std::span<const Factors> parts, unsigned a_count, unsigned b_count, MatrixElement element,
               const uint8_t* index)
      : parts_(parts), a_count_(a_count), b_count_(b_count), is_wide_(is_wide(element)), index_(index) {
    ExponentRange<F32> a, b;
    for (const Factors& part : parts) {
      a.add(part.a, a_count);
      b.add(part.b, b_count);
    }
    flushed_ = FlushedChain<F32>(a.exponents(), b.exponents(), element != MatrixElement::f32);
  }

  const FlushedChain<F32>& flushed() const { return flushed_; }
  /// From now on factors are scaled.
  void scale_all() { flushed_ = {}; }
  bool is_scaled() const { return is_scaled_; }
  unsigned b_step() const { return parts_.front().b_step; }

  static constexpr unsigned max_depth = 128;
  using Steps = ChainSteps<F32, max_depth, max_scaled>;
  /// The steps of a stripe with the factors as they are.
  void take_steps(Place place, Steps& steps) const {
    steps.clear();
    for (const Factors& part : parts_) steps.append(part.a, part.b, part_of(part, place));
  }
  /// The steps of a stripe with scaled factors, where scaling is exact.
  template <unsigned columns>
  void take_scaled_steps(Place place, Steps& steps) {
    constexpr unsigned a_chunks = columns == 4 ? stripe_rows * row_chunks : 1;
    constexpr unsigned b_chunks = columns == 4 ? row_chunks : columns / chunk_lanes;
    if (!was_scaled_) scale();
    if (!is_scaled_) return take_steps(place, steps);
    Factors whole = parts_.front();
    whole.depth *= static_cast<unsigned>(parts_.size());
    steps.clear();
    steps.append<a_chunks, b_chunks>(scaled_a_, scaled_b_, part_of(whole, place));
  }

 private:
  ChainPart part_of(const Factors& factors, Place place) const {
    return {.a = place.row,
            .b = place.column,
            .a_step = factors.a_step,
            .b_step = factors.b_step,
            .depth = factors.depth,
            .index = index_ == nullptr ? nullptr : index_ + place.row};
  }
  void scale() {
    was_scaled_ = true;
    const auto count = static_cast<unsigned>(parts_.size());
    if (!is_wide_ || a_count_ * count > max_scaled || b_count_ * count > max_scaled) return;
    scaled_a_.clear();
    scaled_b_.clear();
    for (const Factors& part : parts_) {
      scaled_a_.append<Substitute::zero>(part.a, a_count_);
      scaled_b_.append<Substitute::small>(part.b, b_count_);
    }
    is_scaled_ = scaled_a_.is_exact() && scaled_b_.is_exact();
  }

  std::span<const Factors> parts_;
  unsigned a_count_, b_count_;
  bool is_wide_, was_scaled_ = false, is_scaled_ = false;
  const uint8_t* index_;
  FlushedChain<F32> flushed_;
  ScaledFactors<F32, max_scaled> scaled_a_, scaled_b_;  // NOLINT(*-member-init): if is_scaled_
};

/// The factors of a stripe's sums, four rows of a chunk after the other.
template <unsigned columns, bool sparse>
struct StripeLayout {
  static constexpr unsigned sums = stripe_rows * row_chunks;
  unsigned b_step;
  unsigned first_row = 0;  ///< of a step's elements of A

  [[gnu::always_inline]] F32 a(const ChainStep<float>& step, unsigned i) const {
    return Stripe<columns>::a(step.a + first_row, i % stripe_rows, i / stripe_rows);
  }
  [[gnu::always_inline]] F32 b(const ChainStep<float>& step, unsigned i) const {
    const unsigned chunk = i / stripe_rows;
    if constexpr (!sparse) return Stripe<columns>::b(step.b, chunk);
    const unsigned depth = step.index[first_row + Stripe<columns>::a_row(i % stripe_rows, chunk)];
    return Stripe<columns>::b(step.b + size_t{depth} * b_step, chunk);
  }
};

/// The stripes from `stripe` on, which is the one of `target`.
template <unsigned columns, bool sparse>
void do_stripes_by_denormals(const MatrixShape& shape, Target target, ChainSources& sources, unsigned stripe) {
  StripeLayout<columns, sparse> layout{.b_step = sources.b_step()};
  const Places places(shape);
  DenormalScope scope;
  ChainSources::Steps steps;
  const auto each_stripe = [&](auto take_steps, auto add) __attribute__((always_inline)) {
    bool has_steps = false;
    for (; stripe < registers_of_d(shape) / stripe_rows; ++stripe) {
      // Stripes with rows of the same 16 have their steps in common.
      const Place place = places.of(stripe);
      layout.first_row = place.row % chunk_lanes;
      if (!has_steps || layout.first_row == 0) take_steps(Place{place.row - layout.first_row, place.column});
      has_steps = true;
      F32 sums[stripe_rows * row_chunks];
      for (unsigned i = 0; i < std::size(sums); ++i) {
        sums[i] = first_sum<Use::floats>(target, i % stripe_rows, i / stripe_rows);
      }
      if (!add(sums)) return;
      for (unsigned i = 0; i < std::size(sums); ++i) {
        const F32 sum = with_default_nan(sums[i]);
        std::memcpy(&target.d[i % stripe_rows][i / stripe_rows * chunk_lanes], &sum, sizeof sum);
      }
      target.d += stripe_rows;
      if (target.c != nullptr) target.c += stripe_rows;
    }
  };
  if (sources.flushed().is_possible()) {
    each_stripe([&](Place place) { sources.take_steps(place, steps); },
                [&](auto& sums) { return sources.flushed().add(layout, steps.all(), scope, sums); });
  }
  each_stripe([&](Place place) { sources.take_scaled_steps<columns>(place, steps); },
              [&](F32* sums) {
                add_chain(layout, steps.all(), sources.is_scaled(), scope, sums);
                return true;
              });
}

using ChainByDenormals = void (*)(const MatrixShape&, Target, ChainSources&, unsigned stripe);
ChainByDenormals chain_by_denormals(unsigned columns, bool sparse) {
  if (columns == 4) return do_stripes_by_denormals<4, false>;
  if (columns == 16) return sparse ? do_stripes_by_denormals<16, true> : do_stripes_by_denormals<16, false>;
  return sparse ? do_stripes_by_denormals<32, true> : do_stripes_by_denormals<32, false>;
}

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

/// Lanes in which scaled products, or what they are added to, are so small that the sum may be denormal.
[[gnu::always_inline]] inline I32 are_small(F32 products, I32 exponent, F32 before) {
  constexpr int least = 27;
  const U32 size = bits<U32>(magnitude(products));
  const I32 scaled = bits<I32>(size >> 23) + exponent;
  return ((scaled < least) & (size != 0)) | (bits<U32>(magnitude(before)) - 1 < (uint32_t{least} << 23) - 1);
}

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
      const F32 products = load<F32>(&partial[r][lane]), before = load<F32>(&total[r][lane]);
      const bool is_small = any(are_small(products, exponent, before));
      F32 sum;
      if (!is_small) [[likely]] {
        sum = products * power(half) * power(exponent - half);
      } else {
        sum = narrow_denormals(convert<F64>(products) * bits<F64>((convert<I64>(exponent) + 1023) << 52));
      }
      bool nan = a.nan[a_scale];
      for (unsigned i = 0; i < chunk_lanes; ++i) nan |= b.nan[b_scale + i];
      if (nan) [[unlikely]] {
        for (unsigned i = 0; i < chunk_lanes; ++i) {
          if (a.nan[a_scale] || b.nan[b_scale + i]) sum[i] = __builtin_nanf("");
        }
      }
      sum = is_small ? narrow_denormals(widen_denormals(sum) + widen_denormals(before)) : sum + before;
      sum = with_default_nan(sum);
      std::memcpy(&total[r][lane], &sum, sizeof sum);
    }
  }
}

// --- Instructions by their kind of result ---------------------------------------------------------------------------

constexpr unsigned max_registers = 32;  ///< of C and D
struct alignas(64) Registers {
  Row rows[max_registers];
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
  alignas(64) float flushed_a[MatrixSource::max_elements], flushed_b[MatrixSource::max_elements];
  const unsigned a_count = whole.a_step * whole.depth, b_count = b.width * b.depth;
  if (aligned_group(call) != 0) {
    whole.a_least_exponent = least_normal_exponent(call.a_element, call.eight_bit);
    whole.b_least_exponent = least_normal_exponent(call.b_element, call.eight_bit);
    const AlignedElements aligned_a = read_a_alignment(whole.a, a_count, whole.a_least_exponent, alignment);
    const AlignedElements aligned_b = read_b_alignment(whole.b, b_count, whole.b_least_exponent, alignment);
    if (aligned_a.all && aligned_b.all) {
      whole.a_alignment = alignment.of_a;
      whole.b_alignment = alignment.of_b;
    }
    if (aligned_a.has_denormals || aligned_b.has_denormals) {
      flush_denormals(whole.a, a_count, flushed_a);
      flush_denormals(whole.b, b_count, flushed_b);
      whole.a_denormals = std::exchange(whole.a, flushed_a);
      whole.b_denormals = std::exchange(whole.b, flushed_b);
    } else {
      const int kept = (22 - std::countr_zero(whole.depth)) / 2;
      whole.unit = unit_of(whole.a, a_count, kept);
      if (whole.unit != 0) whole.unit *= unit_of(whole.b, b_count, kept);
    }
  }
  const bool has_denormals = may_have_denormals(call, c, whole);
  const auto constant = static_cast<uint32_t>(call.constant);
  if (has_denormals && is_chain(call)) {
    ChainSources sources({&whole, 1}, a_count, b_count, call.a_element, call.index == nullptr ? nullptr : index.depth);
    return chain_by_denormals(shape.columns, call.index != nullptr)(
        shape, {.d = call.d, .c = c, .constant = constant, .flush_c = false, .may_be_denormal = true}, sources, 0);
  }
  const StripeFunction function = stripe_function(call);
  const bool flush_c = call.sums == target::MatrixSums::pairwise_flushing && is_sixteen_bits(call.a_element);
  const unsigned stripes = registers_of_d(shape) / stripe_rows;
  const Places places(shape);
  const auto each_stripe = [&](const Factors& factors, StripeFunction work, Row* d, const Row* from) {
    Factors f = factors;
    Target target{.d = d, .c = from, .constant = constant, .flush_c = flush_c, .may_be_denormal = has_denormals};
    for (unsigned stripe = 0; stripe < stripes; ++stripe) {
      const Place place = places.of(stripe);
      f.a = factors.a + place.row;
      f.b = factors.b + place.column;
      if (f.a_alignment != nullptr) {
        f.a_alignment = factors.a_alignment + place.row;
        f.b_alignment = factors.b_alignment + place.column;
      }
      if (f.a_denormals != nullptr) {
        f.a_denormals = factors.a_denormals + place.row;
        f.b_denormals = factors.b_denormals + place.column;
      }
      if (call.index != nullptr) f.index = index.depth + place.row;
      work(f, target);
      target.d += stripe_rows;
      if (from != nullptr) target.c += stripe_rows;
    }
  };
  if (call.scale[0] == nullptr) {
    // Neither products nor sums of halves are that small.
    if (flush_c && call.a_element == MatrixElement::bf16) {
      DenormalScope flushing;
      flushing.flush_results();
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

/// The factors of D's rows: of one block, or of the same row of four blocks, whose elements of A are laid out lane by
/// lane.
template <bool one_block>
struct DoublesLayout {
  static constexpr unsigned sums = one_block ? 16 : 4;
  static constexpr unsigned a_step = one_block ? 16 : 64, b_step = 16, depth = 4;

  [[gnu::always_inline]] F64 a(const ChainStep<double>& step, unsigned i) const {
    if constexpr (one_block) return F64(step.a[i]);
    return load<F64>(step.a + size_t{i} * chunk_lanes);
  }
  [[gnu::always_inline]] F64 b(const ChainStep<double>& step, unsigned) const { return load<F64>(step.b); }
};

/// A lane holds one element of each source, so that lanes are in the order of the elements. Chunk `chunk` of a pair of
/// D's registers is a row of D, or the same row of all blocks.
template <bool one_block>
void multiply_doubles(const MatrixCall& call, const Row* c) {
  using Layout = DoublesLayout<one_block>;
  constexpr unsigned a_count = Layout::a_step * Layout::depth, b_count = Layout::b_step * Layout::depth;
  const Doubles a = read_doubles(call.a, call.negate[0]), b = read_doubles(call.b, call.negate[1]);
  alignas(64) double expanded[a_count];
  const double* of_a = a.of;
  if constexpr (!one_block) {
    for (unsigned k = 0; k < Layout::depth; ++k) {
      for (unsigned i = 0; i < Layout::a_step; ++i) {
        expanded[k * Layout::a_step + i] = a.of[k * chunk_lanes + i % chunk_lanes / 4 * 4 + i / chunk_lanes];
      }
    }
    of_a = expanded;
  }
  const uint64_t c_sign = call.negate[2] ? Format<F64>::sign : 0;
  F64 sums[Layout::sums];
  bool has_denormals =
      may_be_denormal<F64>(least_exponent<F64>(a.of, wave_lanes), least_exponent<F64>(b.of, wave_lanes));
  for (unsigned i = 0; i < Layout::sums; ++i) {
    const unsigned pair = i / row_chunks, first_lane = i % row_chunks * chunk_lanes;
    U64 start = U64(call.constant);
    if (c != nullptr) {
      start = convert<U64>(load<U32>(&c[2 * pair][first_lane])) | convert<U64>(load<U32>(&c[2 * pair + 1][first_lane]))
                                                                      << 32;
    }
    sums[i] = bits<F64>(start ^ c_sign);
    has_denormals |= any_denormal(sums[i]);
  }
  ChainSteps<F64, Layout::depth, a_count> steps;
  const ChainPart part{.a_step = Layout::a_step, .b_step = Layout::b_step, .depth = Layout::depth};
  steps.append(of_a, b.of, part);
  if (has_denormals) [[unlikely]] {
    const FlushedChain<F64> flushed(exponents_of<F64>(a.of, wave_lanes), exponents_of<F64>(b.of, wave_lanes), false);
    DenormalScope scope;
    if (!flushed.add(Layout{}, steps.all(), scope, sums)) {
      ScaledFactors<F64, a_count> scaled_a, scaled_b;
      scaled_a.template assign<Substitute::zero>(of_a, a_count);
      scaled_b.template assign<Substitute::small>(b.of, b_count);
      const bool is_exact = scaled_a.is_exact() && scaled_b.is_exact();
      if (is_exact) {
        steps.clear();
        steps.template append<Layout::a_step / chunk_lanes, 1>(scaled_a, scaled_b, part);
      }
      add_chain(Layout{}, steps.all(), is_exact, scope, sums);
    }
  } else {
    add_steps<F64, false>(Layout{}, steps.all(), sums);
  }
  for (unsigned i = 0; i < Layout::sums; ++i) {
    const unsigned pair = i / row_chunks, first_lane = i % row_chunks * chunk_lanes;
    const F64 sum = with_default_nan(sums[i]);
    const U32 low = convert<U32>(bits<U64>(sum)), high = convert<U32>(bits<U64>(sum) >> 32);
    std::memcpy(&call.d[2 * pair][first_lane], &low, sizeof low);
    std::memcpy(&call.d[2 * pair + 1][first_lane], &high, sizeof high);
  }
}

// --- Instructions in a row ------------------------------------------------------------------------------------------

/// Adds all products that a stripe takes up, of several instructions. A register of A or B is all of it. Returns false
/// if C has a denormal; D is as before then.
template <unsigned columns, unsigned depth>
bool do_stripe_of_chain(std::span<const MatrixFactors> chain, Place place, const Target& target) {
  constexpr unsigned width = wave_lanes / depth;
  constexpr bool has_parts =
      chunks_at_once != row_chunks;  // D may be C, so all parts are looked at before one is stored
  if constexpr (has_parts) {
    if (has_denormal_c(target.c, stripe_rows, target.constant)) return false;
  }
  for (unsigned chunk = 0; chunk < row_chunks; chunk += chunks_at_once) {
    Sums<chunks_at_once> sums;
    LeastSize<F32> least[2];  // two, so that one does not wait for the other
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < chunks_at_once; ++i) {
        sums.of[row][i] = first_sum<Use::floats>(target, row, chunk + i);
        if constexpr (!has_parts) least[row % 2].add(sums.of[row][i]);
      }
    }
    if (!has_parts && (least[0].has_denormal() || least[1].has_denormal())) [[unlikely]]
      return false;
    for (const MatrixFactors& f : chain) {
      const float* a = reinterpret_cast<const float*>(*f.a) + place.row;
      const float* b = reinterpret_cast<const float*>(*f.b) + place.column;
      add_products<columns, Order::chain>({.a = a, .b = b, .a_step = width, .b_step = width, .depth = depth}, chunk,
                                          sums);
    }
    store_sums<Use::floats>(target, chunk, sums);
  }
  return true;
}

/// Does do_stripe_of_chain() with denormals flushed. Returns false if a sum is too small in the meantime; D is as
/// before then.
template <unsigned columns, unsigned depth>
[[gnu::noinline]] bool do_flushed_stripe_of_chain(std::span<const MatrixFactors> chain, Place place,
                                                  const Target& target, const FlushedChain<F32>& flushed) {
  constexpr unsigned width = wave_lanes / depth;
  constexpr bool has_parts = chunks_at_once != row_chunks;  // of which some may be stored when a sum of another is 0
  [[maybe_unused]] Row before[stripe_rows];
  if constexpr (has_parts) std::memcpy(before, target.d, sizeof before);
  for (unsigned chunk = 0; chunk < row_chunks; chunk += chunks_at_once) {
    Sums<chunks_at_once> sums;
    U32 least_c = ~U32(0);
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < chunks_at_once; ++i) {
        sums.of[row][i] = first_sum<Use::floats>(target, row, chunk + i);
        least_c = __builtin_elementwise_min(least_c, bits<U32>(magnitude(sums.of[row][i])));
      }
    }
    U32 least[2] = {~U32(0), ~U32(0)};  // two, so that one does not wait for the other
    for (const MatrixFactors& f : chain) {
      const float* a = reinterpret_cast<const float*>(*f.a) + place.row;
      const float* b = reinterpret_cast<const float*>(*f.b) + place.column;
      for (unsigned k = 0; k < depth; ++k) {
        add_products<columns, Order::chain>({.a = a, .b = b, .a_step = width, .b_step = width, .depth = 1}, chunk,
                                            sums);
#pragma clang loop unroll(full)
        for (unsigned row = 0; row < stripe_rows; ++row) {
#pragma clang loop unroll(full)
          for (const F32& sum : sums.of[row]) {
            least[row % 2] = __builtin_elementwise_min(least[row % 2], bits<U32>(sum));
          }
        }
        a += width;
        b += width;
      }
    }
    if (any((least_c < flushed.least_c()) | (least[0] == 0) | (least[1] == 0))) [[unlikely]] {
      if constexpr (has_parts) std::memcpy(target.d, before, sizeof before);
      return false;
    }
    store_sums<Use::floats>(target, chunk, sums);
  }
  return true;
}

/// Does the stripes from `stripe` on, which is the one of `target`, where denormals may occur.
template <unsigned columns, unsigned depth>
[[gnu::noinline]] void do_chain_by_denormals(const MatrixCall& call, Target target, unsigned stripe,
                                             std::span<const MatrixFactors> chain) {
  constexpr unsigned width = wave_lanes / depth;
  Factors parts[max_multiplied];
  for (size_t i = 0; i < chain.size(); ++i) {
    parts[i] = {.a = reinterpret_cast<const float*>(*chain[i].a),
                .b = reinterpret_cast<const float*>(*chain[i].b),
                .a_step = width,
                .b_step = width,
                .depth = depth};
  }
  ChainSources sources({parts, chain.size()}, wave_lanes, wave_lanes, MatrixElement::f32, nullptr);
  const unsigned registers = registers_of_d(*call.shape);
  if (target.c != nullptr && sources.flushed().is_possible()) {
    const Places places(*call.shape);
    DenormalScope scope;
    scope.flush_operands();
    for (; stripe < registers / stripe_rows; ++stripe) {
      if (!do_flushed_stripe_of_chain<columns, depth>(chain, places.of(stripe), target, sources.flushed())) break;
      target.d += stripe_rows;
      target.c += stripe_rows;
    }
  }
  sources.scale_all();
  target.may_be_denormal = true;
  do_stripes_by_denormals<columns, false>(*call.shape, target, sources, stripe);
}
static_assert(max_multiplied * wave_lanes <= ChainSources::max_scaled);

[[gnu::noinline]] bool small_products_may_be_denormal(std::span<const MatrixFactors> chain) {
  LeastExponent<F32> of_a, of_b;
  for (const MatrixFactors& f : chain) {
    of_a.add(reinterpret_cast<const float*>(*f.a), wave_lanes);
    of_b.add(reinterpret_cast<const float*>(*f.b), wave_lanes);
  }
  return may_be_denormal<F32>(of_a.exponent(), of_b.exponent());
}

/// Whether products, or sums of them with a C without denormals, may be denormal. Factors of at least 2^-40 are found
/// without a reduction across lanes.
bool products_may_be_denormal(std::span<const MatrixFactors> chain) {
  LeastSize<F32> least[2];  // two, so that one does not wait for the other
  for (const MatrixFactors& f : chain) {
    for (unsigned lane = 0; lane < wave_lanes; lane += chunk_lanes) {
      least[0].add(load<F32>(&(*f.a)[lane]));
      least[1].add(load<F32>(&(*f.b)[lane]));
    }
  }
  constexpr unsigned least_of_factors = (least_of_products<F32> + 1) / 2;
  if (!least[0].is_any_below(least_of_factors) && !least[1].is_any_below(least_of_factors)) [[likely]]
    return false;
  return small_products_may_be_denormal(chain);
}

template <unsigned columns, unsigned depth>
void do_chain(const MatrixCall& call, const Row* c, std::span<const MatrixFactors> chain) {
  const unsigned stripes = registers_of_d(*call.shape) / stripe_rows;
  const Places places(*call.shape);
  Target target{.d = call.d, .c = c, .constant = static_cast<uint32_t>(call.constant), .flush_c = false};
  if (products_may_be_denormal(chain)) return do_chain_by_denormals<columns, depth>(call, target, 0, chain);
  for (unsigned stripe = 0; stripe < stripes; ++stripe) {
    if (!do_stripe_of_chain<columns, depth>(chain, places.of(stripe), target)) [[unlikely]] {
      return do_chain_by_denormals<columns, depth>(call, target, stripe, chain);
    }
    target.d += stripe_rows;
    if (c != nullptr) target.c += stripe_rows;
  }
}

using ChainFunction = void (*)(const MatrixCall&, const Row* c, std::span<const MatrixFactors>);

/// Returns the function for instructions on single precision whose sources stay in place, or null for other
/// instructions. Their products need no scan: sums that become NaNs stay NaNs, so one scan at the end is enough.
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
  if (call.shape->a == MatrixElement::f64) {
    return call.shape->blocks == 1 ? multiply_doubles<true>(call, c) : multiply_doubles<false>(call, c);
  }
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
    MatrixFactors chain[max_multiplied];
    chain[0] = {call.a, call.b};
    if (c_stays && stays(chain[0]) && further.size() < max_multiplied && std::ranges::all_of(further, stays)) {
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

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

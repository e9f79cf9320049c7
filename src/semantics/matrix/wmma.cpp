// semantics: the products and sums of WMMA and SWMMAC (wmma.h).
//
// A and B are first put in order as single precision: of each depth the 16 rows of A side by side, and the 16 columns
// of B. A row of D is then a chunk of lanes, to which the products of one element of A and a chunk of B are added; with
// AVX-512 all 16 rows are in host registers meanwhile.
//
// Code multiplies a few rows of tiles with a few columns of tiles, so a source that several instructions of a call have
// in common is put in order once. And it adds to the same D again and again: products in a row that do are a chain,
// whose sums stay in host registers from one to the next. That is what one after the other would yield: single
// precision is not rounded further between them, and integers wrap.
#include "semantics/matrix/wmma.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "semantics/float/denormals.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/small_floats.h"
#include "semantics/lanes/rare_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

constexpr unsigned size = 16;  ///< rows and columns of D
static_assert(chunk_lanes == size, "a block of lanes is a chunk");
constexpr unsigned max_depth = 64;

constexpr unsigned bits_of(WaveElement element) {
  switch (element) {
    case WaveElement::f32:
    case WaveElement::i32:
      return 32;
    case WaveElement::f16:
    case WaveElement::bf16:
      return 16;
    case WaveElement::i8:
    case WaveElement::fp8:
    case WaveElement::bf8:
      return 8;
    case WaveElement::i4:
      return 4;
  }
  return 0;
}

// --- Where the elements are -----------------------------------------------------------------------------------------

/// Where an element of a row of A or column of B is: in which block of lanes, and which of its lane's elements it is.
struct Place {
  uint8_t block, slot;
};

/// Elements that a row of A has.
constexpr unsigned depth_of_a(const WaveMatrixShape& shape) { return shape.sparse ? shape.depth / 2u : shape.depth; }

/// The places of the elements of one row of A, or column of B.
struct Places {
  Place of[max_depth];
  uint8_t in_lane;  ///< elements that a lane has
};

Places places_of(target::WaveMatrices layout, unsigned wave_size, WaveElement element, unsigned depth) {
  Places places{};
  if (layout == target::WaveMatrices::replicated) {
    places.in_lane = static_cast<uint8_t>(depth);
    for (unsigned k = 0; k < depth; ++k) places.of[k] = {0, static_cast<uint8_t>(k)};
    return places;
  }
  const unsigned in_lane = std::max(depth / (wave_size / size), 32 / bits_of(element)), blocks = depth / in_lane;
  places.in_lane = static_cast<uint8_t>(in_lane);
  for (unsigned k = 0; k < depth; ++k) {
    unsigned block = k / in_lane, slot = k % in_lane;
    if (bits_of(element) == 16 && blocks == 2) {
      const unsigned run = in_lane / 2;
      block = k / run % 2;
      slot = k / (2 * run) * run + k % run;
    } else if (bits_of(element) != 16 && blocks == 4) {
      block = block % 2 * 2 + block / 2;
    }
    places.of[k] = {static_cast<uint8_t>(block), static_cast<uint8_t>(slot)};
  }
  return places;
}

/// Where a row of C or D is: the register, whether in its upper half (of 16 bits), and the block of lanes.
struct RowPlace {
  uint8_t reg, block;
  bool upper;
};

RowPlace row_place(target::WaveMatrices layout, unsigned wave_size, WaveElement element, unsigned row) {
  const unsigned blocks = wave_size / size;
  const auto place = [](unsigned reg, unsigned block, bool upper) {
    return RowPlace{static_cast<uint8_t>(reg), static_cast<uint8_t>(block), upper};
  };
  if (layout == target::WaveMatrices::replicated) return place(row / blocks, row % blocks, false);
  const unsigned number = row % (size / blocks), block = blocks == 2 ? row / 8 : row / 8 + row / 4 % 2 * 2;
  return bits_of(element) == 32 ? place(number, block, false) : place(number / 2, block, number % 2 != 0);
}

/// The registers of one source: each word of a block has elements of as many depths in a row as fit in.
struct SourcePlan {
  struct Word {
    uint16_t place;  ///< its block's first lane, counted in dwords from the first register on
    uint8_t depth;   ///< of its first element
  };
  static constexpr unsigned max_words = 16;
  WaveElement element;
  uint8_t depth, words = 0;
  Word word[max_words]{};

  SourcePlan(const Places& places, WaveElement type, unsigned source_depth)
      : element(type), depth(static_cast<uint8_t>(source_depth)) {
    const unsigned in_word = 32 / bits_of(type);
    for (unsigned k = 0; k < source_depth; k += in_word) {
      const Place place = places.of[k];
      word[words++] = {static_cast<uint16_t>(place.slot / in_word * wave_lanes + place.block * size),
                       static_cast<uint8_t>(k)};
    }
  }
};

/// All places of an instruction in a layout and wave size.
struct Plan {
  Places a_places;
  SourcePlan a, b;
  RowPlace rows[size];

  Plan(const WaveMatrixShape& shape, target::WaveMatrices layout, unsigned wave_size)
      : a_places(places_of(layout, wave_size, shape.a, depth_of_a(shape))),
        a(a_places, shape.a, depth_of_a(shape)),
        b(places_of(layout, wave_size, shape.b, shape.depth), shape.b, shape.depth) {
    for (unsigned row = 0; row < size; ++row) rows[row] = row_place(layout, wave_size, shape.d, row);
  }
};

const Plan& plan_of(const WaveMatrixOperation& operation) {
  static const std::vector<Plan> plans = [] {
    std::vector<Plan> made;
    for (const WaveMatrixShape& shape : wave_matrix_shapes()) {
      for (const auto layout : {target::WaveMatrices::replicated, target::WaveMatrices::spread}) {
        for (const unsigned wave_size : {32u, 64u}) made.emplace_back(shape, layout, wave_size);
      }
    }
    return made;
  }();
  const auto number = static_cast<size_t>(operation.shape - wave_matrix_shapes().data());
  const bool spread = operation.layout == target::WaveMatrices::spread;
  return plans[number * 4 + (spread ? 2 : 0) + (operation.wave_size == 64 ? 1 : 0)];
}

// --- Sources and results --------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline U32 load_block(const Row& row, unsigned block) {
  U32 words;
  std::memcpy(&words, &row[block * size], sizeof words);
  return words;
}

/// Half to single precision, for memory: there the compiler cannot take it for a half again (widen()).
[[gnu::always_inline]] inline F32 single(F16 half) {
#if ATOLL_LEVEL_HAS(avx2)
  return convert<F32>(half);
#else
  return widen(half);
#endif
}

/// Element `number` of the words.
template <WaveElement element, bool is_signed>
[[gnu::always_inline]] inline F32 element_of(U32 words, unsigned number) {
  constexpr unsigned width = bits_of(element), unused = 32 - width;
  const U32 shifted = words >> number * width;
  if constexpr (element == WaveElement::f16) {
    return single(bits<F16>(convert<U16>(shifted)));
  } else if constexpr (element == WaveElement::bf16) {
    return bits<F32>(shifted << 16);
  } else if constexpr (element == WaveElement::fp8) {
    return decode<OcpFp8>(shifted);
  } else if constexpr (element == WaveElement::bf8) {
    return decode<OcpBf8>(shifted);
  } else if constexpr (is_signed) {
    return convert<F32>(bits<I32>(words << (unused - number * width)) >> int(unused));
  } else {
    return convert<F32>(bits<I32>(shifted & (0xFFFFFFFF >> unused)));
  }
}

/// One depth of a source: an element of each row or column.
struct alignas(64) Slice {
  float of[size];

  [[gnu::always_inline]] F32 all() const {
    F32 values;
    std::memcpy(&values, of, sizeof values);
    return values;
  }
};

/// Applies the modifiers to the elements of a source.
struct Signs {
  uint32_t flipped = 0;  ///< bits of each word
  bool is_signed = false;
  bool operator==(const Signs&) const = default;
};

Signs signs_of(const WaveMatrixOperation& operation, unsigned source, WaveElement element) {
  if (bits_of(element) == 16) {
    return {.flipped = (operation.negate[source] ? 0x8000u : 0) | (operation.negate_high[source] ? 0x80000000u : 0)};
  }
  return {.is_signed = operation.negate[source]};
}

/// A word of each row or column.
template <WaveElement element>
[[gnu::always_inline]] inline U32 load_words(const Row* rows, SourcePlan::Word word, uint32_t flipped) {
  U32 words;
  std::memcpy(&words, &rows[0][0] + word.place, sizeof words);
  return bits_of(element) == 16 ? words ^ flipped : words;
}

template <WaveElement element, bool is_signed>
void read(const Row* rows, const SourcePlan& plan, uint32_t flipped, Slice* to) {
  for (unsigned i = 0; i < plan.words; ++i) {
    const U32 words = load_words<element>(rows, plan.word[i], flipped);
    Slice* const first = to + plan.word[i].depth;
#pragma clang loop unroll(full)
    for (unsigned k = 0; k < 32 / bits_of(element); ++k) {
      const F32 values = element_of<element, is_signed>(words, k);
      std::memcpy(first[k].of, &values, sizeof values);
    }
  }
}

/// Calls `work` with the type of a source's elements, and whether they are signed, as template arguments.
template <typename Work>
[[gnu::always_inline]] inline void with_element(WaveElement element, bool is_signed, Work work) {
  using enum WaveElement;
  switch (element) {
    case f16:
      return work.template operator()<f16, false>();
    case bf16:
      return work.template operator()<bf16, false>();
    case i8:
      return is_signed ? work.template operator()<i8, true>() : work.template operator()<i8, false>();
    case i4:
      return is_signed ? work.template operator()<i4, true>() : work.template operator()<i4, false>();
    case fp8:
      return work.template operator()<fp8, false>();
    case bf8:
      return work.template operator()<bf8, false>();
    case f32:
    case i32:
      return;  // of results alone
  }
}

/// Whole sources in single precision, kept while the registers that they are read from stay as they are.
class Sources {
 public:
  /// Whether there is room for `more`.
  bool has_room(size_t more = 2) const {
    return count_ + more <= most && used_ + more * max_depth <= std::size(slices_);
  }
  void clear() { count_ = used_ = least_count_ = exponents_count_ = 0; }

  const Slice* get(const Row* rows, const SourcePlan& plan, Signs signs) {
    for (unsigned i = 0; i < count_; ++i) {
      const Entry& entry = entries_[i];
      if (entry.rows == rows && entry.plan == &plan && entry.signs == signs) return entry.slices;
    }
    Slice* const slices = slices_ + used_;
    with_element(plan.element, signs.is_signed, [&]<WaveElement element, bool is_signed>() {
      read<element, is_signed>(rows, plan, signs.flipped, slices);
    });
    entries_[count_++] = {.rows = rows, .plan = &plan, .signs = signs, .slices = slices};
    used_ += plan.depth;
    return slices;
  }

  /// The least biased exponent of a source's bfloat16s that are not 0. That of denormals is 0.
  unsigned least_exponent(const Row* rows, const SourcePlan& plan) {
    for (unsigned i = 0; i < least_count_; ++i) {
      if (least_[i].rows == rows && least_[i].plan == &plan) return least_[i].exponent;
    }
    Halves least = ~Halves(0);
    for (unsigned i = 0; i < plan.words; ++i) {
      least = __builtin_elementwise_min(least, sizes_of(rows, plan.word[i]) - 1);  // 0 becomes the largest
    }
    const unsigned number = (__builtin_reduce_min(least) + 1u) & 0xFFFF;
    const unsigned exponent = number == 0 ? exponent_of_zeros : number >> brain_fraction_bits;
    if (least_count_ < most) least_[least_count_++] = {rows, &plan, exponent};
    return exponent;
  }

  /// The exponents of a source's bfloat16s.
  Exponents exponents(const Row* rows, const SourcePlan& plan) {
    for (unsigned i = 0; i < exponents_count_; ++i) {
      if (exponents_[i].rows == rows && exponents_[i].plan == &plan) return exponents_[i].exponents;
    }
    constexpr uint16_t unit = 1u << brain_fraction_bits;
    Halves least = ~Halves(0), largest = Halves(0);
    for (unsigned i = 0; i < plan.words; ++i) {
      const Halves sizes = sizes_of(rows, plan.word[i]);
      least = __builtin_elementwise_min(least, sizes - unit);  // zeros and denormals become the largest
      largest = __builtin_elementwise_max(largest, sizes);
    }
    const uint16_t above_unit = __builtin_reduce_min(least);
    Exponents exponents;
    if (above_unit < 0x8000) exponents.least_normal = (above_unit + unsigned{unit}) >> brain_fraction_bits;
    exponents.largest = __builtin_reduce_max(largest) >> brain_fraction_bits;
    if (exponents_count_ < most) exponents_[exponents_count_++] = {rows, &plan, exponents};
    return exponents;
  }

 private:
  static constexpr unsigned most = 16;
  struct Entry {
    const Row* rows;
    const SourcePlan* plan;
    Signs signs;
    const Slice* slices;
  };
  struct LeastOf {
    const Row* rows;
    const SourcePlan* plan;
    unsigned exponent;
  };
  struct ExponentsOf {
    const Row* rows;
    const SourcePlan* plan;
    Exponents exponents;
  };

  using Halves = uint16_t __attribute__((ext_vector_type(2 * size)));
  static constexpr unsigned brain_fraction_bits = 7;
  [[gnu::always_inline]] static Halves sizes_of(const Row* rows, SourcePlan::Word word) {
    return bits<Halves>(load_words<WaveElement::bf16>(rows, word, 0)) & 0x7FFF;
  }

  Entry entries_[most];          // NOLINT(*-member-init): the first count_ of them are
  LeastOf least_[most];          // NOLINT(*-member-init): the first least_count_
  ExponentsOf exponents_[most];  // NOLINT(*-member-init): the first exponents_count_
  unsigned least_count_ = 0, exponents_count_ = 0;
  unsigned count_ = 0, used_ = 0;
  Slice slices_[384];  // NOLINT(*-member-init): 24 KiB of which the first used_ are
};

/// Operands of one step of a chain: A in order, and B as it is in the registers.
struct Factors {
  const Slice* a;
  const Row* b;
  uint32_t b_flipped;
};

/// For a sparse A: the depth of B of each element.
struct Index {
  uint8_t depth[max_depth / 2][size];
};

void read_index(const WaveMatrixCall& call, const Places& places, unsigned depth, Index& index) {
  for (unsigned k = 0; k < depth; ++k) {
    const Place place = places.of[k];
    const unsigned shift = 2 * (call.operation->index_key * unsigned{places.in_lane} + place.slot);
    const U32 which = (load_block(*call.index, place.block) >> shift & 3) + k / 2 * 4;
    const U8 bytes = convert<U8>(which);
    std::memcpy(index.depth[k], &bytes, sizeof bytes);
  }
}

F32 addend_of(U32 c, WaveElement element) {
  if (element == WaveElement::f16) return widen(bits<F16>(convert<U16>(c)));
  return bits<F32>(element == WaveElement::bf16 ? c << 16 : c);
}

U32 result_of(F32 sum, WaveElement element) {
  sum = with_default_nan(sum);
  if (element == WaveElement::f16) return convert<U32>(narrow_to_half(sum));
  const U32 word = bits<U32>(sum);
  return element == WaveElement::bf16 ? (word + 0x7FFF + (word >> 16 & 1)) >> 16 : word;
}

void write_d(const WaveMatrixCall& call, RowPlace place, U32 result) {
  uint32_t* to = &call.d[place.reg][place.block * size];
  if (bits_of(call.operation->shape->d) == 16) {
    U32 old;
    std::memcpy(&old, to, sizeof old);
    result =
        place.upper || call.operation->upper ? (old & 0xFFFF) | result << 16 : (old & 0xFFFF0000) | (result & 0xFFFF);
  }
  std::memcpy(to, &result, sizeof result);
}

// --- Products -------------------------------------------------------------------------------------------------------

/// Rows whose sums are in host registers at a time.
#if ATOLL_LEVEL_HAS(avx512)
constexpr unsigned rows_at_once = size;
#else
constexpr unsigned rows_at_once = 4;
#endif

/// Adds the products of a chain to some rows' sums, from row `first` on. B's chunks are needed once, so they are made
/// where they are.
template <WaveElement b_element, bool b_signed>
[[gnu::always_inline]] inline void add_products(std::span<const Factors> chain, const SourcePlan& plan, unsigned first,
                                                F32 (&sums)[rows_at_once]) {
  for (const Factors& factors : chain) {
    for (unsigned i = 0; i < plan.words; ++i) {
      const U32 words = load_words<b_element>(factors.b, plan.word[i], factors.b_flipped);
      const Slice* const a = factors.a + plan.word[i].depth;
#pragma clang loop unroll(full)
      for (unsigned k = 0; k < 32 / bits_of(b_element); ++k) {
        const F32 factor = element_of<b_element, b_signed>(words, k);
#pragma clang loop unroll(full)
        for (unsigned row = 0; row < rows_at_once; ++row) {
          sums[row] = fused(F32(a[k].of[first + row]), factor, sums[row]);
        }
      }
    }
  }
}

/// As above for a sparse A, whose elements have a row of B each.
[[gnu::always_inline]] inline void add_sparse_products(const Slice* a, const Slice* b, const Index& index,
                                                       unsigned depth, unsigned first, F32 (&sums)[rows_at_once]) {
  for (unsigned k = 0; k < depth; ++k) {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) {
      const unsigned row = first + i;
      sums[i] = fused(F32(a[k].of[row]), b[index.depth[k][row]].all(), sums[i]);
    }
  }
}

/// C, as it was before D was written.
class Addends {
 public:
  Addends(const WaveMatrixCall& call, const Plan& plan) : from_(call.c), constant_(call.operation->constant) {
    if (from_ == nullptr || from_ == call.d) return;
    for (const RowPlace& row : plan.rows) {
      const U32 words = load_block(from_[row.reg], row.block);
      std::memcpy(&copy_[row.reg][row.block * size], &words, sizeof words);
    }
    from_ = copy_;
  }
  U32 at(RowPlace place, bool upper) const {
    if (from_ == nullptr) return U32(constant_);
    const U32 words = load_block(from_[place.reg], place.block);
    return upper ? words >> 16 : words;
  }

 private:
  const Row* from_;
  uint32_t constant_;
  Row copy_[size / 2];  // NOLINT(*-member-init): if from_ says so
};

/// D of one instruction, or of a chain of them, which differ in nothing but the factors. `add` adds the products to
/// rows' sums. Where it returns false, D stays as it is, and so does this.
template <WaveElement d, typename Add>
[[gnu::always_inline]] inline bool sum_up(const WaveMatrixCall& call, const Plan& plan, Add add) {
  const WaveMatrixOperation& operation = *call.operation;
  const Addends addends(call, plan);
  // D is written when all of it is known: A and B may be in its registers.
  F32 all_sums[size / rows_at_once][rows_at_once];  // NOLINT(*-member-init)
  for (unsigned first = 0; first < size; first += rows_at_once) {
    F32(&sums)[rows_at_once] = all_sums[first / rows_at_once];
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) {
      const RowPlace place = plan.rows[first + i];
      sums[i] = d == WaveElement::i32 ? F32(0) : addend_of(addends.at(place, place.upper || operation.upper), d);
    }
    if (d != WaveElement::i32 && (operation.negate_high[2] || operation.negate[2])) {
      for (F32& sum : sums) {
        if (operation.negate_high[2]) sum = magnitude(sum);
        if (operation.negate[2]) sum = negate(sum);
      }
    }
    if (!add(first, sums)) return false;
    if constexpr (d == WaveElement::f32) {
      I32 nans = I32(0);
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < rows_at_once; i += 2) {  // a host compares two with each other at once
        nans |= is_nan(sums[i]) | is_nan(sums[i + 1]);
      }
      if (any(nans)) [[unlikely]] {
        for (F32& sum : sums) sum = select(sum == sum, sum, pattern<F32>(Format<F32>::default_nan));
      }
    }
  }
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < size; ++row) {
    const RowPlace place = plan.rows[row];
    const F32 sum = all_sums[row / rows_at_once][row % rows_at_once];
    if constexpr (d == WaveElement::f32) {
      std::memcpy(&call.d[place.reg][place.block * size], &sum, sizeof sum);
    } else if constexpr (d == WaveElement::i32) {  // so few products that they are exact in single precision
      const U32 c = addends.at(place, false), products = bits<U32>(convert<I32>(sum));
      write_d(
          call, place,
          operation.clamp ? bits<U32>(__builtin_elementwise_add_sat(bits<I32>(c), bits<I32>(products))) : c + products);
    } else {
      write_d(call, place, result_of(sum, d));
    }
  }
  return true;
}

void multiply(const WaveMatrixCall& call, const Plan& plan, std::span<const Factors> chain, bool b_signed) {
  with_element(plan.b.element, b_signed, [&]<WaveElement b, bool is_signed>() {
    const auto add = [&](unsigned first, F32(&sums)[rows_at_once]) __attribute__((always_inline)) {
      add_products<b, is_signed>(chain, plan.b, first, sums);
      return true;
    };
    if constexpr (b == WaveElement::i8 || b == WaveElement::i4) {
      sum_up<WaveElement::i32>(call, plan, add);
    } else {
      if constexpr (b == WaveElement::f16 || b == WaveElement::bf16) {
        if (call.operation->shape->d == b) return void(sum_up<b>(call, plan, add));
      }
      sum_up<WaveElement::f32>(call, plan, add);
    }
  });
}

/// `add(add_products, sums)` adds the products to rows' sums. It returns false as sum_up()'s does.
template <typename Add>
[[gnu::always_inline]] inline bool multiply_sparse(const WaveMatrixCall& call, const Plan& plan, const Slice* a,
                                                   const Slice* b, Add add) {
  Index index;
  read_index(call, plan.a_places, plan.a.depth, index);
  const auto add_rows = [&](unsigned first, F32(&sums)[rows_at_once]) {
    return add([&] { add_sparse_products(a, b, index, plan.a.depth, first, sums); }, sums);
  };
  switch (call.operation->shape->d) {
    case WaveElement::f32:
      return sum_up<WaveElement::f32>(call, plan, add_rows);
    case WaveElement::f16:
      return sum_up<WaveElement::f16>(call, plan, add_rows);
    case WaveElement::bf16:
      return sum_up<WaveElement::bf16>(call, plan, add_rows);
    case WaveElement::i32:
      return sum_up<WaveElement::i32>(call, plan, add_rows);
    default:
      return true;
  }
}

// --- Denormals (denormals.h) ----------------------------------------------------------------------------------------

/// The longest chain: so many sums of integers are exact in single precision.
constexpr unsigned longest_chain = 8;

/// Whether a factor, product or sum of a chain may be denormal in single precision.
bool may_have_denormals(std::span<const WaveMatrixCall> chain, const Plan& plan, Sources& sources) {
  const WaveMatrixCall& first = chain.front();
  const WaveMatrixOperation& operation = *first.operation;
  const WaveMatrixShape& shape = *operation.shape;
  if (shape.a == WaveElement::bf16) {
    for (const WaveMatrixCall& call : chain) {
      if (may_be_denormal<F32>(sources.least_exponent(call.a, plan.a), sources.least_exponent(call.b, plan.b)))
        return true;
    }
  }
  if (shape.d == WaveElement::i32 || shape.d == WaveElement::f16) return false;
  if (first.c == nullptr) return any_denormal(addend_of(U32(operation.constant), shape.d));
  I32 found = I32(0);
  for (const RowPlace& place : plan.rows) {
    const U32 c = load_block(first.c[place.reg], place.block);
    found |= is_denormal(addend_of(place.upper || operation.upper ? c >> 16 : c, shape.d));
  }
  return any(found);
}

/// Sources that have been scaled, by where they are in single precision.
class ScaledSources {
 public:
  static constexpr unsigned most = longest_chain;
  static constexpr unsigned max_elements = 32 * size;  ///< of bfloat16s, which alone are denormal
  using Scaled = ScaledFactors<F32, max_elements>;

  void clear() { count_ = 0; }
  bool has_room(size_t more) const { return count_ + more <= most; }
  const Scaled& get(const Slice* slices, unsigned depth, Substitute substitute) {
    for (unsigned i = 0; i < count_; ++i) {
      if (keys_[i] == slices) return scaled_[i];
    }
    keys_[count_] = slices;
    if (substitute == Substitute::zero) scaled_[count_].assign<Substitute::zero>(slices->of, depth * size);
    if (substitute == Substitute::small) scaled_[count_].assign<Substitute::small>(slices->of, depth * size);
    return scaled_[count_++];
  }

 private:
  unsigned count_ = 0;
  const Slice* keys_[most];  // NOLINT(*-member-init): the first count_ of them
  Scaled scaled_[most];      // NOLINT(*-member-init): the same
};

template <bool sparse>
struct RowsLayout {
  static constexpr unsigned sums = size;

  [[gnu::always_inline]] F32 a(const ChainStep<float>& step, unsigned i) const { return F32(step.a[i]); }
  [[gnu::always_inline]] F32 b(const ChainStep<float>& step, unsigned i) const {
    return load_lanes<F32>(step.b + (sparse ? size_t{step.index[i]} * size : 0));
  }
};

template <WaveElement d, typename Add>
[[gnu::always_inline]] inline void sum_up_denormals(const WaveMatrixCall& call, const Plan& plan,
                                                    const Addends& addends, Add add) {
  const WaveMatrixOperation& operation = *call.operation;
  F32 sums[size];
  for (unsigned row = 0; row < size; ++row) {
    const RowPlace place = plan.rows[row];
    sums[row] = addend_of(addends.at(place, bits_of(d) == 16 && (place.upper || operation.upper)), d);
    if (operation.negate_high[2]) sums[row] = magnitude(sums[row]);
    if (operation.negate[2]) sums[row] = negate(sums[row]);
  }
  add(sums);
  for (unsigned row = 0; row < size; ++row) {
    const RowPlace place = plan.rows[row];
    if constexpr (d == WaveElement::f32) {
      const F32 sum = with_default_nan(sums[row]);
      std::memcpy(&call.d[place.reg][place.block * size], &sum, sizeof sum);
    } else {
      write_d(call, place, result_of(sums[row], d));
    }
  }
}

/// The conditions for flushing denormals of bfloat16s.
FlushedChain<F32> flushed_chain(std::span<const WaveMatrixCall> calls, const Plan& plan, Sources& sources) {
  if (plan.b.element != WaveElement::bf16) return {};
  Exponents a, b;
  for (const WaveMatrixCall& call : calls) {
    a.add(sources.exponents(call.a, plan.a));
    b.add(sources.exponents(call.b, plan.b));
  }
  return {a, b, true};
}

/// D of a chain of bfloat16s with denormals flushed. Returns false if D could depend on them; it is as before then.
[[gnu::noinline]] bool multiply_flushed(const WaveMatrixCall& call, const Plan& plan, std::span<const Factors> chain,
                                        const FlushedChain<F32>& flushed) {
  const auto add = [&](unsigned first, F32(&sums)[rows_at_once]) __attribute__((always_inline)) {
    if (!flushed.takes(sums)) return false;
    add_products<WaveElement::bf16, false>(chain, plan.b, first, sums);
    return flushed.yields(sums);
  };
  if (call.operation->shape->d == WaveElement::bf16) return sum_up<WaveElement::bf16>(call, plan, add);
  return sum_up<WaveElement::f32>(call, plan, add);
}
[[gnu::noinline]] bool multiply_flushed(const WaveMatrixCall& call, const Plan& plan, const Slice* a, const Slice* b,
                                        const FlushedChain<F32>& flushed) {
  return multiply_sparse(call, plan, a, b, [&](auto add_products, const F32(&sums)[rows_at_once]) {
    if (!flushed.takes(sums)) return false;
    add_products();
    return flushed.yields(sums);
  });
}

/// D of a chain, of which `calls` have the factors. Kept apart, as it is large.
[[gnu::noinline]] void multiply_denormals(std::span<const WaveMatrixCall> calls, const Plan& plan, Sources& sources,
                                          ScaledSources& scaled_a, ScaledSources& scaled_b, DenormalScope& scope) {
  const WaveMatrixCall& first = calls.front();
  const WaveMatrixOperation& operation = *first.operation;
  const WaveMatrixShape& shape = *operation.shape;
  if (!sources.has_room(2 * calls.size()) || !scaled_a.has_room(calls.size()) || !scaled_b.has_room(calls.size())) {
    sources.clear();
    scaled_a.clear();
    scaled_b.clear();
  }
  constexpr unsigned max_steps = longest_chain * size;
  ChainSteps<F32, max_steps, max_steps * size> steps;
  Index index;
  ChainPart part{.a_step = size, .b_step = size, .depth = plan.a.depth};
  if (shape.sparse) {
    read_index(first, plan.a_places, plan.a.depth, index);
    part.index = index.depth[0];
  }
  bool is_exact = true;
  for (const WaveMatrixCall& call : calls) {
    const Slice* const a = sources.get(call.a, plan.a, signs_of(*call.operation, 0, shape.a));
    const Slice* const b = sources.get(call.b, plan.b, signs_of(*call.operation, 1, shape.b));
    if (shape.a == WaveElement::bf16) {
      const ScaledSources::Scaled& of_a = scaled_a.get(a, plan.a.depth, Substitute::zero);
      const ScaledSources::Scaled& of_b = scaled_b.get(b, plan.b.depth, Substitute::small);
      if (of_a.is_exact() && of_b.is_exact()) {
        steps.append<1, 1>(of_a, of_b, part);
        continue;
      }
      is_exact = false;
    }
    steps.append(a->of, b->of, part);
  }
  const auto add = [&](F32(&sums)[size]) {
    if (shape.sparse) return add_chain(RowsLayout<true>{}, steps.all(), is_exact, scope, sums);
    add_chain(RowsLayout<false>{}, steps.all(), is_exact, scope, sums);
  };
  const Addends addends(first, plan);
  if (shape.d == WaveElement::f32) return sum_up_denormals<WaveElement::f32>(first, plan, addends, add);
  if (shape.d == WaveElement::f16) return sum_up_denormals<WaveElement::f16>(first, plan, addends, add);
  sum_up_denormals<WaveElement::bf16>(first, plan, addends, add);
}

/// Whether `next` adds its products to what `first` yields, and nothing is done to the sums in between.
bool continues(const WaveMatrixCall& first, const WaveMatrixCall& next) {
  const WaveMatrixOperation &one = *first.operation, &other = *next.operation;
  return next.d == first.d && next.c == next.d && other.shape == one.shape && bits_of(other.shape->d) == 32 &&
         !other.shape->sparse && !one.clamp && !other.clamp && !other.negate[2] && !other.negate_high[2] &&
         (bits_of(other.shape->b) == 16 || other.negate[1] == one.negate[1]);
}

}  // namespace

void wave_multiply(std::span<const WaveMatrixCall> calls) {
  Sources sources;
  ScaledSources scaled_a, scaled_b;
  // It changes nothing for chains without denormals, which may come after those that have some.
  DenormalScope scope;
  const auto clear = [&] {
    sources.clear();
    scaled_a.clear();
    scaled_b.clear();
  };
  while (!calls.empty()) {
    const WaveMatrixCall& first = calls.front();
    const WaveMatrixShape& shape = *first.operation->shape;
    const Plan& plan = plan_of(*first.operation);
    if (!sources.has_room()) clear();
    // Calls multiply(nullptr), or multiply(conditions) to flush denormals, which may return false.
    const auto multiply_chain = [&](std::span<const WaveMatrixCall> chain, auto multiply) {
      if (!may_have_denormals(chain, plan, sources)) {
        multiply(nullptr);
        return;
      }
      const FlushedChain<F32> flushed = flushed_chain(chain, plan, sources);
      if (flushed.is_possible()) {
        scope.flush_operands();
        if (multiply(&flushed)) return;
      }
      multiply_denormals(chain, plan, sources, scaled_a, scaled_b, scope);
    };
    if (shape.sparse) {
      const Slice* const a = sources.get(first.a, plan.a, signs_of(*first.operation, 0, shape.a));
      const Slice* const b = sources.get(first.b, plan.b, signs_of(*first.operation, 1, shape.b));
      multiply_chain(calls.first(1), [&](const FlushedChain<F32>* flushed) {
        if (flushed != nullptr) return multiply_flushed(first, plan, a, b, *flushed);
        return multiply_sparse(first, plan, a, b, [](auto add_products, const F32(&)[rows_at_once]) {
          add_products();
          return true;
        });
      });
      calls = calls.subspan(1);
      continue;
    }
    Factors chain[longest_chain];  // NOLINT(*-member-init): the first `length`
    size_t length = 0;
    do {
      const WaveMatrixCall& call = calls[length];
      chain[length++] = {.a = sources.get(call.a, plan.a, signs_of(*call.operation, 0, shape.a)),
                         .b = call.b,
                         .b_flipped = signs_of(*call.operation, 1, shape.b).flipped};
    } while (length < longest_chain && length < calls.size() && sources.has_room() && continues(first, calls[length]));
    const std::span<const Factors> factors(chain, length);
    multiply_chain(calls.first(length), [&](const FlushedChain<F32>* flushed) {
      if (flushed != nullptr) return multiply_flushed(first, plan, factors, *flushed);
      multiply(first, plan, factors, first.operation->negate[1]);
      return true;
    });
    calls = calls.subspan(length);
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: the products and sums of WMMA and SWMMAC of GFX12.5 (wmma_gfx12_5.h).
//
// A and B are first put in order as single precision: of each depth the 16 rows of A side by side, and the 16 columns
// of B. A row of D is then a chunk of lanes, to which the products of one element of A and a chunk of B are added, one
// depth after the other. Sources that several instructions of a call have in common are put in order once. Integers are
// of so few bits that their products and sums are exact in single precision.
#include "semantics/matrix/wmma_gfx12_5.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "semantics/float/denormals.h"
#include "semantics/float/float_lanes.h"
#include "semantics/float/small_floats.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

using enum DeepElement;

constexpr unsigned columns = 16, max_depth = 128, max_parts = 2;
static_assert(chunk_lanes == columns, "16 lanes are a chunk");

constexpr unsigned bits_of(DeepElement element) {
  switch (element) {
    case fp8:
    case bf8:
    case i8:
      return 8;
    case fp6:
    case bf6:
      return 6;
    case fp4:
      return 4;
    case f16:
    case bf16:
      return 16;
    case f32:
    case i32:
      return 32;
  }
  return 32;
}

/// Elements in one lane before the other lane's come.
constexpr unsigned run_of(DeepElement element) {
  switch (bits_of(element)) {
    case 32:
      return 2;
    case 16:
      return 8;
    case 8:
      return 16;
    default:
      return 32;
  }
}

// --- Where the elements are -----------------------------------------------------------------------------------------

/// The words of 16 lanes, from lane 0 or 16 on.
[[gnu::always_inline]] inline U32 load_block(const Row& row, unsigned block) {
  U32 words;
  std::memcpy(&words, &row[block * columns], sizeof words);
  return words;
}

/// The bits of one field of such lanes' registers.
[[gnu::always_inline]] inline U32 field_of(const Row* rows, unsigned block, unsigned slot, unsigned width) {
  const unsigned first = slot * width, word = first / 32, shift = first % 32;
  U32 field = load_block(rows[word], block) >> shift;
  if (shift + width > 32) field |= load_block(rows[word + 1], block) << (32 - shift);
  return width == 32 ? field : field & ((1u << width) - 1);
}

/// C and D: where the elements of a row are.
struct RowPlace {
  unsigned reg, block;
  bool upper;  ///< of elements of 16 bits
};
constexpr RowPlace place_of(DeepElement element, unsigned row) {
  const unsigned block = row / 8 % 2, number = row / 16 * 8 + row % 8;
  if (bits_of(element) == 32) return {number, block, false};
  return {number / 2, block, number % 2 != 0};
}

// --- Sources --------------------------------------------------------------------------------------------------------

template <DeepElement element, bool is_signed>
[[gnu::always_inline]] inline F32 number_of(U32 code) {
  if constexpr (element == fp8) return decode<OcpFp8>(code);
  if constexpr (element == bf8) return decode<OcpBf8>(code);
  if constexpr (element == fp6) return decode<Fp6>(code);
  if constexpr (element == bf6) return decode<Bf6>(code);
  if constexpr (element == fp4) return decode<Fp4>(code);
  if constexpr (element == f16) return widen(bits<F16>(convert<U16>(code)));
  if constexpr (element == bf16) return bits<F32>(code << 16);
  if constexpr (element == i8 && is_signed) return convert<F32>(bits<I32>(code << 24) >> 24);
  if constexpr (element == i8 && !is_signed) return convert<F32>(bits<I32>(code));
  return bits<F32>(code);
}

F32 scale_of(U32 code, ScaleFormat format) {
  switch (format) {
    case ScaleFormat::e5m3:
      return decode<E5M3>(code);
    case ScaleFormat::e4m3:
      return decode<OcpFp8>(code);
    case ScaleFormat::e8m0:
      break;
  }
  // The least is a denormal, 2 to the power of -127.
  const U32 power = select(code == 0, U32(0x0040'0000), code << 23);
  return select(code == 0xFF, pattern<F32>(Format<F32>::default_nan), bits<F32>(power));
}

/// Sources of the numbers of A or B.
struct SourceKey {
  const Row* rows = nullptr;
  const Row* scales = nullptr;  ///< null: none
  DeepElement element{};
  ScaleFormat scale_format{};
  uint8_t parts = 0;   ///< of 16 rows
  uint8_t depth = 0;   ///< elements of a row
  uint8_t run = 0;     ///< elements in one lane before the other's come
  uint8_t scaled = 0;  ///< elements that a scale is for
  bool negate_even = false, negate_odd = false;
  bool upper_scales = false;

  friend bool operator==(const SourceKey&, const SourceKey&) = default;
};

SourceKey key_of(const DeepMatrixCall& call, bool is_b) {
  const DeepMatrixOperation& operation = *call.operation;
  const DeepMatrixShape& shape = *operation.shape;
  SourceKey key;
  key.rows = is_b ? call.b : call.a;
  key.element = is_b ? operation.b : operation.a;
  key.parts = is_b ? 1 : static_cast<uint8_t>(shape.rows / columns);
  key.depth = static_cast<uint8_t>(shape.sparse && !is_b ? shape.depth / 2 : shape.depth);
  key.run = static_cast<uint8_t>(run_of(key.element) * (is_b && shape.sparse ? 2 : 1));
  key.negate_even = operation.negate[is_b];
  key.negate_odd = bits_of(key.element) == 16 ? operation.negate_high[is_b] : operation.negate[is_b];
  if (operation.scaled == 0) return key;
  key.scales = is_b ? call.b_scales : call.a_scales;
  key.scaled = static_cast<uint8_t>(operation.scaled);
  key.scale_format = operation.scale_formats[is_b];
  key.upper_scales = operation.upper_scales[is_b] && key.parts == 1;
  return key;
}

/// The elements of a source in order, with their scales: of each depth those of 16 rows.
struct Numbers {
  F32 of[max_parts][max_depth];
  unsigned least_exponent;  ///< biased, of those that are not 0; 0 if some are denormal
};

/// The product, exact: scales have 4 bits at most and are powers of two where results are denormal.
[[gnu::always_inline]] inline F32 scaled_by(F32 number, F32 scale) {
  constexpr uint32_t least = 64u << 23;  // the product of two such numbers is normal
  const auto small = [](F32 a) { return bits<U32>(magnitude(a)) - 1 < least - 1; };
  if (any(small(number) | small(scale))) [[unlikely]]
    return narrow_denormals(widen_denormals(number) * widen_denormals(scale));
  return number * scale;
}

template <DeepElement element, bool is_signed>
void read_as(const SourceKey& key, Numbers& numbers) {
  constexpr unsigned registers_of_a_part = 8;  // of 4-bit elements, which alone come with 32 rows
  for (unsigned part = 0; part < key.parts; ++part) {
    const Row* rows = key.rows + size_t{part} * registers_of_a_part;
    for (unsigned block = 0; block < 2; ++block) {
      for (unsigned slot = 0; slot < key.depth / 2u; ++slot) {
        const unsigned k = slot / key.run * 2 * key.run + block * key.run + slot % key.run;
        F32 number = number_of<element, is_signed>(field_of(rows, block, slot, bits_of(element)));
        if (element != i8 && (k % 2 == 0 ? key.negate_even : key.negate_odd)) number = negate(number);
        numbers.of[part][k] = number;
      }
    }
    for (unsigned first = 0; key.scales != nullptr && first < key.depth; first += key.scaled) {
      const unsigned block = key.upper_scales ? 1 : part;
      const F32 scale = scale_of(field_of(key.scales, block, first / key.scaled, 8), key.scale_format);
      for (unsigned k = first; k < first + key.scaled; ++k) {
        numbers.of[part][k] = scaled_by(numbers.of[part][k], scale);
      }
    }
  }
  numbers.least_exponent = exponent_of_zeros;
  if (bits_of(element) != 32 && element != bf16 && key.scales == nullptr) return;
  for (unsigned part = 0; part < key.parts; ++part) {
    const auto* const first = reinterpret_cast<const float*>(numbers.of[part]);
    numbers.least_exponent = std::min(numbers.least_exponent, least_exponent<F32>(first, key.depth * columns));
  }
}

void read(const SourceKey& key, Numbers& numbers) {
  switch (key.element) {
    case fp8:
      return read_as<fp8, true>(key, numbers);
    case bf8:
      return read_as<bf8, true>(key, numbers);
    case fp6:
      return read_as<fp6, true>(key, numbers);
    case bf6:
      return read_as<bf6, true>(key, numbers);
    case fp4:
      return read_as<fp4, true>(key, numbers);
    case f16:
      return read_as<f16, true>(key, numbers);
    case bf16:
      return read_as<bf16, true>(key, numbers);
    case i8:  // neg: it is signed
      return key.negate_even ? read_as<i8, true>(key, numbers) : read_as<i8, false>(key, numbers);
    case f32:
    case i32:
      return read_as<f32, true>(key, numbers);
  }
}

/// Sources that have been read, the last few.
class Sources {
 public:
  /// `kept` stays where it is.
  const Numbers& get(const SourceKey& key, const Numbers* kept = nullptr) {
    for (unsigned i = 0; i < count; ++i) {
      if (keys_[i] == key) return numbers_[i];
    }
    if (&numbers_[next_] == kept) next_ = (next_ + 1) % count;
    const unsigned place = next_;
    next_ = (next_ + 1) % count;
    keys_[place] = key;
    read(key, numbers_[place]);
    is_scaled_[place] = false;
    exponents_[place].reset();
    return numbers_[place];
  }

  /// The exponents of a source that get() has returned.
  const Exponents& exponents(const Numbers& numbers) {
    const unsigned place = place_of(numbers);
    if (!exponents_[place]) {
      exponents_[place].emplace();
      for (unsigned part = 0; part < keys_[place].parts; ++part) {
        const auto* const first = reinterpret_cast<const float*>(numbers.of[part]);
        exponents_[place]->add(exponents_of<F32>(first, keys_[place].depth * columns));
      }
    }
    return *exponents_[place];
  }
  /// Whether its elements are in single precision. All others have 8 or 11 significant bits, with their scales.
  bool has_singles(const Numbers& numbers) const { return bits_of(keys_[place_of(numbers)].element) == 32; }

  static constexpr unsigned max_scaled = 1024;  ///< all but those with scales of their own
  using Scaled = ScaledFactors<F32, max_scaled>;
  /// Sources that get() has returned, scaled.
  const Scaled& scaled(const Numbers& numbers, Substitute substitute) {
    const unsigned place = place_of(numbers);
    if (!is_scaled_[place] || substitutes_[place] != substitute) {
      const auto* const first = reinterpret_cast<const float*>(numbers.of[0]);
      const unsigned elements = keys_[place].depth * columns;
      if (substitute == Substitute::zero) scaled_[place].assign<Substitute::zero>(first, elements);
      if (substitute == Substitute::small) scaled_[place].assign<Substitute::small>(first, elements);
      is_scaled_[place] = true;
      substitutes_[place] = substitute;
    }
    return scaled_[place];
  }

 private:
  unsigned place_of(const Numbers& numbers) const { return static_cast<unsigned>(&numbers - numbers_); }

  static constexpr unsigned count = 8;
  SourceKey keys_[count];
  unsigned next_ = 0;
  std::optional<Exponents> exponents_[count];
  bool is_scaled_[count]{};
  Substitute substitutes_[count]{};
  Numbers numbers_[count];  // NOLINT(*-member-init): what is read
  Scaled scaled_[count];    // NOLINT(*-member-init): if is_scaled_
};

/// For a sparse A: the depth of B of each element.
struct Index {
  uint8_t depth[max_depth / 2][columns];
};
void read_index(const Row* rows, unsigned depth_of_a, Index& index) {
  const unsigned in_lane = depth_of_a / 2;
  for (unsigned k = 0; k < depth_of_a; ++k) {
    const U8 bytes = convert<U8>(field_of(rows, k / in_lane, k % in_lane, 2) + k / 2 * 4);
    std::memcpy(index.depth[k], &bytes, sizeof bytes);
  }
}

// --- Products -------------------------------------------------------------------------------------------------------

/// Rows whose sums are in host registers at a time.
#if ATOLL_LEVEL_HAS(avx512)
constexpr unsigned rows_at_once = 16;
#else
constexpr unsigned rows_at_once = 4;
#endif

U32 addend_code(const DeepMatrixCall& call, unsigned row) {
  const DeepMatrixOperation& operation = *call.operation;
  if (call.c == nullptr) return U32(operation.constant);
  const RowPlace place = place_of(operation.shape->c, row);
  const U32 words = load_block(call.c[place.reg], place.block);
  if (bits_of(operation.shape->c) == 32) return words;
  return place.upper ? words >> 16 : words & 0xFFFF;
}

F32 addend_of(const DeepMatrixCall& call, unsigned row) {
  const DeepMatrixOperation& operation = *call.operation;
  const U32 code = addend_code(call, row);
  F32 number = bits<F32>(code);
  if (operation.shape->c == f16) number = number_of<f16, true>(code);
  if (operation.shape->c == bf16) number = number_of<bf16, true>(code);
  if (operation.negate_high[2]) number = magnitude(number);
  return operation.negate[2] ? negate(number) : number;
}

U32 result_of(const DeepMatrixCall& call, unsigned row, F32 sum) {
  const DeepMatrixOperation& operation = *call.operation;
  const DeepElement d = operation.shape->d;
  if (d == i32) {
    const U32 c = addend_code(call, row), products = bits<U32>(convert<I32>(sum));
    return operation.clamp ? bits<U32>(__builtin_elementwise_add_sat(bits<I32>(c), bits<I32>(products))) : c + products;
  }
  sum = with_default_nan(sum);
  if (d == f16) return convert<U32>(narrow_to_half(sum));
  const U32 word = bits<U32>(sum);
  return d == bf16 ? (word + 0x7FFF + (word >> 16 & 1)) >> 16 : word;
}

void write_d(const DeepMatrixCall& call, unsigned row, U32 result) {
  const DeepElement d = call.operation->shape->d;
  const RowPlace place = place_of(d, row);
  uint32_t* to = &call.d[place.reg][place.block * columns];
  if (bits_of(d) == 16) {
    const U32 old = load_block(call.d[place.reg], place.block);
    result = place.upper ? (old & 0xFFFF) | result << 16 : (old & 0xFFFF0000) | result;
  }
  std::memcpy(to, &result, sizeof result);
}

/// Adds the products of some rows, from row `first` of a part on.
[[gnu::always_inline]] inline void add_products(const F32* a, const F32* b, unsigned depth, unsigned first,
                                                F32 (&sums)[rows_at_once]) {
  for (unsigned k = 0; k < depth; ++k) {
    const float* const of_a = reinterpret_cast<const float*>(a + k) + first;
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) sums[i] = fused(F32(of_a[i]), b[k], sums[i]);
  }
}

/// As above for a sparse A, whose elements have a row of B each.
[[gnu::always_inline]] inline void add_sparse_products(const F32* a, const F32* b, const Index& index, unsigned depth,
                                                       unsigned first, F32 (&sums)[rows_at_once]) {
  for (unsigned k = 0; k < depth; ++k) {
    const float* const of_a = reinterpret_cast<const float*>(a + k) + first;
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) {
      sums[i] = fused(F32(of_a[i]), b[index.depth[k][first + i]], sums[i]);
    }
  }
}

// --- Denormals (denormals.h) ----------------------------------------------------------------------------------------

template <bool sparse>
struct RowsLayout {
  static constexpr unsigned sums = columns;

  [[gnu::always_inline]] F32 a(const ChainStep<float>& step, unsigned i) const { return F32(step.a[i]); }
  [[gnu::always_inline]] F32 b(const ChainStep<float>& step, unsigned i) const {
    return load_lanes<F32>(step.b + (sparse ? size_t{step.index[i]} * columns : 0));
  }
};

bool has_denormal_c(const DeepMatrixCall& call) {
  const DeepMatrixShape& shape = *call.operation->shape;
  if (shape.d == i32) return false;
  I32 found = I32(0);
  for (unsigned row = 0; row < shape.rows; ++row) found |= is_denormal(addend_of(call, row));
  return any(found);
}

/// Adds the products of some 16 rows. Kept apart, as it is large.
[[gnu::noinline]] void add_denormal_products(Sources& sources, const Numbers& a, const Numbers& b, unsigned part_of_a,
                                             const Index* index, unsigned depth, unsigned depth_of_b,
                                             DenormalScope& scope, F32 (&sums)[columns]) {
  ChainSteps<F32, max_depth, max_depth * columns> steps;
  ChainPart part{.a_step = columns, .b_step = columns, .depth = depth};
  if (index != nullptr) part.index = index->depth[0];
  steps.append(reinterpret_cast<const float*>(a.of[part_of_a]), reinterpret_cast<const float*>(b.of[0]), part);
  const FlushedChain<F32> flushed(sources.exponents(a), sources.exponents(b),
                                  !sources.has_singles(a) && !sources.has_singles(b));
  const auto add_to = [&](const auto& layout) {
    if (flushed.add(layout, steps.all(), scope, sums)) return;
    bool is_exact = false;
    if (part_of_a == 0 && depth_of_b * columns <= Sources::max_scaled) {
      const Sources::Scaled& of_a = sources.scaled(a, Substitute::zero);
      const Sources::Scaled& of_b = sources.scaled(b, Substitute::small);
      is_exact = of_a.is_exact() && of_b.is_exact();
      if (is_exact) {
        steps.clear();
        steps.append<1, 1>(of_a, of_b, part);
      }
    }
    add_chain(layout, steps.all(), is_exact, scope, sums);
  };
  if (index != nullptr) return add_to(RowsLayout<true>{});
  add_to(RowsLayout<false>{});
}

void multiply_one(const DeepMatrixCall& call, Sources& sources) {
  const DeepMatrixShape& shape = *call.operation->shape;
  const SourceKey key_of_a = key_of(call, false);
  const Numbers& a = sources.get(key_of_a);
  const SourceKey key_of_b = key_of(call, true);
  const Numbers& b = sources.get(key_of_b, &a);
  const bool has_denormals = may_be_denormal<F32>(a.least_exponent, b.least_exponent) || has_denormal_c(call);
  Index index;
  if (shape.sparse) read_index(call.index, key_of_a.depth, index);
  // D is written when all of it is known: A, B and C may be in its registers.
  U32 results[max_parts * columns];  // NOLINT(*-member-init): the first `rows`
  DenormalScope scope;
  for (unsigned row = 0; has_denormals && row < shape.rows; row += columns) {
    F32 sums[columns];
    for (unsigned i = 0; i < columns; ++i) sums[i] = addend_of(call, row + i);
    add_denormal_products(sources, a, b, row / columns, shape.sparse ? &index : nullptr, key_of_a.depth, key_of_b.depth,
                          scope, sums);
    for (unsigned i = 0; i < columns; ++i) results[row + i] = result_of(call, row + i, sums[i]);
  }
  for (unsigned row = 0; !has_denormals && row < shape.rows; row += rows_at_once) {
    const F32* const of_a = a.of[row / columns];
    const unsigned first = row % columns;
    F32 sums[rows_at_once];
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) sums[i] = shape.d == i32 ? F32(0) : addend_of(call, row + i);
    if (shape.sparse) {
      add_sparse_products(of_a, b.of[0], index, key_of_a.depth, first, sums);
    } else {
      add_products(of_a, b.of[0], key_of_a.depth, first, sums);
    }
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) results[row + i] = result_of(call, row + i, sums[i]);
  }
  for (unsigned row = 0; row < shape.rows; ++row) write_d(call, row, results[row]);
}

}  // namespace

void deep_multiply(std::span<const DeepMatrixCall> calls) {
  Sources sources;
  for (const DeepMatrixCall& call : calls) multiply_one(call, sources);
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// semantics: the products and sums of WMMA and SWMMAC (wave_matrix.h).
//
// A, B and C are first put in order as single precision: of each depth the 16 rows of A side by side, and the 16
// columns of B. A row of D is then a chunk of lanes, to which the products of one element of A and a chunk of B are
// added.
#include "semantics/wave_matrix.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "semantics/float_lanes.h"
#include "semantics/rare_lanes.h"
#include "semantics/small_floats.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

namespace {

constexpr unsigned size = 16;  ///< rows and columns of D
static_assert(chunk_lanes == size, "a block of lanes is a chunk");
constexpr unsigned most_depth = 64;

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

/// The places of the elements of one row of A, or column of B.
struct Places {
  Place of[most_depth];
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

/// All places of an instruction in a layout and wave size.
struct Plan {
  Places a, b;
  RowPlace rows[size];

  Plan(const WaveMatrixShape& shape, target::WaveMatrices layout, unsigned wave_size)
      : a(places_of(layout, wave_size, shape.a, shape.sparse ? shape.depth / 2u : shape.depth)),
        b(places_of(layout, wave_size, shape.b, shape.depth)) {
    for (unsigned row = 0; row < size; ++row) rows[row] = row_place(layout, wave_size, shape.d, row);
  }
};

const Plan& plan_of(const WaveMatrixCall& call) {
  static const std::vector<Plan> plans = [] {
    std::vector<Plan> made;
    for (const WaveMatrixShape& shape : wave_matrix_shapes()) {
      for (const auto layout : {target::WaveMatrices::replicated, target::WaveMatrices::spread}) {
        for (const unsigned wave_size : {32u, 64u}) made.emplace_back(shape, layout, wave_size);
      }
    }
    return made;
  }();
  const auto number = static_cast<size_t>(call.shape - wave_matrix_shapes().data());
  const bool spread = call.layout == target::WaveMatrices::spread;
  return plans[number * 4 + (spread ? 2 : 0) + (call.wave_size == 64 ? 1 : 0)];
}

// --- Sources and results --------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline U32 load_block(const Row& row, unsigned block) {
  U32 words;
  std::memcpy(&words, &row[block * size], sizeof words);
  return words;
}

/// The elements in the low bits of the words. `negative`: of integers, they are signed.
template <WaveElement element>
[[gnu::always_inline]] inline F32 number(U32 word, bool negative) {
  if constexpr (element == WaveElement::f16) {
    const F32 value = widen(bits<F16>(convert<U16>(word)));
    return negative ? negate(value) : value;
  } else if constexpr (element == WaveElement::bf16) {
    const F32 value = bits<F32>(word << 16);
    return negative ? negate(value) : value;
  } else if constexpr (element == WaveElement::fp8) {
    return decode<OcpFp8>(word);
  } else if constexpr (element == WaveElement::bf8) {
    return decode<OcpBf8>(word);
  } else {
    constexpr unsigned unused = 32 - bits_of(element);
    const U32 top = word << unused;
    return convert<F32>(negative ? bits<I32>(top) >> int(unused) : bits<I32>(top >> unused));
  }
}

struct alignas(64) Source {
  float of[most_depth][size];  ///< by depth, then row or column

  [[gnu::always_inline]] F32 at(unsigned k) const {
    F32 values;
    std::memcpy(&values, of[k], sizeof values);
    return values;
  }
};

/// `negative`: of 16-bit elements in even slots, `odd` of the others.
template <WaveElement element>
void read(const Row* rows, const Places& places, unsigned depth, bool negative, bool odd, Source& source) {
  constexpr unsigned width = bits_of(element);
  for (unsigned k = 0; k < depth; ++k) {
    const Place place = places.of[k];
    const unsigned first = place.slot * width;
    const U32 word = load_block(rows[first / 32], place.block) >> first % 32;
    const F32 values = number<element>(word, width == 16 && place.slot % 2 != 0 ? odd : negative);
    std::memcpy(source.of[k], &values, sizeof values);
  }
}

void read(WaveElement element, const Row* rows, const Places& places, unsigned depth, bool negative, bool odd,
          Source& source) {
  switch (element) {
    case WaveElement::f16:
      return read<WaveElement::f16>(rows, places, depth, negative, odd, source);
    case WaveElement::bf16:
      return read<WaveElement::bf16>(rows, places, depth, negative, odd, source);
    case WaveElement::i8:
      return read<WaveElement::i8>(rows, places, depth, negative, odd, source);
    case WaveElement::i4:
      return read<WaveElement::i4>(rows, places, depth, negative, odd, source);
    case WaveElement::fp8:
      return read<WaveElement::fp8>(rows, places, depth, negative, odd, source);
    case WaveElement::bf8:
      return read<WaveElement::bf8>(rows, places, depth, negative, odd, source);
    case WaveElement::f32:
    case WaveElement::i32:
      return;  // of results alone
  }
}

/// Of a sparse A, which depth of B each element belongs to.
struct Index {
  uint8_t depth[most_depth / 2][size];
};

void read_index(const WaveMatrixCall& call, const Places& places, unsigned depth, Index& index) {
  for (unsigned k = 0; k < depth; ++k) {
    const Place place = places.of[k];
    const unsigned shift = 2 * (call.index_key * unsigned{places.in_lane} + place.slot);
    const U32 which = (load_block(*call.index, place.block) >> shift & 3) + k / 2 * 4;
    const U8 bytes = convert<U8>(which);
    std::memcpy(index.depth[k], &bytes, sizeof bytes);
  }
}

F32 single_of(U32 c, WaveElement element) {
  if (element == WaveElement::f16) return widen(bits<F16>(convert<U16>(c)));
  return bits<F32>(element == WaveElement::bf16 ? c << 16 : c);
}

U32 result_of(F32 sum, WaveElement element) {
  sum = unless<[](F32 usual) { return select(usual == usual, usual, pattern<F32>(Format<F32>::default_nan)); }>(
      is_nan(sum), sum);
  if (element == WaveElement::f16) return convert<U32>(bits<U16>(narrow(sum)));
  if (element == WaveElement::bf16) return convert<U32>(to_brain(sum));
  return bits<U32>(sum);
}

void write_d(const WaveMatrixCall& call, RowPlace place, U32 result) {
  uint32_t* to = &call.d[place.reg][place.block * size];
  if (bits_of(call.shape->d) == 16) {
    U32 old;
    std::memcpy(&old, to, sizeof old);
    result = place.upper || call.upper ? (old & 0xFFFF) | result << 16 : (old & 0xFFFF0000) | (result & 0xFFFF);
  }
  std::memcpy(to, &result, sizeof result);
}

// --- Products -------------------------------------------------------------------------------------------------------

/// Rows whose sums are in host registers at a time.
#if ATOLL_LEVEL_HAS(avx512)
constexpr unsigned rows_at_once = 8;
#else
constexpr unsigned rows_at_once = 4;
#endif

/// Adds the products to some rows' sums, from row `first` on.
template <bool sparse>
void add_products(const Source& a, const Source& b, const Index& index, unsigned depth, unsigned first, F32* sums) {
  F32 sum[rows_at_once];
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < rows_at_once; ++i) sum[i] = sums[i];
  for (unsigned k = 0; k < depth; ++k) {
    const F32 factor = sparse ? F32(0) : b.at(k);
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < rows_at_once; ++i) {
      const unsigned row = first + i;
      sum[i] = fused(F32(a.of[k][row]), sparse ? b.at(index.depth[k][row]) : factor, sum[i]);
    }
  }
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < rows_at_once; ++i) sums[i] = sum[i];
}

}  // namespace

void wave_multiply(const WaveMatrixCall& call) {
  const WaveMatrixShape& shape = *call.shape;
  const Plan& plan = plan_of(call);
  const unsigned depth_of_a = shape.sparse ? shape.depth / 2u : shape.depth;
  Source a, b;
  Index index;
  read(shape.a, call.a, plan.a, depth_of_a, call.negate[0], call.negate_high[0], a);
  read(shape.b, call.b, plan.b, shape.depth, call.negate[1], call.negate_high[1], b);
  if (shape.sparse) read_index(call, plan.a, depth_of_a, index);

  const bool integers = shape.d == WaveElement::i32;
  U32 c[size];
  F32 sums[size];
  for (unsigned row = 0; row < size; ++row) {
    const RowPlace place = plan.rows[row];
    c[row] = call.c == nullptr ? U32(static_cast<uint32_t>(call.constant)) : load_block(call.c[place.reg], place.block);
    if (call.c != nullptr && (place.upper || call.upper)) c[row] >>= 16;
    F32 start = integers ? F32(0) : single_of(c[row], shape.d);
    if (call.negate_high[2]) start = magnitude(start);
    if (call.negate[2]) start = negate(start);
    sums[row] = start;
  }
  for (unsigned row = 0; row < size; row += rows_at_once) {
    if (shape.sparse) {
      add_products<true>(a, b, index, depth_of_a, row, sums + row);
    } else {
      add_products<false>(a, b, index, depth_of_a, row, sums + row);
    }
  }
  for (unsigned row = 0; row < size; ++row) {
    if (integers) {  // no sum has so many products that it would not be exact in single precision
      const U32 sum = bits<U32>(convert<I32>(sums[row]));
      write_d(call, plan.rows[row],
              call.clamp ? bits<U32>(__builtin_elementwise_add_sat(bits<I32>(c[row]), bits<I32>(sum))) : c[row] + sum);
    } else {
      write_d(call, plan.rows[row], result_of(sums[row], shape.d));
    }
  }
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

// semantics: the products and sums of WMMA and SWMMAC (wave_matrix.h).
//
// A, B and C are first put in order as single precision: of each depth the 16 rows of A side by side, and the 16
// columns of B. A row of D is then a chunk of lanes, to which the products of one element of A and a chunk of B are
// added.
#include "semantics/wave_matrix.h"

#include <algorithm>
#include <cstring>

#include "semantics/float_lanes.h"
#include "semantics/row.h"
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

/// Where an element of a source is: in which block of lanes, and which of its lane's elements it is.
struct Place {
  unsigned block, slot;
};

/// The places of the elements of one row of A or column of B.
class Places {
 public:
  Places(const WaveMatrixCall& call, WaveElement element, unsigned depth)
      : layout_(call.layout), blocks_(call.wave_size / size), is_half_(bits_of(element) == 16) {
    in_lane_ = depth;
    if (layout_ == target::WaveMatrices::replicated) return;
    in_lane_ = std::max(depth / blocks_, 32 / bits_of(element));
    blocks_ = depth / in_lane_;
  }

  unsigned in_lane() const { return in_lane_; }

  Place of(unsigned k) const {
    if (layout_ == target::WaveMatrices::replicated) return {0, k};
    if (is_half_ && blocks_ == 2) {
      const unsigned run = in_lane_ / 2;
      return {k / run % 2, k / (2 * run) * run + k % run};
    }
    const unsigned run = k / in_lane_;
    return {!is_half_ && blocks_ == 4 ? run % 2 * 2 + run / 2 : run, k % in_lane_};
  }

 private:
  target::WaveMatrices layout_;
  unsigned blocks_, in_lane_;
  bool is_half_;
};

[[gnu::always_inline]] inline U32 load_block(const Row& row, unsigned block) {
  U32 words;
  std::memcpy(&words, &row[block * size], sizeof words);
  return words;
}

/// The elements of one slot of a block of lanes. `high`: neg_hi, of odd slots.
F32 read_elements(const Row* rows, Place place, WaveElement element, bool negative, bool high) {
  const unsigned width = bits_of(element), first = place.slot * width;
  const U32 word = load_block(rows[first / 32], place.block) >> first % 32;
  switch (element) {
    case WaveElement::f16: {
      const F32 value = widen(bits<F16>(convert<U16>(word)));
      return (place.slot % 2 != 0 ? high : negative) ? negate(value) : value;
    }
    case WaveElement::bf16: {
      const F32 value = bits<F32>(word << 16);
      return (place.slot % 2 != 0 ? high : negative) ? negate(value) : value;
    }
    case WaveElement::fp8:
      return decode<OcpFp8>(word);
    case WaveElement::bf8:
      return decode<OcpBf8>(word);
    default: {  // integers, signed if `negative`
      const U32 top = word << (32 - width);
      return negative ? convert<F32>(bits<I32>(top) >> int(32 - width)) : convert<F32>(bits<I32>(top >> (32 - width)));
    }
  }
}

struct alignas(64) Source {
  float of[most_depth][size];  ///< by depth, then row or column

  F32 at(unsigned k) const {
    F32 values;
    std::memcpy(&values, of[k], sizeof values);
    return values;
  }
};

void read(const WaveMatrixCall& call, unsigned number, unsigned depth, Source& source) {
  const WaveElement element = number == 0 ? call.shape->a : call.shape->b;
  const Row* rows = number == 0 ? call.a : call.b;
  const Places places(call, element, depth);
  for (unsigned k = 0; k < depth; ++k) {
    const F32 values = read_elements(rows, places.of(k), element, call.negate[number], call.negate_high[number]);
    std::memcpy(source.of[k], &values, sizeof values);
  }
}

/// Of a sparse A, which depth of B each element belongs to.
struct Index {
  uint8_t depth[most_depth / 2][size];
};

void read_index(const WaveMatrixCall& call, unsigned depth, Index& index) {
  const Places places(call, call.shape->a, depth);
  for (unsigned k = 0; k < depth; ++k) {
    const Place place = places.of(k);
    const unsigned shift = 2 * (call.index_key * places.in_lane() + place.slot);
    for (unsigned row = 0; row < size; ++row) {
      const uint32_t bits = (*call.index)[place.block * size + row] >> shift & 3;
      index.depth[k][row] = static_cast<uint8_t>(k / 2 * 4 + bits);
    }
  }
}

/// Where a row of C or D is: the register, whether in its upper half (of 16 bits), and the block of lanes.
struct RowPlace {
  unsigned reg, block;
  bool upper;
};

RowPlace row_place(const WaveMatrixCall& call, unsigned row) {
  const unsigned blocks = call.wave_size / size;
  if (call.layout == target::WaveMatrices::replicated) return {row / blocks, row % blocks, call.upper};
  const unsigned registers = size / blocks;
  const unsigned block = blocks == 2 ? row / 8 : row / 8 + row / 4 % 2 * 2, number = row % registers;
  if (bits_of(call.shape->d) == 32) return {number, block, false};
  return {number / 2, block, number % 2 != 0};
}

/// C's bits, 16-bit ones in the low half.
U32 read_c(const WaveMatrixCall& call, unsigned row) {
  if (call.c == nullptr) return U32(static_cast<uint32_t>(call.constant));
  const RowPlace place = row_place(call, row);
  const U32 word = load_block(call.c[place.reg], place.block);
  return place.upper ? word >> 16 : word;
}

F32 single_of(U32 c, WaveElement element) {
  if (element == WaveElement::f16) return widen(bits<F16>(convert<U16>(c)));
  return bits<F32>(element == WaveElement::bf16 ? c << 16 : c);
}

U32 result_of(F32 sum, WaveElement element) {
  sum = select(sum == sum, sum, pattern<F32>(Format<F32>::default_nan));
  if (element == WaveElement::f16) return convert<U32>(bits<U16>(narrow(sum)));
  if (element == WaveElement::bf16) return convert<U32>(to_brain(sum));
  return bits<U32>(sum);
}

void write_d(const WaveMatrixCall& call, unsigned row, U32 result) {
  const RowPlace place = row_place(call, row);
  uint32_t* to = &call.d[place.reg][place.block * size];
  if (bits_of(call.shape->d) == 16) {
    U32 old;
    std::memcpy(&old, to, sizeof old);
    result = place.upper ? (old & 0xFFFF) | result << 16 : (old & 0xFFFF0000) | (result & 0xFFFF);
  }
  std::memcpy(to, &result, sizeof result);
}

/// Adds the products to four rows' sums, from row `first` on.
template <bool sparse>
void add_products(const Source& a, const Source& b, const Index& index, unsigned depth, unsigned first, F32* sums) {
  F32 sum[4] = {sums[0], sums[1], sums[2], sums[3]};
  for (unsigned k = 0; k < depth; ++k) {
    const F32 factor = sparse ? F32(0) : b.at(k);
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = first + i;
      sum[i] = fused(F32(a.of[k][row]), sparse ? b.at(index.depth[k][row]) : factor, sum[i]);
    }
  }
  for (unsigned i = 0; i < 4; ++i) sums[i] = sum[i];
}

}  // namespace

void wave_multiply(const WaveMatrixCall& call) {
  const WaveMatrixShape& shape = *call.shape;
  const unsigned depth_of_a = shape.sparse ? shape.depth / 2u : shape.depth;
  Source a, b;
  Index index;
  read(call, 0, depth_of_a, a);
  read(call, 1, shape.depth, b);
  if (shape.sparse) read_index(call, depth_of_a, index);

  const bool integers = shape.d == WaveElement::i32;
  U32 c[size];
  F32 sums[size];
  for (unsigned row = 0; row < size; ++row) {
    c[row] = read_c(call, row);
    F32 start = integers ? F32(0) : single_of(c[row], shape.d);
    if (call.negate_high[2]) start = magnitude(start);
    if (call.negate[2]) start = negate(start);
    sums[row] = start;
  }
  for (unsigned row = 0; row < size; row += 4) {
    if (shape.sparse) {
      add_products<true>(a, b, index, depth_of_a, row, sums + row);
    } else {
      add_products<false>(a, b, index, depth_of_a, row, sums + row);
    }
  }
  for (unsigned row = 0; row < size; ++row) {
    if (integers) {  // no sum has so many products that it would not be exact in single precision
      const U32 sum = bits<U32>(convert<I32>(sums[row]));
      write_d(call, row,
              call.clamp ? bits<U32>(__builtin_elementwise_add_sat(bits<I32>(c[row]), bits<I32>(sum))) : c[row] + sum);
    } else {
      write_d(call, row, result_of(sums[row], shape.d));
    }
  }
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics

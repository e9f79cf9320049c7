// WMMA and SWMMAC on matrices of small numbers whose products and sums are exact, against plain loops over rows,
// columns and depth. The elements are put into registers by formulas of their own, from an element's row, column and
// depth to its lane and place there: for GFX11 those of AMD's article about WMMA on RDNA 3, for GFX12 those that AMD's
// tests have found to be the hardware's (wmma.h names them).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "isa/table.h"
#include "semantics/matrix/wmma.h"

namespace Atoll::semantics::test {

using target::WaveMatrices;
using enum WaveElement;

inline unsigned bits_of(WaveElement element) {
  switch (element) {
    case f16:
    case bf16:
      return 16;
    case i4:
      return 4;
    case f32:
    case i32:
      return 32;
    default:
      return 8;
  }
}

struct alignas(64) Registers {
  Row rows[8]{};
};

/// The code of a number in a format; all numbers here have one.
inline uint32_t code_of(double number, WaveElement element) {
  const auto small = [&](int exponent_bits, int fraction_bits) -> uint32_t {
    const uint32_t sign = std::signbit(number) ? 1u << (exponent_bits + fraction_bits) : 0;
    if (number == 0) return sign;
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(number), &exponent);  // in [0.5, 1)
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto mantissa = static_cast<uint32_t>(std::ldexp(fraction, fraction_bits + 1));
    return sign | static_cast<uint32_t>(exponent - 1 + bias) << fraction_bits |
           (mantissa & ((1u << fraction_bits) - 1));
  };
  switch (element) {
    case f16:
      return small(5, 10);
    case bf16:
      return small(8, 7);
    case fp8:
      return small(4, 3);
    case bf8:
      return small(5, 2);
    case f32:
      return std::bit_cast<uint32_t>(static_cast<float>(number));
    default:
      return static_cast<uint32_t>(static_cast<int64_t>(number)) &
             static_cast<uint32_t>((uint64_t{1} << bits_of(element)) - 1);
  }
}

struct Place {
  unsigned lane, slot;
};

/// Where element `k` of a row of A, or column of B, with `depth` elements is; `line`: the row or column.
inline Place place_of(WaveMatrices layout, unsigned wave, WaveElement element, unsigned depth, unsigned line,
                      unsigned k) {
  if (layout == WaveMatrices::replicated) return {line, k};
  if (bits_of(element) == 16) {
    const unsigned run = depth == 16 ? 4 : 8;  // of 16 elements or of 32
    if (wave == 64) return {line + 16 * (k / run), k % run};
    return {line + 16 * (k / run % 2), run * (k / (2 * run)) + k % run};
  }
  const unsigned in_lane = std::max(depth * 16 / wave, 32 / bits_of(element)), blocks = depth / in_lane;
  unsigned block = k / in_lane;
  if (blocks == 4) block = (block & 1) << 1 | block >> 1;
  return {line + 16 * block, k % in_lane};
}

inline void put(Registers& registers, Place place, unsigned width, uint32_t code) {
  registers.rows[place.slot * width / 32][place.lane] |= code << place.slot * width % 32;
}

/// Where row `i`, column `j` of D is: the lane, and the register (in halves, of 16 bits).
inline Place place_of_result(WaveMatrices layout, unsigned wave, WaveElement element, unsigned i, unsigned j,
                             bool upper) {
  if (layout == WaveMatrices::replicated) {
    const unsigned rows_beside = wave / 16;
    const Place place{j + 16 * (i % rows_beside), i / rows_beside};
    return bits_of(element) == 16 ? Place{place.lane, 2 * place.slot + upper} : place;
  }
  if (wave == 32) return {j + 16 * (i / 8), i % 8};
  return {j + 16 * (i / 8) + 32 * (i / 4 % 2), i % 4};
}

struct Options {
  bool a_signed = false, b_signed = false, clamp = false, upper = false, constant = false;
  bool negate[3]{}, negate_high[3]{};
  unsigned key = 0;
};

/// What is tested: executes one instruction.
using Multiply = std::function<void(const WaveMatrixCall& call)>;

class Multiplication {
 public:
  Multiplication(const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave, const Options& options,
                 unsigned seed, Multiply multiply)
      : shape_(shape), layout_(layout), wave_(wave), options_(options), multiply_(std::move(multiply)), random_(seed) {}

  void check() {
    const unsigned depth_of_a = shape_.sparse ? shape_.depth / 2u : shape_.depth;
    Registers a, b, c, index;
    for (unsigned line = 0; line < 16; ++line) {
      for (unsigned k = 0; k < depth_of_a; ++k) {
        const Place place = place_of(layout_, wave_, shape_.a, depth_of_a, line, k);
        a_[line][k] = number(shape_.a, options_.a_signed);
        put(a, place, bits_of(shape_.a), code_of(a_[line][k], shape_.a));
        if (odd_or_even(place, options_.negate[0], options_.negate_high[0], shape_.a)) a_[line][k] = -a_[line][k];
        if (shape_.sparse) {
          // The second of a pair is after the first.
          const unsigned which =
              k % 2 == 0 ? random_() % 3 : index_[line][k - 1] % 4 + 1 + random_() % (3 - index_[line][k - 1] % 4);
          index_[line][k] = k / 2 * 4 + which;
          const unsigned in_lane = depth_of_a / std::min(wave_ / 16, depth_of_a * bits_of(shape_.a) / 32);
          index.rows[0][place.lane] |= which << 2 * (options_.key * in_lane + place.slot);
        }
      }
      for (unsigned k = 0; k < shape_.depth; ++k) {
        const Place place = place_of(layout_, wave_, shape_.b, shape_.depth, line, k);
        b_[k][line] = number(shape_.b, options_.b_signed);
        put(b, place, bits_of(shape_.b), code_of(b_[k][line], shape_.b));
        if (odd_or_even(place, options_.negate[1], options_.negate_high[1], shape_.b)) b_[k][line] = -b_[k][line];
      }
    }
    const uint32_t constant = code_of(2, shape_.d);
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned j = 0; j < 16; ++j) {
        double& value = c_[i][j];
        value = options_.constant ? 2 : number(i32, true);
        if (shape_.d == i32 && options_.clamp && !options_.constant) {
          value +=
              i % 2 == 0 ? std::numeric_limits<int32_t>::max() - 100.0 : std::numeric_limits<int32_t>::min() + 100.0;
          value = std::clamp<double>(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
        }
        const Place place = place_of_result(layout_, wave_, shape_.d, i, j, options_.upper);
        put(c, place, bits_of(shape_.d), code_of(value, shape_.d));
        if (options_.negate_high[2]) value = std::fabs(value);
        if (options_.negate[2]) value = -value;
      }
    }
    if (layout_ == WaveMatrices::replicated) {
      for (unsigned lane = 16; lane < wave_; ++lane) {
        for (unsigned r = 0; r < 8; ++r) {
          a.rows[r][lane] = a.rows[r][lane % 16];
          b.rows[r][lane] = b.rows[r][lane % 16];
        }
      }
    }

    Registers d = c;
    WaveMatrixOperation operation;
    operation.shape = &shape_;
    operation.layout = layout_;
    operation.wave_size = static_cast<uint8_t>(wave_);
    operation.constant = constant;
    operation.index_key = static_cast<uint8_t>(options_.key);
    for (unsigned i = 0; i < 3; ++i) {
      operation.negate[i] = options_.negate[i];
      operation.negate_high[i] = options_.negate_high[i];
    }
    if (shape_.d == i32) {
      operation.negate[0] = options_.a_signed;
      operation.negate[1] = options_.b_signed;
    }
    operation.clamp = options_.clamp;
    operation.upper = options_.upper;
    const WaveMatrixCall call{.operation = &operation,
                              .d = d.rows,
                              .a = a.rows,
                              .b = b.rows,
                              .c = options_.constant ? nullptr : d.rows,
                              .index = index.rows};
    multiply_(call);

    Registers expected = c;
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned j = 0; j < 16; ++j) {
        const unsigned width = bits_of(shape_.d);
        const Place place = place_of_result(layout_, wave_, shape_.d, i, j, options_.upper);
        uint32_t& word = expected.rows[place.slot * width / 32][place.lane];
        const unsigned shift = place.slot * width % 32;
        const auto mask = static_cast<uint32_t>(((uint64_t{1} << width) - 1) << shift);
        word = (word & ~mask) | code_of(sum(i, j, depth_of_a), shape_.d) << shift;
      }
    }
    for (unsigned r = 0; r < 8; ++r) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        ASSERT_EQ(d.rows[r][lane], expected.rows[r][lane])
            << isa::row(shape_.opcode).name << " wave" << wave_ << " register " << r << " lane " << lane;
      }
    }

    // The same where A or B was.
    if (bits_of(shape_.d) != 32) return;
    for (const Registers* source : {&a, &b}) {
      Registers over = *source;
      WaveMatrixCall there = call;
      there.d = over.rows;
      (source == &a ? there.a : there.b) = over.rows;
      if (there.c != nullptr) there.c = c.rows;
      multiply_(there);
      for (unsigned i = 0; i < 16; ++i) {
        for (unsigned j = 0; j < 16; ++j) {
          const Place place = place_of_result(layout_, wave_, shape_.d, i, j, false);
          ASSERT_EQ(over.rows[place.slot][place.lane], expected.rows[place.slot][place.lane])
              << isa::row(shape_.opcode).name << " wave" << wave_ << (source == &a ? " over A" : " over B");
        }
      }
    }
  }

 private:
  double number(WaveElement element, bool is_signed) {
    switch (element) {
      case f16:
        return static_cast<int>(random_() % 9) - 4;
      case bf16:  // sums of these have no more than its 8 bits
        return static_cast<int>(random_() % 5) - 2;
      case fp8:
      case bf8: {
        constexpr double numbers[] = {0.5, 1, 1.5, 2, -0.5, -1, -1.5, -2};
        return numbers[random_() % 8];
      }
      case i8:
        return is_signed ? static_cast<int>(random_() % 256) - 128 : static_cast<int>(random_() % 256);
      case i4:
        return is_signed ? static_cast<int>(random_() % 16) - 8 : static_cast<int>(random_() % 16);
      default:
        return static_cast<int>(random_() % 64) - 32;
    }
  }
  static bool odd_or_even(Place place, bool low, bool high, WaveElement element) {
    if (element != f16 && element != bf16) return false;
    return place.slot % 2 == 0 ? low : high;
  }
  double sum(unsigned i, unsigned j, unsigned depth_of_a) const {
    double total = c_[i][j];
    for (unsigned k = 0; k < depth_of_a; ++k) total += a_[i][k] * b_[shape_.sparse ? index_[i][k] : k][j];
    if (shape_.d != i32) return total;
    if (options_.clamp) {
      return std::clamp<double>(total, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    }
    return total;
  }

  const WaveMatrixShape& shape_;
  WaveMatrices layout_;
  unsigned wave_;
  Options options_;
  Multiply multiply_;
  std::mt19937 random_;
  double a_[16][64]{}, b_[64][16]{}, c_[16][16]{};
  unsigned index_[16][64]{};
};

}  // namespace Atoll::semantics::test

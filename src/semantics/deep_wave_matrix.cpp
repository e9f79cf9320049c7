// semantics: WMMA and SWMMAC of GFX12.5 (deep_wave_matrix.h), element by element: clear rather than quick.
#include "semantics/deep_wave_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "semantics/opcode_rows.h"
#include "support/half.h"

namespace Atoll::semantics {

namespace {

using isa::Opcode;
using enum DeepElement;

constexpr unsigned columns = 16, most_rows = 32, most_depth = 128;

// Opcode, rows, depth, elements of A, B, C and D.
constexpr DeepMatrixShape shapes[] = {
    {Opcode::v_wmma_f32_16x16x4_f32, 16, 4, f32, f32, f32, f32},
    {Opcode::v_wmma_f32_16x16x32_f16, 16, 32, f16, f16, f32, f32},
    {Opcode::v_wmma_f16_16x16x32_f16, 16, 32, f16, f16, f16, f16},
    {Opcode::v_wmma_f32_16x16x32_bf16, 16, 32, bf16, bf16, f32, f32},
    {Opcode::v_wmma_bf16_16x16x32_bf16, 16, 32, bf16, bf16, bf16, bf16},
    {Opcode::v_wmma_bf16f32_16x16x32_bf16, 16, 32, bf16, bf16, f32, bf16},
    {Opcode::v_wmma_i32_16x16x64_iu8, 16, 64, i8, i8, i32, i32},
    {Opcode::v_wmma_f32_16x16x64_fp8_fp8, 16, 64, fp8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x64_fp8_bf8, 16, 64, fp8, bf8, f32, f32},
    {Opcode::v_wmma_f32_16x16x64_bf8_fp8, 16, 64, bf8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x64_bf8_bf8, 16, 64, bf8, bf8, f32, f32},
    {Opcode::v_wmma_f16_16x16x64_fp8_fp8, 16, 64, fp8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x64_fp8_bf8, 16, 64, fp8, bf8, f16, f16},
    {Opcode::v_wmma_f16_16x16x64_bf8_fp8, 16, 64, bf8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x64_bf8_bf8, 16, 64, bf8, bf8, f16, f16},
    {Opcode::v_wmma_f32_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f32, f32},
    {Opcode::v_wmma_f32_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f32, f32},
    {Opcode::v_wmma_f16_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f16, f16},
    {Opcode::v_wmma_f16_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f16, f16},
    {Opcode::v_swmmac_f32_16x16x64_f16, 16, 64, f16, f16, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x64_bf16, 16, 64, bf16, bf16, f32, f32, true},
    {Opcode::v_swmmac_f16_16x16x64_f16, 16, 64, f16, f16, f16, f16, true},
    {Opcode::v_swmmac_bf16_16x16x64_bf16, 16, 64, bf16, bf16, bf16, bf16, true},
    {Opcode::v_swmmac_f32_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f32, f32, true},
    {Opcode::v_swmmac_f16_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f16, f16, true},
    {Opcode::v_swmmac_f16_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f16, f16, true},
    {Opcode::v_swmmac_f16_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f16, f16, true},
    {Opcode::v_swmmac_f16_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f16, f16, true},
    {Opcode::v_swmmac_i32_16x16x128_iu8, 16, 128, i8, i8, i32, i32, true},
    {Opcode::v_wmma_f32_16x16x128_f8f6f4, 16, 128, fp8, fp8, f32, f32, false, true},
    {Opcode::v_wmma_scale_f32_16x16x128_f8f6f4, 16, 128, fp8, fp8, f32, f32, false, true},
    {Opcode::v_wmma_scale16_f32_16x16x128_f8f6f4, 16, 128, fp8, fp8, f32, f32, false, true},
    {Opcode::v_wmma_f32_32x16x128_f4, 32, 128, fp4, fp4, f32, f32},
    {Opcode::v_wmma_scale_f32_32x16x128_f4, 32, 128, fp4, fp4, f32, f32},
    {Opcode::v_wmma_scale16_f32_32x16x128_f4, 32, 128, fp4, fp4, f32, f32},
};

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

/// A floating-point number of few bits; `nan`: the least code (without the sign) that is none, `infinity`: that of
/// infinity. Both are larger than any code where the format has them not.
struct SmallFormat {
  unsigned exponent_bits, fraction_bits;
  int bias;
  uint32_t infinity, nan;
  bool has_sign = true;
};
constexpr uint32_t no_code = 0x100;
constexpr SmallFormat fp8_format{4, 3, 7, no_code, 0x7F}, bf8_format{5, 2, 15, 0x7C, 0x7D},
    fp6_format{2, 3, 1, no_code, no_code}, bf6_format{3, 2, 3, no_code, no_code}, fp4_format{2, 1, 1, no_code, no_code},
    e5m3_format{5, 3, 15, no_code, 0xFF, false};

float small_number(uint32_t code, const SmallFormat& format) {
  const unsigned width = format.exponent_bits + format.fraction_bits;
  const uint32_t size = code & ((1u << width) - 1);
  const bool negative = format.has_sign && (code >> width & 1) != 0;
  if (size >= format.nan) return std::numeric_limits<float>::quiet_NaN();
  const uint32_t fraction = size & ((1u << format.fraction_bits) - 1), exponent = size >> format.fraction_bits;
  const uint32_t whole = exponent == 0 ? fraction : fraction | 1u << format.fraction_bits;
  const int power = static_cast<int>(std::max(exponent, 1u)) - format.bias - static_cast<int>(format.fraction_bits);
  const float number =
      size == format.infinity ? std::numeric_limits<float>::infinity() : std::ldexp(static_cast<float>(whole), power);
  return negative ? -number : number;
}

float number_of(uint32_t code, DeepElement element) {
  switch (element) {
    case fp8:
      return small_number(code, fp8_format);
    case bf8:
      return small_number(code, bf8_format);
    case fp6:
      return small_number(code, fp6_format);
    case bf6:
      return small_number(code, bf6_format);
    case fp4:
      return small_number(code, fp4_format);
    case f16:
      return support::half_value(code);
    case bf16:
      return std::bit_cast<float>(code << 16);
    default:
      return std::bit_cast<float>(code);
  }
}

/// The bits of field `slot` of a lane's registers.
uint32_t field_of(const Row* rows, unsigned lane, unsigned slot, unsigned width) {
  const unsigned first = slot * width, word = first / 32, shift = first % 32;
  uint64_t bits = rows[word][lane];
  if (shift + width > 32) bits |= uint64_t{rows[word + 1][lane]} << 32;
  return static_cast<uint32_t>(bits >> shift) & static_cast<uint32_t>((uint64_t{1} << width) - 1);
}

/// One source as it is in the registers.
struct Source {
  const Row* rows;
  DeepElement element;
  unsigned run;  ///< elements in one lane before the other's come
  bool negate_even, negate_odd;

  uint32_t code(unsigned row, unsigned k) const {
    const unsigned lane = row % 16 + 16 * (k / run % 2), slot = k / (2 * run) * run + k % run;
    constexpr unsigned registers_of_16_rows = 8;  // of 4-bit elements, which alone come with 32 rows
    return field_of(rows + row / 16 * registers_of_16_rows, lane, slot, bits_of(element));
  }
  float number(unsigned row, unsigned k) const {
    const float value = number_of(code(row, k), element);
    return (k % 2 == 0 ? negate_even : negate_odd) ? -value : value;
  }
  int32_t integer(unsigned row, unsigned k) const {  // neg: it is signed
    const uint32_t byte = code(row, k);
    return negate_even ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
  }
};

Source source_of(const DeepMatrixOperation& operation, const DeepMatrixCall& call, bool is_b) {
  const DeepElement element = is_b ? operation.b : operation.a;
  const bool both = bits_of(element) != 16;
  return {.rows = is_b ? call.b : call.a,
          .element = element,
          .run = run_of(element) * (is_b && operation.shape->sparse ? 2 : 1),
          .negate_even = operation.negate[is_b],
          .negate_odd = both ? operation.negate[is_b] : operation.negate_high[is_b]};
}

float scale_of(uint32_t code, ScaleFormat format) {
  switch (format) {
    case ScaleFormat::e5m3:
      return small_number(code, e5m3_format);
    case ScaleFormat::e4m3:
      return small_number(code, fp8_format);
    default:
      return code == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(code) - 127);
  }
}

/// The scale of an element of A (or B): 1 if there are none.
float scale_at(const DeepMatrixOperation& operation, const DeepMatrixCall& call, bool is_b, unsigned row, unsigned k) {
  if (operation.scaled == 0) return 1;
  const bool upper = operation.upper_scales[is_b] && (is_b || operation.shape->rows == 16);
  const Row* scales = is_b ? call.b_scales : call.a_scales;
  const uint32_t code = field_of(scales, row + (upper ? 16 : 0), k / operation.scaled, 8);
  return scale_of(code, operation.scale_formats[is_b]);
}

/// Which depth of B an element of a sparse A belongs to.
unsigned depth_of(const DeepMatrixCall& call, unsigned row, unsigned k, unsigned in_lane) {
  const uint32_t which = field_of(call.index, row + 16 * (k / in_lane), k % in_lane, 2);
  return k / 2 * 4 + which;
}

uint16_t brain_of(float number) {
  const auto word = std::bit_cast<uint32_t>(number);
  if (number != number) return static_cast<uint16_t>((word | 0x0040'0000) >> 16);
  return static_cast<uint16_t>((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

float canonical(float sum) { return sum == sum ? sum : std::bit_cast<float>(0x7FC0'0000u); }

/// C and D: where the element of a row and column is.
struct Place {
  unsigned reg, lane, shift;
};
Place place_of(DeepElement element, unsigned row, unsigned column) {
  const unsigned lane = row / 8 % 2 * 16 + column, number = row / 16 * 8 + row % 8;
  if (bits_of(element) == 32) return {number, lane, 0};
  return {number / 2, lane, number % 2 * 16};
}

uint32_t addend_code(const DeepMatrixOperation& operation, const DeepMatrixCall& call, unsigned row, unsigned column) {
  if (call.c == nullptr) return operation.constant;
  const Place place = place_of(operation.shape->c, row, column);
  return call.c[place.reg][place.lane] >> place.shift & (bits_of(operation.shape->c) == 32 ? ~0u : 0xFFFFu);
}

/// The elements of a source in order, with their scales.
struct Numbers {
  float of[most_rows][most_depth];
};
void read(const DeepMatrixOperation& operation, const DeepMatrixCall& call, bool is_b, unsigned rows, unsigned depth,
          Numbers& numbers) {
  const Source source = source_of(operation, call, is_b);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned k = 0; k < depth; ++k) {
      numbers.of[row][k] = source.number(row, k) * scale_at(operation, call, is_b, row, k);
    }
  }
}

/// Results, before any of them is written: A and B may be in D's registers.
struct Results {
  uint32_t of[most_rows][columns];
};

void multiply_numbers(const DeepMatrixOperation& operation, const DeepMatrixCall& call, Results& results) {
  const DeepMatrixShape& shape = *operation.shape;
  const unsigned depth_of_a = shape.sparse ? shape.depth / 2u : shape.depth, in_lane = depth_of_a / 2;
  Numbers a, b;
  read(operation, call, false, shape.rows, depth_of_a, a);
  read(operation, call, true, columns, shape.depth, b);
  for (unsigned row = 0; row < shape.rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      float sum = number_of(addend_code(operation, call, row, column), shape.c);
      if (operation.negate_high[2]) sum = std::fabs(sum);
      if (operation.negate[2]) sum = -sum;
      for (unsigned k = 0; k < depth_of_a; ++k) {
        const unsigned of_b = shape.sparse ? depth_of(call, row, k, in_lane) : k;
        sum = std::fma(a.of[row][k], b.of[column][of_b], sum);
      }
      sum = canonical(sum);
      results.of[row][column] = shape.d == f16    ? std::bit_cast<uint16_t>(static_cast<_Float16>(sum))
                                : shape.d == bf16 ? brain_of(sum)
                                                  : std::bit_cast<uint32_t>(sum);
    }
  }
}

void multiply_integers(const DeepMatrixOperation& operation, const DeepMatrixCall& call, Results& results) {
  const DeepMatrixShape& shape = *operation.shape;
  const unsigned depth_of_a = shape.sparse ? shape.depth / 2u : shape.depth, in_lane = depth_of_a / 2;
  const Source a = source_of(operation, call, false), b = source_of(operation, call, true);
  for (unsigned row = 0; row < shape.rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      int64_t sum = static_cast<int32_t>(addend_code(operation, call, row, column));
      for (unsigned k = 0; k < depth_of_a; ++k) {
        const unsigned of_b = shape.sparse ? depth_of(call, row, k, in_lane) : k;
        sum += int64_t{a.integer(row, k)} * b.integer(column, of_b);
      }
      if (operation.clamp) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      results.of[row][column] = static_cast<uint32_t>(sum);
    }
  }
}

}  // namespace

const DeepMatrixShape* deep_matrix_shape(isa::Opcode opcode) { return find_row<shapes>(opcode); }

void deep_multiply(const DeepMatrixOperation& operation, const DeepMatrixCall& call) {
  const DeepMatrixShape& shape = *operation.shape;
  Results results;
  if (shape.d == i32) {
    multiply_integers(operation, call, results);
  } else {
    multiply_numbers(operation, call, results);
  }
  for (unsigned row = 0; row < shape.rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      const Place place = place_of(shape.d, row, column);
      uint32_t& word = call.d[place.reg][place.lane];
      const uint32_t mask = (bits_of(shape.d) == 32 ? ~0u : 0xFFFFu) << place.shift;
      word = (word & ~mask) | (results.of[row][column] << place.shift & mask);
    }
  }
}

}  // namespace Atoll::semantics

// WMMA and SWMMAC of GFX12.5 with every type: A and B of small whole numbers, so that sums are exact in the type of the
// result, against sums of integers. Where elements are in the registers is by the formulas of AMD's emulator (ROCm's
// rocjitsu).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "engine/gfx12_5_runner.h"
#include "engine/interpreter/observation.h"
#include "isa/opcode_map.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

/// An element's type: its bits, how many of a row are in one lane before the other's come, and the code of a number.
struct Type {
  const char* name;
  unsigned width, run;
  uint32_t (*code)(int value);
};
uint32_t small_code(int value, const std::array<uint32_t, 4>& sizes, uint32_t sign) {
  return sizes[static_cast<unsigned>(std::abs(value))] | (value < 0 ? sign : 0);
}
constexpr Type f16{"f16", 16, 8, [](int value) { return uint32_t{to_half(static_cast<float>(value))}; }};
constexpr Type bf16{"bf16", 16, 8, [](int value) { return uint32_t{to_brain(static_cast<float>(value))}; }};
constexpr Type fp8{"fp8", 8, 16, [](int value) { return small_code(value, {0, 0x38, 0x40, 0x44}, 0x80); }};
constexpr Type bf8{"bf8", 8, 16, [](int value) { return small_code(value, {0, 0x3C, 0x40, 0x42}, 0x80); }};
constexpr Type iu8{"iu8", 8, 16, [](int value) { return uint32_t{static_cast<uint8_t>(value)}; }};
constexpr Type fp4{"fp4", 4, 32, [](int value) { return small_code(value, {0, 2, 4, 5}, 8); }};

int a_of(unsigned row, unsigned k) { return static_cast<int>((row * 5 + k * 3) % 7) - 3; }
int b_of(unsigned column, unsigned k) { return static_cast<int>((column * 3 + k * 5) % 5) - 2; }

constexpr unsigned a_at = 0, b_at = 32, d_at = 64, index_at = 100, scale_a_at = 104, scale_b_at = 106;

void put(WaveRunner& runner, unsigned reg, unsigned row, unsigned k, const Type& type, unsigned run, uint32_t code) {
  const unsigned lane = row % 16 + k / run % 2 * 16, first = (k / (2 * run) * run + k % run) * type.width;
  runner.v(reg + row / 16 * 8 + first / 32)[lane] |= code << first % 32;
}
/// The element of C or D, of `name` "f32", "f16", "bf16", "bf16f32" or "i32".
double got(WaveRunner& runner, std::string_view name, unsigned row, unsigned column) {
  const unsigned number_of_row = row / 16 * 8 + row % 8, lane = row / 8 % 2 * 16 + column;
  if (name == "i32") return static_cast<int32_t>(runner.v(d_at + number_of_row)[lane]);
  if (name == "f32") return number(runner.v(d_at + number_of_row)[lane]);
  const uint32_t code = runner.v(d_at + number_of_row / 2)[lane] >> number_of_row % 2 * 16 & 0xFFFF;
  return name == "f16" ? half(code) : brain(code);
}
std::string registers(unsigned first, unsigned count) { return fmt::format("v[{}:{}]", first, first + count - 1); }
unsigned words_of_result(std::string_view name) { return name == "f32" || name == "i32" ? 8 : 4; }

void fill(WaveRunner& runner, unsigned rows, unsigned depth, const Type& a, const Type& b) {
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(0)[lane] = 0;
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned row = 0; row < rows; ++row) put(runner, a_at, row, k, a, a.run, a.code(a_of(row, k)));
    for (unsigned column = 0; column < 16; ++column) put(runner, b_at, column, k, b, b.run, b.code(b_of(column, k)));
  }
}

void multiply(const char* result, unsigned depth, const Type& a, const Type& b) {
  const bool is_8_bits = a.width == 8;
  const unsigned words = depth * a.width / 64;
  const std::string text = fmt::format(
      "v_wmma_{}_16x16x{}_{} {}, {}, {}, 1.0", result, depth, is_8_bits ? fmt::format("{}_{}", a.name, b.name) : a.name,
      registers(d_at, words_of_result(result)), registers(a_at, words), registers(b_at, words));
  SCOPED_TRACE(text);
  Gfx1250 runner;
  fill(runner, 16, depth, a, b);
  ASSERT_EQ(runner.run(text), WaveState::ended);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      int sum = 1;
      for (unsigned k = 0; k < depth; ++k) sum += a_of(row, k) * b_of(column, k);
      ASSERT_EQ(got(runner, result, row, column), sum) << row << ' ' << column;
    }
  }
}

TEST(Gfx12_5Matrices, DoNotSynchronise) {
  unsigned matrices = 0;
  for (const isa::Opcode opcode :
       isa::opcode_map_of(*target::find_processor("gfx1250")).opcodes[static_cast<size_t>(isa::Encoding::vop3p)]) {
    if (opcode == isa::Opcode::invalid) continue;
    isa::Instruction instruction;
    instruction.opcode = opcode;
    EXPECT_FALSE(engine::synchronises(instruction)) << isa::row(opcode).name;
    matrices += isa::row(opcode).has(isa::flag::wmma) ? 1 : 0;
  }
  EXPECT_GT(matrices, 37u);
}

TEST(Gfx12_5Matrices, OfEachType) {
  for (const unsigned depth : {64u, 128u}) {
    for (const Type& a : {fp8, bf8}) {
      for (const Type& b : {fp8, bf8}) {
        for (const char* result : {"f32", "f16"}) ASSERT_NO_FATAL_FAILURE(multiply(result, depth, a, b));
      }
    }
  }
  for (const char* result : {"f32", "bf16", "bf16f32"}) ASSERT_NO_FATAL_FAILURE(multiply(result, 32, bf16, bf16));
  for (const char* result : {"f32", "f16"}) ASSERT_NO_FATAL_FAILURE(multiply(result, 32, f16, f16));
}

/// Stores two of every four elements of A: number 0 or 1, and 2 or 3.
void multiply_sparse(const char* result, unsigned depth, const Type& a, const Type& b) {
  const auto which = [](unsigned row, unsigned k) { return k % 2 * 2 + (row + k / 2) % 2; };
  const unsigned stored = depth / 2, half_of_row = stored / 2, words = stored * a.width / 64;
  const bool is_integer = std::string_view(result) == "i32";
  const std::string type = a.width == 8 && !is_integer ? fmt::format("{}_{}", a.name, b.name) : a.name;
  const std::string text = fmt::format(
      "v_swmmac_{}_16x16x{}_{} {}, {}, {}, {}{}", result, depth, type, registers(d_at, words_of_result(result)),
      registers(a_at, words), registers(b_at, 2 * words),
      a.width == 8 ? registers(index_at, 2) : fmt::format("v{}", index_at), is_integer ? " neg_lo:[1,1,0]" : "");
  SCOPED_TRACE(text);
  Gfx1250 runner;
  runner.fill(0, 0);
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned k = 0; k < stored; ++k) {
      put(runner, a_at, i, k, a, a.run, a.code(a_of(i, k)));
      const unsigned at = 2 * (k % half_of_row);
      runner.v(index_at + at / 32)[i + k / half_of_row * 16] |= which(i, k) << at % 32;
    }
    for (unsigned k = 0; k < depth; ++k) put(runner, b_at, i, k, b, 2 * b.run, b.code(b_of(i, k)));
  }
  ASSERT_EQ(runner.run(text), WaveState::ended);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      int sum = 0;
      for (unsigned k = 0; k < stored; ++k) sum += a_of(row, k) * b_of(column, k / 2 * 4 + which(row, k));
      ASSERT_EQ(got(runner, result, row, column), sum) << row << ' ' << column;
    }
  }
}

TEST(Gfx12_5Matrices, SparseOnesOfEachType) {
  for (const char* result : {"f32", "f16"}) {
    ASSERT_NO_FATAL_FAILURE(multiply_sparse(result, 64, f16, f16));
    for (const Type& a : {fp8, bf8}) {
      for (const Type& b : {fp8, bf8}) ASSERT_NO_FATAL_FAILURE(multiply_sparse(result, 128, a, b));
    }
  }
  for (const char* result : {"f32", "bf16"}) ASSERT_NO_FATAL_FAILURE(multiply_sparse(result, 64, bf16, bf16));
  ASSERT_NO_FATAL_FAILURE(multiply_sparse("i32", 128, iu8, iu8));
}

/// Scales of every 32 elements, or of every 16 with two registers: 2^(row % 3 + block % 2) of A, 2^-(column % 2) of B.
void multiply_scaled(unsigned rows, unsigned block) {
  const bool is_wide = rows == 32;
  const Type& b = is_wide ? fp4 : fp8;
  const unsigned words = block == 16 ? 2 : 1;
  const auto scales = [&](unsigned first) { return words == 2 ? registers(first, 2) : fmt::format("v{}", first); };
  const std::string text =
      fmt::format("v_wmma_scale{}_f32_{}x16x128_{} {}, {}, {}, 0, {}, {}{}", block == 16 ? "16" : "", rows,
                  is_wide ? "f4" : "f8f6f4", registers(d_at, is_wide ? 16 : 8), registers(a_at, is_wide ? 16 : 8),
                  registers(b_at, is_wide ? 8 : 16), scales(scale_a_at), scales(scale_b_at),
                  is_wide ? "" : " matrix_a_fmt:MATRIX_FMT_FP4");
  SCOPED_TRACE(text);
  Gfx1250 runner;
  fill(runner, rows, 128, fp4, b);
  for (unsigned k = 0; k < 128; k += block) {
    const unsigned number_of_block = k / block, shift = number_of_block % 4 * 8;
    for (unsigned row = 0; row < rows; ++row) {
      runner.v(scale_a_at + number_of_block / 4)[row] |= (127 + row % 3 + number_of_block % 2) << shift;
    }
    for (unsigned column = 0; column < 16; ++column) {
      runner.v(scale_b_at + number_of_block / 4)[column] |= (127 - column % 2) << shift;
    }
  }
  ASSERT_EQ(runner.run(text), WaveState::ended);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      double sum = 0;
      for (unsigned k = 0; k < 128; ++k) {
        const int power = static_cast<int>(row % 3 + k / block % 2) - static_cast<int>(column % 2);
        sum += std::ldexp(a_of(row, k) * b_of(column, k), power);
      }
      ASSERT_EQ(got(runner, "f32", row, column), sum) << row << ' ' << column;
    }
  }
}

TEST(Gfx12_5Matrices, WithScalesOfEachSize) {
  for (const unsigned rows : {16u, 32u}) {
    for (const unsigned block : {16u, 32u}) ASSERT_NO_FATAL_FAILURE(multiply_scaled(rows, block));
  }
}

}  // namespace
}  // namespace Atoll::test

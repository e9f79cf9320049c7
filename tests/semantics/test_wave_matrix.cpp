// WMMA and SWMMAC: every shape, layout and wave size, against the reference of wave_matrix_reference.h.
#include "semantics/wave_matrix_reference.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "isa/table.h"
#include "semantics/matrix/wmma.h"
#include "support/tested_instructions.h"

namespace Atoll::semantics::test {
namespace {

void multiply(const WaveMatrixCall& call) { wave_multiply({&call, 1}); }

/// Every shape that a layout has.
void for_each_shape(const std::function<void(const WaveMatrixShape&, WaveMatrices, unsigned wave)>& check) {
  unsigned shapes = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(isa::Opcode::count); ++i) {
    const auto opcode = static_cast<isa::Opcode>(i);
    const WaveMatrixShape* shape = wave_matrix_shape(opcode);
    if (shape == nullptr) continue;
    ++shapes;
    for (const unsigned wave : {32u, 64u}) {
      using enum target::Generation;
      for (const target::Generation generation : {gfx11, gfx11_5, gfx11_7, gfx12}) {
        if (isa::row(opcode).opcodes.on(generation).opcode == isa::Opcodes::none) continue;
        Atoll::test::note_tested(Atoll::test::TestedBy::arithmetic, opcode, generation);
      }
      if (isa::row(opcode).opcodes.on(gfx11).opcode != isa::Opcodes::none)
        check(*shape, WaveMatrices::replicated, wave);
      if (isa::row(opcode).opcodes.on(gfx12).opcode != isa::Opcodes::none) check(*shape, WaveMatrices::spread, wave);
    }
  }
  EXPECT_EQ(shapes, 22u);
}

TEST(WaveMatrix, MultipliesInEveryLayout) {
  for_each_shape([](const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      Options options{.a_signed = (seed & 1) != 0, .b_signed = (seed & 2) != 0};
      Multiplication(shape, layout, wave, options, seed, multiply).check();
      options.constant = !shape.sparse;
      Multiplication(shape, layout, wave, options, seed, multiply).check();
    }
  });
}

TEST(WaveMatrix, IntegersSaturate) {
  for_each_shape([](const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave) {
    if (shape.d != i32) return;
    for (unsigned seed = 0; seed < 4; ++seed) {
      Multiplication(shape, layout, wave, {.a_signed = (seed & 1) != 0, .b_signed = (seed & 2) != 0, .clamp = true},
                     seed, multiply)
          .check();
    }
  });
}

TEST(WaveMatrix, SourcesAreNegated) {
  for_each_shape([](const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave) {
    if (shape.d == i32) return;
    for (unsigned bits = 0; bits < 64; ++bits) {
      Options options;
      for (unsigned i = 0; i < 3; ++i) {
        options.negate[i] = (bits >> i & 1) != 0;
        options.negate_high[i] = (bits >> (3 + i) & 1) != 0;
      }
      Multiplication(shape, layout, wave, options, bits, multiply).check();
    }
  });
}

TEST(WaveMatrix, OpSelChoosesTheHalfOfGfx11sResults) {
  for (const isa::Opcode opcode : {isa::Opcode::v_wmma_f16_16x16x16_f16, isa::Opcode::v_wmma_bf16_16x16x16_bf16}) {
    for (const unsigned wave : {32u, 64u}) {
      Multiplication(*wave_matrix_shape(opcode), WaveMatrices::replicated, wave, {.upper = true}, wave, multiply)
          .check();
    }
  }
}

TEST(WaveMatrix, TheKeyChoosesAPartOfTheIndex) {
  for_each_shape([](const WaveMatrixShape& shape, WaveMatrices layout, unsigned wave) {
    if (!shape.sparse) return;
    const unsigned depth = shape.depth / 2u;
    const unsigned bits = 2 * std::max(depth * 16 / wave, 32 / bits_of(shape.a));
    for (unsigned key = 0; key < 32 / bits; ++key)
      Multiplication(shape, layout, wave, {.key = key}, key, multiply).check();
  });
}

TEST(WaveMatrix, SixteenBitResultsAreRoundedOnce) {
  // 16 products of 1 added to 2048, above which halves are even: one by one, each would be lost.
  const WaveMatrixShape& shape = *wave_matrix_shape(isa::Opcode::v_wmma_f16_16x16x16_f16);
  Registers ones, d;
  for (Row& row : ones.rows) std::ranges::fill(row, 0x3C003C00);
  for (Row& row : d.rows) std::ranges::fill(row, 0x68006800);
  const WaveMatrixOperation operation{.shape = &shape, .layout = WaveMatrices::spread, .wave_size = 32};
  const WaveMatrixCall call{.operation = &operation, .d = d.rows, .a = ones.rows, .b = ones.rows, .c = d.rows};
  wave_multiply({&call, 1});
  EXPECT_EQ(d.rows[0][0], 0x68086808u);
  EXPECT_EQ(d.rows[3][31], 0x68086808u);
  EXPECT_EQ(d.rows[3][32], 0x68006800u);
  EXPECT_EQ(d.rows[4][0], 0x68006800u);
}

// Sums that stay in host registers and sources that are put in order once are those of one instruction after the other.
TEST(WaveMatrix, ACallOfSeveralYieldsWhatCallsOfOneDo) {
  constexpr unsigned source_rows = 40, tiles = 3, rows_of_d = 8;
  struct alignas(64) File {
    Row rows[source_rows + tiles * rows_of_d];
  };
  std::mt19937 random(1);
  const std::span<const WaveMatrixShape> shapes = wave_matrix_shapes();
  for (unsigned round = 0; round < 300; ++round) {
    File together;
    for (Row& row : together.rows) {
      // Without infinities and NaNs in any format, which all sums would soon be.
      for (uint32_t& lane : row) lane = static_cast<uint32_t>(random()) & 0xBFBFBFBF;
    }
    File apart = together;
    std::vector<WaveMatrixOperation> operations(40);
    std::vector<WaveMatrixCall> calls[2];
    const WaveMatrixShape* shape = nullptr;
    for (WaveMatrixOperation& operation : operations) {
      if (shape == nullptr || random() % 8 == 0) shape = &shapes[random() % shapes.size()];
      operation.shape = shape;
      operation.layout = WaveMatrices::spread;
      operation.wave_size = round % 2 == 0 ? 32 : 64;
      operation.clamp = shape->d == i32 && random() % 8 == 0;
      for (unsigned i = 0; i < 3; ++i) operation.negate[i] = random() % 8 == 0;
      const size_t a = random() % 4 * 8, b = random() % 4 * 8, index = random() % source_rows;
      const size_t tile = random() % tiles, addend = random() % 8 == 0 ? random() % tiles : tile;
      for (File* const file : {&together, &apart}) {
        Row* const first_d = file->rows + source_rows;
        calls[file == &apart].push_back({.operation = &operation,
                                         .d = first_d + tile * rows_of_d,
                                         .a = file->rows + a,
                                         .b = file->rows + b,
                                         .c = first_d + (shape->sparse ? tile : addend) * rows_of_d,
                                         .index = file->rows + index});
      }
    }
    wave_multiply(calls[0]);
    for (const WaveMatrixCall& call : calls[1]) wave_multiply({&call, 1});
    ASSERT_EQ(std::memcmp(&together, &apart, sizeof together), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace Atoll::semantics::test

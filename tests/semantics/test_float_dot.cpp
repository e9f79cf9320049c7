// Dot products of half-precision pairs against the host's single precision.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

float half_at(uint64_t pair, unsigned which) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(pair >> (16 * which))));
}

TEST(FloatDot, RoundsAfterEachProduct) {
  std::mt19937 random(1);
  std::vector<Values> lists(3);
  for (unsigned i = 0; i < 20000; ++i) {
    lists[0].push_back(random());
    lists[1].push_back(random());
    lists[2].push_back(random() % 0x20000000 + 0x30000000 + (random() % 2) * 0x80000000);
  }
  const auto expected = [&](size_t i) {
    const uint64_t a = lists[0][i], b = lists[1][i];
    const float low = half_at(a, 0) * half_at(b, 0) + flushed(as_float(lists[2][i]));
    return flushed(half_at(a, 1) * half_at(b, 1) + low);
  };
  Conditions destination{.old = lists[2]};
  const Evaluation three = evaluate(Opcode::v_dot2_f32_f16, lists);
  const Evaluation two = evaluate(Opcode::v_dot2c_f32_f16, {lists[0], lists[1]}, destination);
  for (size_t i = 0; i < lists[0].size(); ++i) {
    if (std::isnan(expected(i))) {
      ASSERT_TRUE(std::isnan(as_float(three.dst[i])) && std::isnan(as_float(two.dst[i])));
      continue;
    }
    ASSERT_EQ(as_float(three.dst[i]), expected(i)) << std::hex << lists[0][i] << " " << lists[1][i];
    ASSERT_EQ(as_float(two.dst[i]), expected(i)) << std::hex << lists[0][i] << " " << lists[1][i];
  }
}

TEST(FloatDot, FlushesSinglesButNotHalvesWhateverTheMode) {
  const uint64_t tiny_half = 0x0001;  // 2^-24
  for (const Denormals denormals : {Denormals::allow_in_out, Denormals::flush_in_out}) {
    const Conditions conditions{
        .mode = {.round32 = Round::plus_infinity, .denormals32 = denormals, .denormals16_64 = denormals}};
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_f16, {tiny_half, 0x3C00, word(0.0f)}, conditions)),
              std::ldexp(1.0f, -24));
    EXPECT_EQ(evaluate_one(Opcode::v_dot2_f32_f16, {0, 0, 0x00000123}, conditions), 0);
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_f16, {tiny_half, 0x3C00, word(2.0f)}, conditions)), 2.0f);
  }
}

/// gfx90a flushes denormal halves in every mode, no other GPU does (measured: llvm/llvm-project#205101).
TEST(FloatDot, Gfx90aAloneFlushesHalves) {
  const uint64_t tiny = 0x00010001, ones = 0x3C003C00;
  using enum target::Generation;
  for (const target::Generation generation : {gfx9, gfx90a, gfx940, gfx950, gfx10_3, gfx11, gfx12}) {
    const float expected = generation == gfx90a ? 0.0f : 0x1p-23f;
    for (const Denormals denormals : {Denormals::allow_in_out, Denormals::flush_in_out}) {
      Conditions conditions{.mode = {.denormals32 = denormals, .denormals16_64 = denormals}, .generation = generation};
      conditions.old = {0};
      EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_f16, {tiny, ones, 0}, conditions)), expected);
      EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2c_f32_f16, {tiny, ones}, conditions)), expected);
    }
  }
}

/// gfx942 and gfx950 have one NaN for all (measured: SemiAnalysisAI/FuzzX, m128).
TEST(FloatDot, Gfx942AndGfx950MakeOneNan) {
  const uint64_t ones = 0x3C003C00;
  using enum target::Generation;
  for (const target::Generation generation : {gfx9, gfx90a, gfx940, gfx950, gfx10_3, gfx11, gfx12}) {
    const bool is_negative = generation == gfx940 || generation == gfx950;
    Conditions conditions{.generation = generation};
    for (const uint64_t a : {uint64_t{0x3C007E00}, uint64_t{0x7E003C00}}) {
      conditions.old = {0};
      EXPECT_EQ(evaluate_one(Opcode::v_dot2_f32_f16, {a, ones, 0}, conditions), is_negative ? 0xFFC00000 : 0x7FC00000);
      EXPECT_EQ(evaluate_one(Opcode::v_dot2c_f32_f16, {a, ones}, conditions), is_negative ? 0xFFC00000 : 0x7FC00000);
    }
    conditions.old = {0x7FC00001};
    EXPECT_EQ(evaluate_one(Opcode::v_dot2c_f32_f16, {ones, ones}, conditions), is_negative ? 0xFFC00000 : 0x7FC00001);
  }
}

TEST(FloatDot, HalfAccumulatorsAreRoundedInEachStep) {
  Conditions conditions;
  conditions.generation = target::Generation::gfx11;
  conditions.old = {0xABCD0000};
  // 2048 + 1 + 1: halves above 2048 are even, and the tie goes to 2048 twice.
  EXPECT_EQ(evaluate_one(Opcode::v_dot2_f16_f16, {0x3C003C00, 0x3C003C00, 0x6800}, conditions), 0xABCD6800u);
  // (1 + 2^-10) * (1 + 3 * 2^-10) - 1 is 2^-8 + 3 * 2^-20: the product is not rounded before the sum.
  EXPECT_EQ(evaluate_one(Opcode::v_dot2_f16_f16, {0x3C01, 0x3C03, 0xBC00}, conditions), 0xABCD1C01u);
  // 256 + 1 + 1 in bfloat16, of 8 bits; 2 * 3 + 5 * 7.
  EXPECT_EQ(evaluate_one(Opcode::v_dot2_bf16_bf16, {0x3F803F80, 0x3F803F80, 0x4380}, conditions), 0xABCD4380u);
  EXPECT_EQ(evaluate_one(Opcode::v_dot2_bf16_bf16, {0x40A04000, 0x40E04040, 0}, conditions), 0xABCD4224u);
}

TEST(FloatDot, EightBitFloatsOfBothKinds) {
  Conditions conditions;
  conditions.mode.eight_bit = Fp8Format::ocp;
  for (const target::Generation generation : {target::Generation::gfx11_7, target::Generation::gfx12}) {
    conditions.generation = generation;
    // 1 * 0.5 + 2 * 1 - 1.5 * 2 + 0.25 * 4, and 10.
    const uint64_t fp8_a = 0x28BC4038, fp8_b = 0x48403830, bf8_a = 0x34BE403C, bf8_b = 0x44403C38;
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot4_f32_fp8_fp8, {fp8_a, fp8_b, word(10.0f)}, conditions)), 10.5f);
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot4_f32_fp8_bf8, {fp8_a, bf8_b, word(10.0f)}, conditions)), 10.5f);
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot4_f32_bf8_fp8, {bf8_a, fp8_b, word(10.0f)}, conditions)), 10.5f);
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot4_f32_bf8_bf8, {bf8_a, bf8_b, word(10.0f)}, conditions)), 10.5f);
  }
}

TEST(FloatDot, Gfx11AddsToTheAddend) {
  Conditions conditions;
  conditions.generation = target::Generation::gfx11;
  const uint64_t ones = 0x3F803F80;
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_bf16, {ones, ones, word(0x1p24f)}, conditions)), 0x1p24f);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_bf16, {ones, ones, word(0x1p24f)})), 0x1p24f + 2);
}

}  // namespace
}  // namespace Atoll::semantics::test

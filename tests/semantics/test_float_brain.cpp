// The conversions and extrema that gfx950 adds, against arithmetic on the definition of bfloat16 and the host's.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

Values singles() {
  Values values = edges32();
  for (const uint64_t value : random_bits(32, 20000, 60)) {
    values.push_back(value);
    values.push_back((value & 0xFFFF0000) | 0x8000);  // ties
  }
  return values;
}

/// The nearest bfloat16 by comparing distances to both neighbours.
uint64_t nearest_brain(uint64_t operand) {
  const float value = as_float(operand);
  if (std::isnan(value)) return (operand | 0x00400000) >> 16;
  if (std::isinf(value)) return operand >> 16;
  const uint64_t below = operand >> 16, above = below + 1;
  const auto size = [](uint64_t brain) {  // past the largest number, as if exponents went on
    return (brain & 0x7FFF) == 0x7F80 ? 0x1p128 : std::fabs(double{as_float(brain << 16)});
  };
  const double down = std::fabs(double{value}) - size(below), up = size(above) - std::fabs(double{value});
  return down < up || (down == up && below % 2 == 0) ? below : above;
}

TEST(FloatBrain, SinglesRoundToTheNearestEven) {
  const Values values = singles();
  const Values other(values.rbegin(), values.rend());
  for (const Round round : {Round::nearest_even, Round::plus_infinity}) {
    Conditions conditions;
    conditions.mode.round32 = conditions.mode.round16_64 = round;
    const Evaluation result = evaluate(Opcode::v_cvt_pk_bf16_f32, {values, other}, conditions);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(result.dst[i], nearest_brain(values[i]) | nearest_brain(other[i]) << 16) << std::hex << values[i];
    }
    const Evaluation halves = evaluate(Opcode::v_cvt_pk_f16_f32, {values, other}, conditions);
    const Evaluation one = evaluate(Opcode::v_cvt_f16_f32, {values}), two = evaluate(Opcode::v_cvt_f16_f32, {other});
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(halves.dst[i], one.dst[i] | two.dst[i] << 16);
  }
}

TEST(FloatBrain, EveryBrainFloatIsTheUpperHalfOfASingle) {
  Values values;
  for (uint64_t value = 0; value < 65536; ++value) values.push_back(value | 0xABCD0000);
  const Evaluation result = evaluate(Opcode::v_cvt_f32_bf16, {values});
  for (uint64_t value = 0; value < 65536; ++value) ASSERT_EQ(result.dst[value], value << 16);
}

TEST(FloatBrain, StochasticRoundingGoesUpAsOftenAsItIsNear) {
  for (const bool half : {false, true}) {
    const Opcode opcode = half ? Opcode::v_cvt_sr_f16_f32 : Opcode::v_cvt_sr_bf16_f32;
    const float step = half ? 0x1p-10f : 0x1p-7f;
    const uint32_t low = half ? 0x3C00 : 0x3F80;
    for (const float share : {0.0f, 0.25f, 0.75f}) {
      unsigned up = 0;
      const unsigned count = 1024;
      for (unsigned i = 0; i < count; ++i) {
        const uint64_t noise = i * (uint64_t{1} << 32) / count;
        const uint64_t got = evaluate_one(opcode, {word(1 + step * share), noise}, {.old = {0xABCD0000}});
        ASSERT_TRUE(got == (0xABCD0000 | low) || got == (0xABCD0000 | (low + 1)));
        up += got & 1;
      }
      EXPECT_NEAR(up / double{count}, share, 0.005);
    }
  }
}

TEST(FloatBrain, DotProductsAddTheAddendLastOrFirst) {
  // Pairs (2, 3) and (5, 7), and an addend that swallows what is added to it: 2^24 + 1 is 2^24.
  const uint64_t a = 0x40404000, b = 0x40E040A0;
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_bf16, {a, b, word(0.5f)})), 31.5f);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2c_f32_bf16, {a, b}, {.old = {word(0.5f)}})), 31.5f);
  const uint64_t ones = 0x3F803F80;
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2_f32_bf16, {ones, ones, word(0x1p24f)})), 0x1p24f + 2);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_dot2c_f32_bf16, {ones, ones}, {.old = {word(0x1p24f)}})), 0x1p24f);
}

}  // namespace
}  // namespace Atoll::semantics::test

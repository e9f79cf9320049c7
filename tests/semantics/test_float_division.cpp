// Division as LLVM expands it (SITargetLowering::LowerFDIV32, LowerFDIV64) from the room's instructions: the quotient
// must be the host's, correctly rounded one.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

Values negated(const Values& values, unsigned width) {
  Values result;
  for (const uint64_t value : values) result.push_back(value ^ uint64_t{1} << (width - 1));
  return result;
}

Values divide32(const Values& n, const Values& d) {
  const Values one(n.size(), word(1.0f));
  const Values scaled_d = evaluate(Opcode::v_div_scale_f32, {d, d, n}).dst;
  const Evaluation numerator = evaluate(Opcode::v_div_scale_f32, {n, d, n});
  const Values& scaled_n = numerator.dst;
  const Values minus_d = negated(scaled_d, 32);
  const auto fma = [](const Values& a, const Values& b, const Values& c) {
    return evaluate(Opcode::v_fma_f32, {a, b, c}).dst;
  };
  const Values reciprocal = evaluate(Opcode::v_rcp_f32, {scaled_d}).dst;
  const Values better = fma(fma(minus_d, reciprocal, one), reciprocal, reciprocal);
  const Values quotient = evaluate(Opcode::v_mul_f32, {scaled_n, better}).dst;
  const Values second = fma(fma(minus_d, quotient, scaled_n), better, quotient);
  const Values residue = fma(minus_d, second, scaled_n);
  const Values last = evaluate(Opcode::v_div_fmas_f32, {residue, better, second}, {.mask_in = numerator.mask}).dst;
  return evaluate(Opcode::v_div_fixup_f32, {last, d, n}).dst;
}

Values divide64(const Values& n, const Values& d) {
  const Values one(n.size(), word(1.0));
  const Values scaled_d = evaluate(Opcode::v_div_scale_f64, {d, d, n}).dst;
  const Evaluation numerator = evaluate(Opcode::v_div_scale_f64, {n, d, n});
  const Values& scaled_n = numerator.dst;
  const Values minus_d = negated(scaled_d, 64);
  const auto fma = [](const Values& a, const Values& b, const Values& c) {
    return evaluate(Opcode::v_fma_f64, {a, b, c}).dst;
  };
  const Values reciprocal = evaluate(Opcode::v_rcp_f64, {scaled_d}).dst;
  const Values first = fma(reciprocal, fma(minus_d, reciprocal, one), reciprocal);
  const Values second = fma(first, fma(minus_d, first, one), first);
  const Values quotient = evaluate(Opcode::v_mul_f64, {scaled_n, second}).dst;
  const Values residue = fma(minus_d, quotient, scaled_n);
  const Values last = evaluate(Opcode::v_div_fmas_f64, {residue, second, quotient}, {.mask_in = numerator.mask}).dst;
  return evaluate(Opcode::v_div_fixup_f64, {last, d, n}).dst;
}

/// Dividends and divisors of all sizes, many with quotients about the ends of the range.
std::vector<Values> operands(unsigned width) {
  auto lists = pairs(width == 32 ? edges32() : edges64());
  append_random(lists, width, 60000, 20);
  const unsigned fraction_bits = width == 32 ? 23 : 52;
  const int64_t bias = width == 32 ? 127 : 1023, top = 2 * bias;
  const Values a = random_bits(64, 150000, 21), b = random_bits(64, 150000, 22);
  for (size_t i = 0; i < a.size(); ++i) {
    const uint64_t fraction_mask = (uint64_t{1} << fraction_bits) - 1;
    const int64_t exponent = static_cast<int64_t>(a[i] >> 40) % (top - 1) + 1;
    // The quotient's exponent: near the smallest normal, in the denormals, near the largest, or anything.
    const int64_t wanted[] = {-bias + static_cast<int64_t>(b[i] % 6) - 2,
                              -bias - static_cast<int64_t>(b[i] % (fraction_bits + 3)),
                              bias - static_cast<int64_t>(b[i] % 4), static_cast<int64_t>(b[i] % 200) - 100};
    int64_t other = exponent - wanted[i % 4];
    other = std::max<int64_t>(0, std::min<int64_t>(top, other));
    lists[0].push_back((a[i] & fraction_mask) | static_cast<uint64_t>(exponent) << fraction_bits);
    lists[1].push_back((b[i] & fraction_mask) | static_cast<uint64_t>(other) << fraction_bits);
  }
  return lists;
}

template <typename T>
void expect_quotients(const std::vector<Values>& lists, const Values& quotients) {
  unsigned failures = 0;
  for (size_t i = 0; i < quotients.size() && failures < 10; ++i) {
    const T n = from_bits<T>(lists[0][i]), d = from_bits<T>(lists[1][i]);
    T expected = n / d;
    if (std::isnan(n)) {
      expected = quieted(n);
    } else if (std::isnan(d)) {
      expected = quieted(d);
    } else if (std::isnan(expected)) {
      expected = std::copysign(expected, T{-1});
    }
    if (quotients[i] == word(expected)) continue;
    ++failures;
    ADD_FAILURE() << n << " / " << d << " (" << std::hex << lists[0][i] << " / " << lists[1][i] << "): " << quotients[i]
                  << " rather than " << word(expected);
  }
}

TEST(FloatDivision, SinglesDivideCorrectlyRounded) {
  const auto lists = operands(32);
  expect_quotients<float>(lists, divide32(lists[0], lists[1]));
}

TEST(FloatDivision, DoublesDivideCorrectlyRounded) {
  const auto lists = operands(64);
  expect_quotients<double>(lists, divide64(lists[0], lists[1]));
}

/// LLVM's f16 division: in single precision with a reciprocal, then div_fixup.
TEST(FloatDivision, HalvesDivideCorrectlyRounded) {
  auto lists = pairs(edges16());
  append_random(lists, 16, 200000, 23);
  const Values n = evaluate(Opcode::v_cvt_f32_f16, {lists[0]}).dst;
  const Values d = evaluate(Opcode::v_cvt_f32_f16, {lists[1]}).dst;
  const Values reciprocal = evaluate(Opcode::v_rcp_f32, {d}).dst;
  const Values quotient = evaluate(Opcode::v_mul_f32, {n, reciprocal}).dst;
  const Values half = evaluate(Opcode::v_cvt_f16_f32, {quotient}).dst;
  for (const Opcode fixup : {Opcode::v_div_fixup_f16, Opcode::v_div_fixup_legacy_f16}) {
    const Values result = evaluate(fixup, {half, lists[1], lists[0]}).dst;
    for (size_t i = 0; i < result.size(); ++i) {
      const float a = as_float(n[i]), b = as_float(d[i]);
      const auto expected = static_cast<float>(static_cast<_Float16>(a / b));
      const float got = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(result[i])));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << a << " / " << b;
      } else if (std::isinf(expected)) {
        ASSERT_EQ(got, expected) << a << " / " << b;
      } else {
        // The expansion itself is good to one unit, not exact; at special operands it is.
        ASSERT_LE(std::fabs(got - expected), std::ldexp(std::fabs(expected), -10) + 0x1p-24f) << a << " / " << b;
        ASSERT_EQ(std::signbit(got), std::signbit(expected)) << a << " / " << b;
      }
    }
  }
}

TEST(FloatDivision, HalfFixupKeepsOrClearsTheUpperHalf) {
  const Conditions old{.old = {0xABCD0000}};
  EXPECT_EQ(evaluate_one(Opcode::v_div_fixup_f16, {0x3C00, 0x3C00, 0xBC00}, old), 0xABCDBC00u);
  EXPECT_EQ(evaluate_one(Opcode::v_div_fixup_legacy_f16, {0x3C00, 0x3C00, 0xBC00}, old), 0xBC00u);
}

/// VCC as measured on GFX11 (tinygrad, test/amd/hw/test_vop3.py), with the same rule for doubles.
TEST(FloatDivision, ScalesWhereAnOperandIsZeroOrTheQuotientMayBeDenormal) {
  struct Case {
    double numerator, denominator;
    bool single, twice;
  };
  constexpr Case cases[] = {{1, 4, false, false},         {0, 1, true, true},
                            {1, 0, true, true},           {0x1p-126, 1, true, false},
                            {0x1p-125, 1, false, false},  {1, 0x1p127, true, false},
                            {0x1.8p-126, 1, true, false}, {0x1p120, 0x1p-6, true, false},
                            {0x1p-1022, 1, true, true},   {0x1p-1021, 1, true, false},
                            {1, 0x1p1023, true, true}};
  for (const Case& each : cases) {
    const double n = each.numerator, d = each.denominator;
    if (static_cast<float>(n) == n && static_cast<float>(d) == d) {
      const auto single_n = static_cast<float>(n), single_d = static_cast<float>(d);
      const Values of_n = {word(single_n)}, of_d = {word(single_d)};
      EXPECT_EQ(evaluate(Opcode::v_div_scale_f32, {of_n, of_d, of_n}).mask[0], each.single) << n << " / " << d;
    }
    EXPECT_EQ(evaluate(Opcode::v_div_scale_f64, {{word(n)}, {word(d)}, {word(n)}}).mask[0], each.twice)
        << n << " / " << d;
  }
}

/// As measured on four GPUs (llvm/llvm-project#208733).
TEST(FloatDivision, ScalingQuietsSignalingNansFromGfx12On) {
  const uint64_t signaling = 0x7F800001, signaling64 = 0xFFF0000000000001;
  for (const target::Generation generation : {target::Generation::gfx9, target::Generation::gfx11}) {
    const Conditions before{.generation = generation};
    EXPECT_EQ(evaluate_one(Opcode::v_div_scale_f32, {signaling, word(3.0f), signaling}, before), signaling);
    EXPECT_EQ(evaluate_one(Opcode::v_div_scale_f64, {signaling64, word(3.0), signaling64}, before), signaling64);
  }
  const Conditions after{.generation = target::Generation::gfx12};
  EXPECT_EQ(evaluate_one(Opcode::v_div_scale_f32, {signaling, word(3.0f), signaling}, after), 0x7FC00001u);
  EXPECT_EQ(evaluate_one(Opcode::v_div_scale_f64, {signaling64, word(3.0), signaling64}, after), 0xFFF8000000000001u);
}

TEST(FloatDivision, UnderflowFollowsTheRoundingMode) {
  const Values n = {0x00000001}, d = {word(0x1p100f)}, quotient = {0};
  EXPECT_EQ(evaluate(Opcode::v_div_fixup_f32, {quotient, d, n}).dst[0], 0u);
  Conditions up;
  up.mode.round32 = Round::plus_infinity;
  EXPECT_EQ(evaluate(Opcode::v_div_fixup_f32, {quotient, d, n}, up).dst[0], 1u);
}

}  // namespace
}  // namespace Atoll::semantics::test

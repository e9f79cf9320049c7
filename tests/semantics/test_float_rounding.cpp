// Whole numbers, fractions, frexp and ldexp against the host's C library.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

std::vector<Values> inputs(unsigned width) {
  std::vector<Values> lists = {width == 32 ? edges32() : edges64()};
  append_random(lists, width, 50000, 12);
  for (int i = -64; i <= 64; ++i) {
    lists[0].push_back(width == 32 ? word(static_cast<float>(i) * 0.25f) : word(i * 0.25));
  }
  return lists;
}

TEST(FloatRounding, ToWholeNumbersAsTheHostDoes) {
  const auto trunc = [](auto a) { return std::trunc(a); };
  const auto ceil = [](auto a) { return std::ceil(a); };
  const auto floor = [](auto a) { return std::floor(a); };
  const auto nearest = [](auto a) { return std::nearbyint(a); };
  expect_result<float, 1>(Opcode::v_trunc_f32, inputs(32), trunc);
  expect_result<float, 1>(Opcode::v_ceil_f32, inputs(32), ceil);
  expect_result<float, 1>(Opcode::v_floor_f32, inputs(32), floor);
  expect_result<float, 1>(Opcode::v_rndne_f32, inputs(32), nearest);
  expect_result<double, 1>(Opcode::v_trunc_f64, inputs(64), trunc);
  expect_result<double, 1>(Opcode::v_ceil_f64, inputs(64), ceil);
  expect_result<double, 1>(Opcode::v_floor_f64, inputs(64), floor);
  expect_result<double, 1>(Opcode::v_rndne_f64, inputs(64), nearest);
}

TEST(FloatRounding, FractionsStayBelowOne) {
  const auto fraction = [](auto a) {
    const auto part = a - std::floor(a);
    return part == 1 ? std::nextafter(part, decltype(part){0}) : part;
  };
  expect_result<float, 1>(Opcode::v_fract_f32, inputs(32), fraction);
  expect_result<double, 1>(Opcode::v_fract_f64, inputs(64), fraction);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_fract_f32, {word(-1e-10f)})), 0x1.fffffep-1f);
}

template <typename T>
T mantissa(T a) {
  int exponent = 0;
  if (std::isnan(a)) return quieted(a);
  return std::isfinite(a) ? std::frexp(a, &exponent) : a;
}
template <typename T>
uint32_t exponent(T a) {
  int result = 0;
  if (std::isfinite(a)) std::frexp(a, &result);
  return static_cast<uint32_t>(result);
}

TEST(FloatRounding, MantissaAndExponentAreThoseOfFrexp) {
  expect_bits<float, 1>(Opcode::v_frexp_mant_f32, inputs(32), [](float a) { return mantissa(a); });
  expect_bits<double, 1>(Opcode::v_frexp_mant_f64, inputs(64), [](double a) { return mantissa(a); });
  const Values singles = inputs(32)[0], doubles = inputs(64)[0];
  const Evaluation of_singles = evaluate(Opcode::v_frexp_exp_i32_f32, {singles});
  for (size_t i = 0; i < singles.size(); ++i) ASSERT_EQ(of_singles.dst[i], exponent(as_float(singles[i])));
  const Evaluation of_doubles = evaluate(Opcode::v_frexp_exp_i32_f64, {doubles});
  for (size_t i = 0; i < doubles.size(); ++i) ASSERT_EQ(of_doubles.dst[i], exponent(as_double(doubles[i])));
}

TEST(FloatRounding, LdexpRoundsOnceIntoTheDenormals) {
  const auto expect = [](Opcode opcode, const Values& numbers, auto reference) {
    Values exponents;
    const Values random = random_bits(32, static_cast<unsigned>(numbers.size()), 13);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto spread = static_cast<int32_t>(random[i] >> 8) % (i % 3 == 0 ? 4000 : 300);
      exponents.push_back(static_cast<uint32_t>(i % 50 == 0 ? static_cast<int32_t>(random[i]) : spread));
    }
    const Evaluation result = evaluate(opcode, {numbers, exponents});
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(result.dst[i], reference(numbers[i], static_cast<int>(exponents[i])))
          << std::hex << numbers[i] << std::dec << " " << static_cast<int>(exponents[i]);
    }
  };
  const auto single = [](uint64_t number, int exponent) -> uint64_t {
    const float a = as_float(number);
    return word(std::isnan(a) ? quieted(a) : std::ldexp(a, exponent));
  };
  const auto twice = [](uint64_t number, int exponent) {
    const double a = as_double(number);
    return word(std::isnan(a) ? quieted(a) : std::ldexp(a, exponent));
  };
  expect(Opcode::v_ldexp_f32, inputs(32)[0], single);
  expect(Opcode::v_ldexp_f64, inputs(64)[0], twice);
  // Around the bottom, where rounding matters.
  Values small;
  for (const uint64_t value : random_bits(64, 20000, 14)) small.push_back((value >> 12) | (value % 300 + 1) << 52);
  expect(Opcode::v_ldexp_f64, small, twice);
}

}  // namespace
}  // namespace Atoll::semantics::test

// Minimum and maximum of all generations against plain code after the ISA guides' text: which NaN comes out where, and
// zeros of both signs.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;
using target::Generation;

/// Which of two NaNs the guides let through.
enum class Rule : uint8_t { second, first, first_made_quiet };

struct Kind {
  Generation generation;
  Rule rule;
};
constexpr Kind kinds[] = {{Generation::gfx9, Rule::second},
                          {Generation::gfx10_3, Rule::second},
                          {Generation::gfx11, Rule::first},
                          {Generation::gfx11_7, Rule::first_made_quiet},
                          {Generation::gfx12, Rule::first_made_quiet}};

template <typename T>
bool goes_first(T a, T b, bool least) {
  if (a == 0 && b == 0 && std::signbit(a) != std::signbit(b)) return std::signbit(a) == least;
  return least ? a < b : a > b;
}

template <typename T>
T number_of(T a, T b, bool least, Rule rule, bool ieee) {
  if (rule == Rule::first_made_quiet) {
    if (std::isnan(a) && std::isnan(b)) return quieted(a);
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
  } else {
    if (ieee && is_signalling(a)) return quieted(a);
    if (ieee && is_signalling(b)) return quieted(b);
    if (rule == Rule::first && std::isnan(b)) return a;
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
  }
  return goes_first(a, b, least) ? a : b;
}

template <typename T>
T any_of(T a, T b, bool least) {
  if (is_signalling(a)) return quieted(a);
  if (is_signalling(b)) return quieted(b);
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  return goes_first(a, b, least) ? a : b;
}

std::vector<Values> inputs(unsigned count, unsigned width) {
  const Values edges = width == 64 ? edges64() : edges32();
  auto lists = count == 2 ? pairs(edges) : triples(edges);
  append_random(lists, width, 5000, width + count);
  return lists;
}

/// The halves are compared with singles that hold the same numbers: signalling NaNs stay such in these.
uint32_t single_of(uint64_t half) {
  const auto bits = static_cast<uint32_t>(half);
  const uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  if (exponent == 31) return sign | 0x7F800000 | fraction << 13;
  return sign | word(static_cast<float>(
                    std::ldexp(exponent == 0 ? fraction : fraction | 0x400, int(std::max(exponent, 1u)) - 25)));
}

template <typename Compute>
void expect_halves(Opcode opcode, unsigned count, Compute compute, const Conditions& conditions) {
  auto lists = count == 2 ? pairs(edges16()) : triples(edges16());
  Conditions with_old = conditions;
  with_old.old.assign(lists[0].size(), 0xABCD0000);
  const Evaluation result = evaluate(opcode, lists, with_old);
  for (size_t i = 0; i < result.dst.size(); ++i) {
    float values[3]{};
    for (unsigned s = 0; s < count; ++s) values[s] = std::bit_cast<float>(single_of(lists[s][i]));
    const uint32_t expected = word(compute(values[0], values[1], values[2]));
    ASSERT_EQ(single_of(result.dst[i] & 0xFFFF), expected) << static_cast<unsigned>(opcode) << " at " << i;
  }
}

TEST(FloatMinmax, NumbersWinOverNansAsEachGenerationHasIt) {
  for (const Kind& kind : kinds) {
    for (const bool ieee : {false, true}) {
      Conditions conditions;
      conditions.mode.has_ieee_mode = kind.generation < Generation::gfx11_7;
      conditions.mode.ieee = ieee;
      conditions.generation = kind.generation;
      const auto two = [&](bool least) {
        return [=](auto a, auto b) { return number_of(a, b, least, kind.rule, ieee); };
      };
      const auto three = [&](bool first_least, bool least) {
        return [=](auto a, auto b, auto c) {
          return number_of(number_of(a, b, first_least, kind.rule, ieee), c, least, kind.rule, ieee);
        };
      };
      expect_bits<float, 2>(Opcode::v_min_f32, inputs(2, 32), two(true), conditions);
      expect_bits<float, 2>(Opcode::v_max_f32, inputs(2, 32), two(false), conditions);
      expect_bits<double, 2>(Opcode::v_min_f64, inputs(2, 64), two(true), conditions);
      expect_bits<double, 2>(Opcode::v_max_f64, inputs(2, 64), two(false), conditions);
      expect_bits<float, 3>(Opcode::v_min3_f32, inputs(3, 32), three(true, true), conditions);
      expect_bits<float, 3>(Opcode::v_max3_f32, inputs(3, 32), three(false, false), conditions);
      expect_bits<float, 3>(Opcode::v_minmax_f32, inputs(3, 32), three(true, false), conditions);
      expect_bits<float, 3>(Opcode::v_maxmin_f32, inputs(3, 32), three(false, true), conditions);
      const auto median = [=](auto a, auto b, auto c) {
        const auto most = [&](auto x, auto y) { return number_of(x, y, false, kind.rule, ieee); };
        if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
          return number_of(number_of(a, b, true, kind.rule, ieee), c, true, kind.rule, ieee);
        }
        const auto largest = most(most(a, b), c);
        return largest == a ? most(b, c) : largest == b ? most(a, c) : most(a, b);
      };
      expect_bits<float, 3>(Opcode::v_med3_f32, inputs(3, 32), median, conditions);
      expect_halves(Opcode::v_min_f16, 2, [&](float a, float b, float) { return two(true)(a, b); }, conditions);
      expect_halves(Opcode::v_max_f16, 2, [&](float a, float b, float) { return two(false)(a, b); }, conditions);
      expect_halves(Opcode::v_min3_f16, 3, three(true, true), conditions);
      expect_halves(Opcode::v_max3_f16, 3, three(false, false), conditions);
      expect_halves(Opcode::v_minmax_f16, 3, three(true, false), conditions);
      expect_halves(Opcode::v_maxmin_f16, 3, three(false, true), conditions);
      expect_halves(Opcode::v_med3_f16, 3, median, conditions);
    }
  }
}

TEST(FloatMinmax, IeeesMinimumAndMaximumLetNansThrough) {
  const auto two = [](bool least) { return [=](auto a, auto b) { return any_of(a, b, least); }; };
  const auto three = [](bool first_least, bool least) {
    return [=](auto a, auto b, auto c) { return any_of(any_of(a, b, first_least), c, least); };
  };
  Conditions conditions;
  for (const Generation generation : {Generation::gfx11_7, Generation::gfx12}) {
    conditions.generation = generation;
    expect_bits<float, 2>(Opcode::v_minimum_f32, inputs(2, 32), two(true), conditions);
    expect_bits<float, 2>(Opcode::v_maximum_f32, inputs(2, 32), two(false), conditions);
    expect_bits<double, 2>(Opcode::v_minimum_f64, inputs(2, 64), two(true), conditions);
    expect_bits<double, 2>(Opcode::v_maximum_f64, inputs(2, 64), two(false), conditions);
    expect_bits<float, 3>(Opcode::v_minimum3_f32, inputs(3, 32), three(true, true), conditions);
    expect_bits<float, 3>(Opcode::v_maximum3_f32, inputs(3, 32), three(false, false), conditions);
    expect_bits<float, 3>(Opcode::v_minimummaximum_f32, inputs(3, 32), three(true, false), conditions);
    expect_bits<float, 3>(Opcode::v_maximumminimum_f32, inputs(3, 32), three(false, true), conditions);
    expect_halves(Opcode::v_minimum_f16, 2, [&](float a, float b, float) { return two(true)(a, b); }, conditions);
    expect_halves(Opcode::v_maximum_f16, 2, [&](float a, float b, float) { return two(false)(a, b); }, conditions);
    expect_halves(Opcode::v_minimum3_f16, 3, three(true, true), conditions);
    expect_halves(Opcode::v_maximum3_f16, 3, three(false, false), conditions);
    expect_halves(Opcode::v_minimummaximum_f16, 3, three(true, false), conditions);
    expect_halves(Opcode::v_maximumminimum_f16, 3, three(false, true), conditions);
  }
  // 1, -2 and 3 below; -0, 0 and a NaN above.
  EXPECT_EQ(evaluate_one(Opcode::v_pk_minimum3_f16, {0x80003C00, 0x0000C000, 0x7D004200}), 0x7F00C000u);
  EXPECT_EQ(evaluate_one(Opcode::v_pk_maximum3_f16, {0x80003C00, 0x0000C000, 0x80004200}), 0x00004200u);
}

}  // namespace
}  // namespace Atoll::semantics::test

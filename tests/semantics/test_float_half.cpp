// Half precision against exact integer arithmetic: every half is a multiple of 2^-24, every product of two a multiple
// of 2^-48, and all of them fit in 128 bits.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

__extension__ using Exact = __int128;  ///< in units of 2^-48

bool is_nan(uint64_t half) { return (half & 0x7FFF) > 0x7C00; }
bool is_infinite(uint64_t half) { return (half & 0x7FFF) == 0x7C00; }
bool is_negative(uint64_t half) { return (half & 0x8000) != 0; }

/// A finite half in units of 2^-24.
int64_t units(uint64_t half) {
  const uint64_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
  const auto size = static_cast<int64_t>(exponent == 0 ? fraction : (1024 + fraction) << (exponent - 1));
  return is_negative(half) ? -size : size;
}

/// Rounds an exact number to a half. Of an exact zero, `zero` is the sign.
uint64_t rounded(Exact value, Round round, bool zero) {
  if (value == 0) return zero ? 0x8000 : 0;
  const bool negative = value < 0;
  const Exact size = negative ? -value : value;
  // Down to the place of the last bit: 2^-24 for denormals, so 24 bits up; more for each power of two above.
  unsigned shift = 24;
  while ((size >> shift) >= 2048) ++shift;
  auto whole = static_cast<uint64_t>(size >> shift);
  const Exact rest = size - (static_cast<Exact>(whole) << shift), half = Exact{1} << (shift - 1);
  const bool up = round == Round::nearest_even     ? rest > half || (rest == half && (whole & 1))
                  : round == Round::plus_infinity  ? rest != 0 && !negative
                  : round == Round::minus_infinity ? rest != 0 && negative
                                                   : false;
  whole += up;
  uint64_t result = whole + (static_cast<uint64_t>(shift - 24) << 10);  // the leading one counts up the exponent
  if (result >= 0x7C00) {
    const bool to_infinity = round == Round::nearest_even || (round == Round::plus_infinity && !negative) ||
                             (round == Round::minus_infinity && negative);
    result = to_infinity ? 0x7C00 : 0x7BFF;
  }
  return result | (negative ? 0x8000 : 0);
}

uint64_t nan_of(std::initializer_list<uint64_t> operands) {
  for (const uint64_t operand : operands) {
    if (is_nan(operand)) return operand | 0x0200;
  }
  return 0x7E00;
}

/// The sign of a sum that is zero: that of both if they agree, else + (- when rounding toward -infinity).
bool sign_of_zero(bool a, bool b, Round round) { return a == b ? a : round == Round::minus_infinity; }

uint64_t exact_fma(uint64_t a, uint64_t b, uint64_t c, Round round) {
  const bool sign = is_negative(a) != is_negative(b);
  const bool infinite = is_infinite(a) || is_infinite(b);
  const bool invalid = (is_infinite(a) && (b & 0x7FFF) == 0) || (is_infinite(b) && (a & 0x7FFF) == 0) ||
                       (infinite && is_infinite(c) && is_negative(c) != sign);
  if (is_nan(a) || is_nan(b) || is_nan(c) || invalid) return nan_of({a, b, c});
  if (infinite) return sign ? 0xFC00 : 0x7C00;
  if (is_infinite(c)) return c;
  const Exact product = static_cast<Exact>(units(a)) * units(b);
  const Exact sum = product + static_cast<Exact>(units(c)) * (1 << 24);
  const bool zero =
      product == 0 && units(c) == 0 ? sign_of_zero(sign, is_negative(c), round) : round == Round::minus_infinity;
  return rounded(sum, round, zero);
}
uint64_t exact_sum(uint64_t a, uint64_t b, Round round) { return exact_fma(a, 0x3C00, b, round); }
uint64_t exact_product(uint64_t a, uint64_t b, Round round) {
  const bool sign = is_negative(a) != is_negative(b);
  // Adding a zero of the product's sign changes nothing.
  return exact_fma(a, b, sign ? 0x8000 : 0, round);
}

std::vector<Values> inputs2() {
  auto lists = pairs(edges16());
  append_random(lists, 16, 100000, 40);
  return lists;
}
std::vector<Values> inputs3() {
  auto lists = triples(edges16());
  append_random(lists, 16, 200000, 41);
  return lists;
}

Conditions rounding(Round round) {
  Conditions conditions;
  conditions.mode.round16_64 = round;
  return conditions;
}

template <typename Reference>
void expect2(Opcode opcode, Reference reference, const Conditions& conditions = {}) {
  const auto lists = inputs2();
  const Evaluation result = evaluate(opcode, lists, conditions);
  for (size_t i = 0; i < result.dst.size(); ++i) {
    ASSERT_EQ(result.dst[i], reference(lists[0][i], lists[1][i]))
        << std::hex << "opcode " << static_cast<unsigned>(opcode) << " of " << lists[0][i] << " " << lists[1][i];
  }
}
template <typename Reference>
void expect3(Opcode opcode, Reference reference, const Conditions& conditions = {}) {
  const auto lists = inputs3();
  const Evaluation result = evaluate(opcode, lists, conditions);
  for (size_t i = 0; i < result.dst.size(); ++i) {
    ASSERT_EQ(result.dst[i], reference(lists[0][i], lists[1][i], lists[2][i]))
        << std::hex << "opcode " << static_cast<unsigned>(opcode) << " of " << lists[0][i] << " " << lists[1][i] << " "
        << lists[2][i];
  }
}

constexpr Round every_round[] = {Round::nearest_even, Round::plus_infinity, Round::minus_infinity, Round::toward_zero};

TEST(FloatHalf, SumsProductsAndFusedSumsAreCorrectlyRoundedInEveryMode) {
  for (const Round round : every_round) {
    SCOPED_TRACE(static_cast<int>(round));
    const Conditions conditions = rounding(round);
    expect2(Opcode::v_add_f16, [&](uint64_t a, uint64_t b) { return exact_sum(a, b, round); }, conditions);
    expect2(Opcode::v_mul_f16, [&](uint64_t a, uint64_t b) { return exact_product(a, b, round); }, conditions);
    const auto fma = [&](uint64_t a, uint64_t b, uint64_t c) { return exact_fma(a, b, c, round); };
    expect3(Opcode::v_fma_f16, fma, conditions);
    expect3(Opcode::v_fma_legacy_f16, fma, conditions);
  }
}

TEST(FloatHalf, DifferencesNegateTheirSecondOperand) {
  // A NaN is not negated: leave those to the sum's test.
  const auto difference = [](uint64_t a, uint64_t b) {
    if (is_nan(a) || is_nan(b)) return nan_of({a, b});
    return exact_sum(a, b ^ 0x8000, Round::nearest_even);
  };
  expect2(Opcode::v_sub_f16, difference);
  expect2(Opcode::v_subrev_f16, [&](uint64_t a, uint64_t b) {
    if (is_nan(a) || is_nan(b)) return nan_of({b, a});
    return difference(b, a);
  });
}

uint64_t flushed_half(uint64_t half) { return (half & 0x7C00) == 0 ? half & 0x8000 : half; }

TEST(FloatHalf, MadRoundsTwiceAndFlushes) {
  const auto mad = [](uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t product = flushed_half(exact_product(flushed_half(a), flushed_half(b), Round::nearest_even));
    const uint64_t sum = exact_sum(product, flushed_half(c), Round::nearest_even);
    return is_nan(sum) ? nan_of({a, b, c}) : flushed_half(sum);
  };
  expect3(Opcode::v_mad_f16, mad);
  expect3(Opcode::v_mad_legacy_f16, mad);
  expect3(Opcode::v_madmk_f16, mad);
  expect3(Opcode::v_madak_f16, mad);
  auto lists = inputs3();
  const Values old = lists.back();
  const Values expected = evaluate(Opcode::v_mad_f16, lists).dst;
  lists.pop_back();
  EXPECT_EQ(evaluate(Opcode::v_mac_f16, lists, {.old = old}).dst, expected);
}

TEST(FloatHalf, ModeDecidesAboutDenormals) {
  Conditions in, out;
  in.mode.denormals16_64 = Denormals::allow_out;
  out.mode.denormals16_64 = Denormals::allow_in;
  const auto sum = [](uint64_t a, uint64_t b) { return exact_sum(a, b, Round::nearest_even); };
  expect2(Opcode::v_add_f16, [&](uint64_t a, uint64_t b) { return sum(flushed_half(a), flushed_half(b)); }, in);
  expect2(Opcode::v_add_f16, [&](uint64_t a, uint64_t b) { return flushed_half(sum(a, b)); }, out);
}

uint64_t extremum(uint64_t a, uint64_t b, bool smallest, bool ieee) {
  const auto signalling = [](uint64_t half) { return is_nan(half) && (half & 0x200) == 0; };
  if (ieee && signalling(a)) return a | 0x200;
  if (ieee && signalling(b)) return b | 0x200;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  // Ordered as integers: -0 is below +0.
  const auto order = [](uint64_t half) {
    return is_negative(half) ? -1 - static_cast<int>(half & 0x7FFF) : static_cast<int>(half);
  };
  return (order(a) < order(b)) == smallest ? a : b;
}

TEST(FloatHalf, MinimumMaximumAndMedian) {
  for (const bool ieee : {true, false}) {
    const Conditions conditions{.mode = {.ieee = ieee}};
    const auto least = [&](uint64_t a, uint64_t b) { return extremum(a, b, true, ieee); };
    const auto most = [&](uint64_t a, uint64_t b) { return extremum(a, b, false, ieee); };
    const auto least3 = [&](uint64_t a, uint64_t b, uint64_t c) { return least(least(a, b), c); };
    const auto most3 = [&](uint64_t a, uint64_t b, uint64_t c) { return most(most(a, b), c); };
    expect2(Opcode::v_min_f16, least, conditions);
    expect2(Opcode::v_max_f16, most, conditions);
    expect3(Opcode::v_min3_f16, least3, conditions);
    expect3(Opcode::v_max3_f16, most3, conditions);
    const auto equal = [](uint64_t a, uint64_t b) { return a == b || ((a | b) & 0x7FFF) == 0; };
    expect3(
        Opcode::v_med3_f16,
        [&](uint64_t a, uint64_t b, uint64_t c) {
          if (is_nan(a) || is_nan(b) || is_nan(c)) return least3(a, b, c);
          if (equal(most3(a, b, c), a)) return most(b, c);
          if (equal(most3(a, b, c), b)) return most(a, c);
          return most(a, b);
        },
        conditions);
  }
}

TEST(FloatHalf, PackedInstructionsDoBothHalves) {
  const auto lists = inputs3();
  const size_t count = lists[0].size();
  std::vector<Values> packed(3), reversed(3);
  for (size_t i = 0; i < 3; ++i) {
    reversed[i] = Values(lists[i].rbegin(), lists[i].rend());
    for (size_t k = 0; k < count; ++k) packed[i].push_back(lists[i][k] | reversed[i][k] << 16);
  }
  const auto expect = [&](Opcode whole, Opcode part, ptrdiff_t sources) {
    const auto first = [&](const std::vector<Values>& all) {
      return std::vector<Values>(all.begin(), all.begin() + sources);
    };
    Conditions accumulator;
    if (whole == Opcode::v_pk_fmac_f16) accumulator.old = packed[2];
    const ptrdiff_t read = whole == Opcode::v_pk_fmac_f16 ? 2 : sources;
    const Values both = evaluate(whole, {packed.begin(), packed.begin() + read}, accumulator).dst;
    const Values low = evaluate(part, first(lists)).dst, high = evaluate(part, first(reversed)).dst;
    for (size_t k = 0; k < count; ++k) ASSERT_EQ(both[k], low[k] | high[k] << 16) << k;
  };
  expect(Opcode::v_pk_add_f16, Opcode::v_add_f16, 2);
  expect(Opcode::v_pk_mul_f16, Opcode::v_mul_f16, 2);
  expect(Opcode::v_pk_min_f16, Opcode::v_min_f16, 2);
  expect(Opcode::v_pk_max_f16, Opcode::v_max_f16, 2);
  expect(Opcode::v_pk_fma_f16, Opcode::v_fma_f16, 3);
  expect(Opcode::v_pk_fmac_f16, Opcode::v_fma_f16, 3);
  EXPECT_EQ(evaluate_one(Opcode::v_pack_b32_f16, {0x7C01, 0x8001}), 0x80017C01u);
}

TEST(FloatHalf, UpperHalvesAreKeptOrClearedAsTheOpcodeSays) {
  const Conditions old{.old = {0xABCD1234}};
  const auto result = [&](Opcode opcode, size_t sources) {
    return evaluate_one(opcode, std::vector<uint64_t>(sources, 0x3C00), old);
  };
  EXPECT_EQ(result(Opcode::v_add_f16, 2), 0x4000u);
  EXPECT_EQ(result(Opcode::v_max_f16, 2), 0x3C00u);
  EXPECT_EQ(result(Opcode::v_fma_legacy_f16, 3), 0x4000u);
  EXPECT_EQ(result(Opcode::v_mad_legacy_f16, 3), 0x4000u);
  EXPECT_EQ(result(Opcode::v_fma_f16, 3), 0xABCD4000u);
  EXPECT_EQ(result(Opcode::v_mad_f16, 3), 0xABCD4000u);
  EXPECT_EQ(result(Opcode::v_min3_f16, 3), 0xABCD3C00u);
  EXPECT_EQ(result(Opcode::v_max3_f16, 3), 0xABCD3C00u);
  EXPECT_EQ(result(Opcode::v_med3_f16, 3), 0xABCD3C00u);
}

/// GFX8 clears the upper half (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest), GFX9 keeps it.
TEST(FloatHalf, UnfusedSumsKeepTheUpperHalfFromGfx9On) {
  const Conditions before{.old = {0xABCD3C00}, .generation = target::Generation::gfx8};
  const Conditions after{.old = {0xABCD3C00}, .generation = target::Generation::gfx9};
  const std::vector<uint64_t> two(2, 0x3C00), three(3, 0x3C00);
  EXPECT_EQ(evaluate_one(Opcode::v_mac_f16, two, before), 0x4000u);
  EXPECT_EQ(evaluate_one(Opcode::v_mac_f16, two, after), 0xABCD4000u);
  for (const Opcode opcode : {Opcode::v_madmk_f16, Opcode::v_madak_f16}) {
    EXPECT_EQ(evaluate_one(opcode, three, before), 0x4000u);
    EXPECT_EQ(evaluate_one(opcode, three, after), 0xABCD4000u);
  }
}

/// Measured on gfx950 (SemiAnalysisAI/FuzzX, m140). An operand's NaN passes as it is.
TEST(FloatHalf, InvalidPackedSumsAreNegativeNansOnGfx942AndGfx950) {
  using enum target::Generation;
  for (const target::Generation generation : {gfx9, gfx90a, gfx940, gfx950, gfx10, gfx11, gfx12}) {
    const uint32_t nan = generation == gfx940 || generation == gfx950 ? 0xFE00 : 0x7E00;
    const Conditions conditions{.generation = generation};
    EXPECT_EQ(evaluate_one(Opcode::v_pk_add_f16, {0x7E00FC00, 0x7C007C00}, conditions), 0x7E000000 | nan);
    EXPECT_EQ(evaluate_one(Opcode::v_pk_add_f16, {0x7C003C00, 0xFC003C00}, conditions), nan << 16 | 0x4000);
  }
}

TEST(FloatHalf, RoundingOfHalvesTakesTheWholeNumbers) {
  struct Function {
    Opcode opcode;
    float (*reference)(float);
  };
  const Function functions[] = {{Opcode::v_trunc_f16, [](float a) { return std::trunc(a); }},
                                {Opcode::v_ceil_f16, [](float a) { return std::ceil(a); }},
                                {Opcode::v_floor_f16, [](float a) { return std::floor(a); }},
                                {Opcode::v_rndne_f16, [](float a) { return std::nearbyint(a); }},
                                {Opcode::v_fract_f16,
                                 [](float a) {
                                   const auto part = static_cast<float>(static_cast<_Float16>(a - std::floor(a)));
                                   return part == 1 ? 0x1.ffcp-1f : part;
                                 }},
                                {Opcode::v_frexp_mant_f16, [](float a) {
                                   int exponent = 0;
                                   return std::isfinite(a) ? std::frexp(a, &exponent) : a;
                                 }}};
  Values values;
  for (uint32_t value = 0; value < 65536; ++value) values.push_back(value);
  for (const Function& function : functions) {
    const Evaluation result = evaluate(function.opcode, {values});
    for (const uint64_t value : values) {
      const auto operand = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(value)));
      const auto expected = std::bit_cast<uint16_t>(static_cast<_Float16>(function.reference(operand)));
      if (is_nan(expected)) {
        ASSERT_EQ(result.dst[value], is_nan(value) ? value | 0x200 : 0x7E00);
      } else {
        ASSERT_EQ(result.dst[value], expected) << std::hex << value;
      }
    }
  }
  const Evaluation exponents = evaluate(Opcode::v_frexp_exp_i16_f16, {values});
  for (const uint64_t value : values) {
    int exponent = 0;
    const auto operand = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(value)));
    if (std::isfinite(operand)) std::frexp(operand, &exponent);
    ASSERT_EQ(static_cast<int16_t>(exponents.dst[value]), exponent);
  }
}

TEST(FloatHalf, LdexpOfHalves) {
  Values numbers, exponents;
  for (uint32_t value = 0; value < 65536; value += 3) {
    for (const int exponent : {-32768, -45, -20, -11, -3, 0, 1, 9, 30, 44, 32767}) {
      numbers.push_back(value);
      exponents.push_back(static_cast<uint16_t>(exponent));
    }
  }
  const Evaluation result = evaluate(Opcode::v_ldexp_f16, {numbers, exponents});
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(numbers[i])));
    const double scaled = std::ldexp(double{number}, static_cast<int16_t>(exponents[i]));
    if (is_nan(numbers[i])) {
      ASSERT_EQ(result.dst[i], numbers[i] | 0x200);
    } else if (!std::isfinite(scaled) || std::fabs(scaled) >= 65520) {
      ASSERT_EQ(result.dst[i], std::signbit(number) ? 0xFC00u : 0x7C00u);
    } else {
      const auto exact = static_cast<Exact>(std::ldexp(scaled, 48));
      const bool lost = std::fabs(scaled) < 0x1p-26;
      const uint64_t expected =
          lost ? (std::signbit(number) ? 0x8000 : 0) : rounded(exact, Round::nearest_even, std::signbit(number));
      ASSERT_EQ(result.dst[i], expected) << number << " " << static_cast<int16_t>(exponents[i]);
    }
  }
}

TEST(FloatMix, SumsInSinglePrecisionGoWhereTheNameSays) {
  const uint32_t a = word(1.5f), b = word(-2.25f), c = word(0.125f);
  const Conditions old{.old = {0xABCD1234}};
  EXPECT_TRUE(vector_function(Opcode::v_fma_mix_f32).mixed_sources);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_fma_mix_f32, {a, b, c})), -3.25f);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_mad_mix_f32, {a, b, c})), -3.25f);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mixlo_f16, {a, b, c}, old), 0xABCDC280u);
  EXPECT_EQ(evaluate_one(Opcode::v_mad_mixlo_f16, {a, b, c}, old), 0xABCDC280u);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mixhi_f16, {a, b, c}, old), 0xC2801234u);
  EXPECT_EQ(evaluate_one(Opcode::v_mad_mixhi_f16, {a, b, c}, old), 0xC2801234u);
  Conditions clamped = old;
  clamped.clamp = true;
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mixhi_f16, {a, b, c}, clamped), 0x00001234u);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mixlo_f16, {a, a, c}, clamped), 0xABCD3C00u);
}

TEST(FloatMix, FmaKeepsDenormalsAndMadFlushesThem) {
  const uint32_t tiny = 0x00000100, one = word(1.0f);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mix_f32, {tiny, one, 0}), tiny);
  EXPECT_EQ(evaluate_one(Opcode::v_mad_mix_f32, {tiny, one, 0}), 0u);
  Conditions flush;
  flush.mode.denormals16_64 = Denormals::flush_in_out;
  const uint32_t small = word(0x1p-20f);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mixlo_f16, {small, one, 0}), 0x0010u);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_mixlo_f16, {small, one, 0}, flush), 0u);
  // The unfused forms flush in every mode (llvm/llvm-project#224911).
  EXPECT_EQ(evaluate_one(Opcode::v_mad_mixlo_f16, {small, one, 0}), 0u);
  EXPECT_EQ(evaluate_one(Opcode::v_mad_mixhi_f16, {small, one, 0}), 0u);
}

TEST(FloatCube, FacesAndCoordinatesFollowTheMajorAxis) {
  struct Case {
    float x, y, z, face, s, t, axis;
  };
  // The table of OpenGL's specification ("Cube Map Texture Selection"), with s and t not yet divided by the axis.
  const Case cases[] = {
      {2, 0.5f, -1, 0, 1, -0.5f, 4},  {-2, 0.5f, -1, 1, -1, -0.5f, -4}, {0.5f, 3, -1, 2, 0.5f, -1, 6},
      {0.5f, -3, -1, 3, 0.5f, 1, -6}, {0.5f, -1, 4, 4, 0.5f, 1, 8},     {0.5f, -1, -4, 5, -0.5f, 1, -8},
      {1, 1, 1, 4, 1, -1, 2},         {1, 1, 0.5f, 2, 1, 0.5f, 2},
  };
  for (const Case& c : cases) {
    const std::vector<uint64_t> direction = {word(c.x), word(c.y), word(c.z)};
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_cubeid_f32, direction)), c.face);
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_cubesc_f32, direction)), c.s) << c.face;
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_cubetc_f32, direction)), c.t) << c.face;
    EXPECT_EQ(as_float(evaluate_one(Opcode::v_cubema_f32, direction)), c.axis);
  }
}

}  // namespace
}  // namespace Atoll::semantics::test

// Reciprocals, roots, logarithms, powers, sine and cosine: error against the host's long double functions (64 bits of
// precision), and the special values that the ISA guides list.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

constexpr long double pi = 3.14159265358979323846264338327950288L;

/// Values all over the range of singles.
Values singles() {
  Values values = edges32();
  for (uint64_t value = 0; value < uint64_t{1} << 32; value += 8191) values.push_back(value);
  const Values more = random_bits(32, 200000, 30);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

/// The distance from `exact` to `result` in units of the last place of `exact`'s binade in T.
template <typename T>
long double error(T result, long double exact) {
  if (result == static_cast<T>(exact)) return 0;
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return std::fabs(static_cast<long double>(result) - exact) /
         std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
}

/// The largest error over the values whose exact result is a normal number or zero.
template <typename T, typename Exact>
long double largest_error(Opcode opcode, const Values& values, Exact exact, bool flushes) {
  const Evaluation result = evaluate(opcode, {values});
  long double largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    T operand = from_bits<T>(values[i]);
    if (flushes) operand = flushed(operand);
    const long double expected = exact(static_cast<long double>(operand));
    const T got = from_bits<T>(result.dst[i]);
    if (std::isnan(expected) || std::isnan(got)) {
      EXPECT_TRUE(std::isnan(expected) && std::isnan(got)) << operand;
    } else if (std::isinf(static_cast<T>(expected)) || std::isinf(got)) {
      EXPECT_EQ(got, static_cast<T>(expected)) << operand;
    } else if (flushes && std::fabs(expected) < static_cast<long double>(std::numeric_limits<T>::min())) {
      EXPECT_LE(std::fabs(got), std::numeric_limits<T>::min()) << operand;
    } else {
      largest = std::max(largest, error(got, expected));
    }
  }
  return largest;
}

TEST(FloatTranscendental, SinglesAreWithinTheDocumentedErrorAndNearlyCorrectlyRounded) {
  const Values values = singles();
  EXPECT_LE(largest_error<float>(Opcode::v_rcp_f32, values, [](long double a) { return 1 / a; }, true), 0.5L);
  EXPECT_LE(largest_error<float>(Opcode::v_rcp_iflag_f32, values, [](long double a) { return 1 / a; }, true), 0.5L);
  EXPECT_LE(largest_error<float>(Opcode::v_sqrt_f32, values, [](long double a) { return std::sqrt(a); }, true), 0.5L);
  EXPECT_LE(
      largest_error<float>(Opcode::v_rsq_f32, values, [](long double a) { return 1 / std::sqrt(a); }, true), 0.6L);
  const auto log2 = [](long double a) { return std::log2(a); };
  EXPECT_LE(largest_error<float>(Opcode::v_log_f32, values, log2, true), 0.501L);
  EXPECT_LE(largest_error<float>(Opcode::v_log_legacy_f32, values, log2, true), 0.501L);
  const auto exp2 = [](long double a) { return std::exp2(a); };
  EXPECT_LE(largest_error<float>(Opcode::v_exp_f32, values, exp2, true), 0.501L);
  EXPECT_LE(largest_error<float>(Opcode::v_exp_legacy_f32, values, exp2, true), 0.501L);
}

/// sin or cos of `a` turns, by exact reduction.
long double of_turns(long double a, bool cosine) {
  if (!std::isfinite(a)) return NAN;
  if (std::fabs(a) > 256) return cosine ? 1 : 0;
  const long double quarters = std::nearbyint(a * 4), rest = (a - quarters / 4) * 2 * pi;
  const auto quadrant = (static_cast<long>(quarters) + (cosine ? 1 : 0)) & 3;
  const long double value = quadrant & 1 ? std::cos(rest) : std::sin(rest);
  return quadrant & 2 ? -value : value;
}

TEST(FloatTranscendental, SineAndCosineTakeTurns) {
  Values values = singles();
  for (int i = -2100; i <= 2100; ++i) values.push_back(word(static_cast<float>(i) / 8));
  const auto sine = [](long double a) { return of_turns(a, false); };
  const auto cosine = [](long double a) { return of_turns(a, true); };
  EXPECT_LE(largest_error<float>(Opcode::v_sin_f32, values, sine, true), 0.501L);
  EXPECT_LE(largest_error<float>(Opcode::v_cos_f32, values, cosine, true), 0.501L);
  const auto exact = [](Opcode opcode, float turns) { return as_float(evaluate_one(opcode, {word(turns)})); };
  for (int whole = -4; whole <= 4; ++whole) {
    const auto turns = static_cast<float>(whole);
    EXPECT_EQ(exact(Opcode::v_sin_f32, turns), 0.0f);
    EXPECT_EQ(exact(Opcode::v_sin_f32, turns + 0.25f), 1.0f);
    EXPECT_EQ(exact(Opcode::v_sin_f32, turns + 0.5f), 0.0f);
    EXPECT_EQ(exact(Opcode::v_sin_f32, turns + 0.75f), -1.0f);
    EXPECT_EQ(exact(Opcode::v_cos_f32, turns), 1.0f);
    EXPECT_EQ(exact(Opcode::v_cos_f32, turns + 0.25f), 0.0f);
    EXPECT_EQ(exact(Opcode::v_cos_f32, turns + 0.5f), -1.0f);
  }
  EXPECT_EQ(evaluate_one(Opcode::v_sin_f32, {word(-0.0f)}), word(-0.0f));
}

TEST(FloatTranscendental, SpecialValuesOfSingles) {
  const uint32_t infinity = 0x7F800000, minus = 0x80000000, nan = 0xFFC00000;
  const auto of = [](Opcode opcode, uint32_t operand) {
    return static_cast<uint32_t>(evaluate_one(opcode, {operand}));
  };
  EXPECT_EQ(of(Opcode::v_rcp_f32, 0), infinity);
  EXPECT_EQ(of(Opcode::v_rcp_f32, minus), infinity | minus);
  EXPECT_EQ(of(Opcode::v_rcp_f32, infinity | minus), minus);
  EXPECT_EQ(of(Opcode::v_rcp_f32, 0x00000001), infinity) << "a denormal counts as zero";
  EXPECT_EQ(of(Opcode::v_rcp_f32, word(-0x1p127f)), minus) << "a denormal result is flushed";
  EXPECT_EQ(of(Opcode::v_rcp_f32, 0x7F812345), 0x7FC12345u);
  EXPECT_EQ(of(Opcode::v_rsq_f32, minus), infinity | minus);
  EXPECT_EQ(of(Opcode::v_rsq_f32, infinity), 0u);
  EXPECT_EQ(of(Opcode::v_rsq_f32, infinity | minus), nan);
  EXPECT_EQ(of(Opcode::v_sqrt_f32, minus), minus);
  EXPECT_EQ(of(Opcode::v_sqrt_f32, word(-4.0f)), nan);
  EXPECT_EQ(of(Opcode::v_sqrt_f32, infinity | minus), nan) << "measured on gfx950 (SemiAnalysisAI/FuzzX, m093)";
  EXPECT_EQ(of(Opcode::v_log_f32, 0), infinity | minus);
  EXPECT_EQ(of(Opcode::v_log_f32, word(1.0f)), 0u);
  EXPECT_EQ(of(Opcode::v_log_f32, word(-1.0f)), nan);
  EXPECT_EQ(of(Opcode::v_exp_f32, infinity | minus), 0u);
  EXPECT_EQ(of(Opcode::v_exp_f32, word(-127.0f)), 0u) << "a denormal result is flushed";
  EXPECT_EQ(of(Opcode::v_exp_f32, word(128.0f)), infinity);
  EXPECT_EQ(of(Opcode::v_exp_f32, 0xFF800001), 0xFFC00001u);
  EXPECT_EQ(of(Opcode::v_sin_f32, infinity), nan);
  EXPECT_EQ(of(Opcode::v_cos_f32, infinity | minus), nan);
  EXPECT_EQ(of(Opcode::v_sin_f32, word(256.5f)), 0u);
  EXPECT_EQ(of(Opcode::v_cos_f32, word(1e30f)), word(1.0f));
  for (int power = -126; power < 128; ++power) {
    EXPECT_EQ(as_float(of(Opcode::v_exp_f32, word(static_cast<float>(power)))), std::ldexp(1.0f, power));
    EXPECT_EQ(as_float(of(Opcode::v_log_f32, word(std::ldexp(1.0f, power)))), static_cast<float>(power));
  }
}

TEST(FloatTranscendental, SinglesTakeNoNoticeOfTheMode) {
  const Values values = singles();
  Conditions conditions;
  conditions.mode = {.round32 = Round::toward_zero, .denormals32 = Denormals::flush_in_out};
  for (const Opcode opcode : {Opcode::v_rcp_f32, Opcode::v_rsq_f32, Opcode::v_sqrt_f32, Opcode::v_log_f32,
                              Opcode::v_exp_f32, Opcode::v_sin_f32, Opcode::v_cos_f32}) {
    EXPECT_EQ(evaluate(opcode, {values}, conditions).dst, evaluate(opcode, {values}).dst);
  }
}

TEST(FloatTranscendental, DoublesAreWithinAUnit) {
  Values values = edges64();
  const Values more = random_bits(64, 300000, 31);
  values.insert(values.end(), more.begin(), more.end());
  EXPECT_LE(largest_error<double>(Opcode::v_rcp_f64, values, [](long double a) { return 1 / a; }, false), 0.501L);
  EXPECT_LE(
      largest_error<double>(Opcode::v_sqrt_f64, values, [](long double a) { return std::sqrt(a); }, false), 0.501L);
  EXPECT_LE(
      largest_error<double>(Opcode::v_rsq_f64, values, [](long double a) { return 1 / std::sqrt(a); }, false), 0.502L);
}

/// A half from an exact value, in the host's hands.
uint16_t half(long double exact) { return std::bit_cast<uint16_t>(static_cast<_Float16>(static_cast<double>(exact))); }

TEST(FloatTranscendental, EveryHalfIsWithinAUnit) {
  struct Function {
    Opcode opcode;
    long double (*exact)(long double);
  };
  const Function functions[] = {
      {Opcode::v_rcp_f16, [](long double a) { return 1 / a; }},
      {Opcode::v_sqrt_f16, [](long double a) { return std::sqrt(a); }},
      {Opcode::v_rsq_f16, [](long double a) { return 1 / std::sqrt(a); }},
      {Opcode::v_log_f16, [](long double a) { return std::log2(a); }},
      {Opcode::v_exp_f16, [](long double a) { return std::exp2(a); }},
      {Opcode::v_sin_f16, [](long double a) { return of_turns(a, false); }},
      {Opcode::v_cos_f16, [](long double a) { return of_turns(a, true); }},
  };
  Values values;
  for (uint32_t value = 0; value < 65536; ++value) values.push_back(value);
  for (const Function& function : functions) {
    SCOPED_TRACE(static_cast<unsigned>(function.opcode));
    const Evaluation result = evaluate(function.opcode, {values});
    unsigned differing = 0;
    for (uint32_t value = 0; value < 65536; ++value) {
      const auto operand =
          static_cast<long double>(static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(value))));
      const long double exact = function.exact(operand);
      const auto got = static_cast<uint16_t>(result.dst[value]);
      if (std::isnan(exact)) {
        ASSERT_GT(got & 0x7FFF, 0x7C00) << value;
      } else {
        const int distance = std::abs((got & 0x7FFF) - (half(exact) & 0x7FFF));
        ASSERT_LE(distance, 1) << value;
        differing += distance != 0;
      }
    }
    EXPECT_LE(differing, 2u) << "not correctly rounded";
  }
}

TEST(FloatTranscendental, DenormalHalvesAreFlushedByMode) {
  Conditions flush;
  flush.mode.denormals16_64 = Denormals::flush_in_out;
  EXPECT_EQ(evaluate_one(Opcode::v_rcp_f16, {0x0200}), 0x7800u);
  EXPECT_EQ(evaluate_one(Opcode::v_rcp_f16, {0x0200}, flush), 0x7C00u);
  EXPECT_EQ(evaluate_one(Opcode::v_rcp_f16, {0x7B00}), 0x0125u);
  EXPECT_EQ(evaluate_one(Opcode::v_rcp_f16, {0x7B00}, flush), 0u);
}

/// Large angles reduced with the segments of 2 / pi, as device math libraries do: their sine must be the host's.
TEST(FloatTranscendental, SegmentsOfTwoByPiReduceLargeAngles) {
  for (int exponent = 30; exponent < 1023; ++exponent) {
    const double angle = std::ldexp(1.2345678901234567, exponent);
    long double quarters = 0;
    for (uint32_t segment = 0; segment < 3; ++segment) {
      const double part = as_double(evaluate_one(Opcode::v_trig_preop_f64, {word(angle), segment}));
      const double scaled = exponent >= 945 ? std::ldexp(angle, -128) : angle;
      // The product of two 53-bit numbers, exactly, as two: then only the part modulo four turns' quarters.
      const double high = part * scaled, low = std::fma(part, scaled, -high);
      quarters += std::fmod(static_cast<long double>(high), 4.0L) + std::fmod(static_cast<long double>(low), 4.0L);
    }
    EXPECT_NEAR(static_cast<double>(std::sin(quarters * pi / 2)), std::sin(angle), 1e-15) << exponent;
    EXPECT_NEAR(static_cast<double>(std::cos(quarters * pi / 2)), std::cos(angle), 1e-15) << exponent;
  }
}

}  // namespace
}  // namespace Atoll::semantics::test

// Sums, products, minima and maxima of f32 and f64 against the host's scalar arithmetic.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "isa/table.h"
#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

/// Inputs for operations of two and three sources: every combination of edge values, and random ones.
std::vector<Values> inputs2(unsigned width) {
  auto lists = pairs(width == 32 ? edges32() : edges64());
  append_random(lists, width, 20000, 1);
  return lists;
}
std::vector<Values> inputs3(unsigned width) {
  auto lists = triples(width == 32 ? edges32() : edges64());
  append_random(lists, width, 40000, 2);
  return lists;
}

TEST(FloatArithmetic, SumsAndProductsOfSinglesAreIeee) {
  expect_result<float, 2>(Opcode::v_add_f32, inputs2(32), [](float a, float b) { return a + b; });
  expect_result<float, 2>(Opcode::v_sub_f32, inputs2(32), [](float a, float b) { return a - b; });
  expect_result<float, 2>(Opcode::v_mul_f32, inputs2(32), [](float a, float b) { return a * b; });
  expect_result<float, 3>(Opcode::v_fma_f32, inputs3(32), [](float a, float b, float c) { return std::fma(a, b, c); });
  expect_result<float, 3>(Opcode::v_fmamk_f32, inputs3(32),
                          [](float a, float b, float c) { return std::fma(a, b, c); });
  expect_result<float, 3>(Opcode::v_fmaak_f32, inputs3(32),
                          [](float a, float b, float c) { return std::fma(a, b, c); });
}

TEST(FloatArithmetic, ReversedSubtractionSwapsItsOperands) {
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_subrev_f32, {word(2.0f), word(7.0f)})), 5.0f);
}

TEST(FloatArithmetic, SumsAndProductsOfDoublesAreIeee) {
  expect_result<double, 2>(Opcode::v_add_f64, inputs2(64), [](double a, double b) { return a + b; });
  expect_result<double, 2>(Opcode::v_mul_f64, inputs2(64), [](double a, double b) { return a * b; });
  expect_result<double, 3>(Opcode::v_fma_f64, inputs3(64),
                           [](double a, double b, double c) { return std::fma(a, b, c); });
}

TEST(FloatArithmetic, EveryRoundingModeIsHonoured) {
  struct Direction {
    Round round;
    int host;
  };
  for (const Direction direction : {Direction{Round::plus_infinity, FE_UPWARD},
                                    {Round::minus_infinity, FE_DOWNWARD},
                                    {Round::toward_zero, FE_TOWARDZERO},
                                    {Round::nearest_even, FE_TONEAREST}}) {
    SCOPED_TRACE(static_cast<int>(direction.round));
    // The other width's mode is set to something else: it must not matter.
    const Round other = direction.round == Round::toward_zero ? Round::plus_infinity : Round::toward_zero;
    Conditions single, twice;
    single.mode = {.round32 = direction.round, .round16_64 = other};
    twice.mode = {.round32 = other, .round16_64 = direction.round};
    const auto rounded = [&](auto compute) {
      return [&direction, compute](auto... operands) {
        std::fesetround(direction.host);
        const auto result = compute(operands...);
        std::fesetround(FE_TONEAREST);
        return result;
      };
    };
    const auto sum = rounded([](auto a, auto b) { return a + b; });
    const auto product = rounded([](auto a, auto b) { return a * b; });
    const auto fused = rounded([](auto a, auto b, auto c) { return std::fma(a, b, c); });
    expect_result<float, 2>(Opcode::v_add_f32, inputs2(32), sum, single);
    expect_result<float, 2>(Opcode::v_mul_f32, inputs2(32), product, single);
    expect_result<float, 3>(Opcode::v_fma_f32, inputs3(32), fused, single);
    expect_result<double, 2>(Opcode::v_add_f64, inputs2(64), sum, twice);
    expect_result<double, 2>(Opcode::v_mul_f64, inputs2(64), product, twice);
    expect_result<double, 3>(Opcode::v_fma_f64, inputs3(64), fused, twice);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST) << "the host's rounding mode must be as it was";
  }
}

TEST(FloatArithmetic, DenormalModesFlushSourcesAndResultsSeparately) {
  for (const Denormals denormals :
       {Denormals::flush_in_out, Denormals::allow_in, Denormals::allow_out, Denormals::allow_in_out}) {
    SCOPED_TRACE(static_cast<int>(denormals));
    const bool in = denormals == Denormals::flush_in_out || denormals == Denormals::allow_out;
    const bool out = denormals == Denormals::flush_in_out || denormals == Denormals::allow_in;
    const auto flushing = [&](auto compute) {
      return [=](auto... operands) {
        const auto result = compute((in ? flushed(operands) : operands)...);
        return out ? flushed(result) : result;
      };
    };
    Conditions single, twice;
    single.mode.denormals32 = denormals;
    twice.mode.denormals16_64 = denormals;
    const auto sum = flushing([](auto a, auto b) { return a + b; });
    const auto product = flushing([](auto a, auto b) { return a * b; });
    const auto fused = flushing([](auto a, auto b, auto c) { return std::fma(a, b, c); });
    expect_result<float, 2>(Opcode::v_add_f32, inputs2(32), sum, single);
    expect_result<float, 2>(Opcode::v_mul_f32, inputs2(32), product, single);
    expect_result<float, 3>(Opcode::v_fma_f32, inputs3(32), fused, single);
    expect_result<double, 2>(Opcode::v_add_f64, inputs2(64), sum, twice);
    expect_result<double, 3>(Opcode::v_fma_f64, inputs3(64), fused, twice);
    expect_result<float, 2>(Opcode::v_add_f32, inputs2(32), [](float a, float b) { return a + b; }, twice);
  }
}

TEST(FloatArithmetic, MadOfSinglesRoundsTwiceAndFlushesWhateverTheMode) {
  const auto mad = [](float a, float b, float c) { return flushed(flushed(flushed(a) * flushed(b)) + flushed(c)); };
  expect_result<float, 3>(Opcode::v_mad_f32, inputs3(32), mad);
  expect_result<float, 3>(Opcode::v_madmk_f32, inputs3(32), mad);
  expect_result<float, 3>(Opcode::v_madak_f32, inputs3(32), mad);
}

TEST(FloatArithmetic, AccumulatingFormsReadTheOldDestination) {
  auto lists = inputs3(32);
  const Values old = lists.back();
  lists.pop_back();
  const Evaluation fmac = evaluate(Opcode::v_fmac_f32, lists, {.old = old});
  const Evaluation mac = evaluate(Opcode::v_mac_f32, lists, {.old = old});
  lists.push_back(old);
  EXPECT_EQ(fmac.dst, evaluate(Opcode::v_fma_f32, lists).dst);
  EXPECT_EQ(mac.dst, evaluate(Opcode::v_mad_f32, lists).dst);
}

TEST(FloatArithmetic, LegacyProductsWithZeroAreZero) {
  const float infinity = INFINITY;
  EXPECT_EQ(evaluate_one(Opcode::v_mul_legacy_f32, {word(0.0f), word(infinity)}), 0u);
  EXPECT_EQ(evaluate_one(Opcode::v_mul_legacy_f32, {0x7FC00000, word(-0.0f)}), 0u);
  EXPECT_EQ(evaluate_one(Opcode::v_mul_legacy_f32, {word(-0.0f), word(3.0f)}), 0u);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_mul_legacy_f32, {word(-2.0f), word(3.0f)})), -6.0f);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_mad_legacy_f32, {word(0.0f), word(infinity), word(5.0f)})), 5.0f);
  EXPECT_EQ(as_float(evaluate_one(Opcode::v_mad_legacy_f32, {word(2.0f), word(3.0f), word(5.0f)})), 11.0f);
}

TEST(FloatArithmetic, InvalidOperationsGiveThePositiveDefaultNan) {
  const uint32_t infinity = 0x7F800000, negative_infinity = 0xFF800000;
  EXPECT_EQ(evaluate_one(Opcode::v_add_f32, {infinity, negative_infinity}), 0x7FC00000u);
  EXPECT_EQ(evaluate_one(Opcode::v_mul_f32, {0, infinity}), 0x7FC00000u);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_f32, {0, infinity, 0}), 0x7FC00000u);
  EXPECT_EQ(evaluate_one(Opcode::v_add_f64, {0x7FF0000000000000, 0xFFF0000000000000}), 0x7FF8000000000000u);
}

TEST(FloatArithmetic, TheFirstNanOperandSurvivesMadeQuiet) {
  EXPECT_EQ(evaluate_one(Opcode::v_add_f32, {0xFF800001, 0x7FC12345}), 0xFFC00001u);
  EXPECT_EQ(evaluate_one(Opcode::v_add_f32, {0x3F800000, 0x7FA12345}), 0x7FE12345u);
  EXPECT_EQ(evaluate_one(Opcode::v_fma_f32, {0, 0x7F800000, 0xFFC00007}), 0xFFC00007u);
}

/// Without MODE.IEEE only conversions to halves make a signaling NaN quiet (measured on gfx90a, gfx950 and gfx1100:
/// llvm/llvm-project#208733). GPUs without that bit always do.
TEST(FloatArithmetic, SignalingNansPassWithoutIeeeMode) {
  Conditions ieee, none, gfx12;
  none.mode.ieee = false;
  gfx12.mode.ieee = gfx12.mode.has_ieee_mode = false;
  gfx12.generation = target::Generation::gfx12;
  const uint64_t one = word(1.0f), signaling = 0xFF800001, quiet = 0xFFC00001, other = 0x7FC12345;
  const uint64_t one64 = word(1.0), signaling64 = 0x7FF0000000000001, quiet64 = 0x7FF8000000000001;
  struct Case {
    Opcode opcode;
    std::vector<uint64_t> sources;
    uint64_t passed, quieted;
  };
  const Case cases[] = {
      {Opcode::v_add_f32, {signaling, one}, signaling, quiet},
      {Opcode::v_add_f32, {one, signaling}, signaling, quiet},
      {Opcode::v_mul_f32, {signaling, other}, signaling, quiet},
      {Opcode::v_mul_f32, {other, signaling}, other, other},
      {Opcode::v_fma_f32, {one, one, signaling}, signaling, quiet},
      {Opcode::v_add_f64, {one64, signaling64}, signaling64, quiet64},
      {Opcode::v_add_f16, {0x3C00, 0x7C01}, 0x7C01, 0x7E01},
      {Opcode::v_pk_mul_f16, {0x7C013C00, 0x3C00FC02}, 0x7C01FC02, 0x7E01FE02},
      {Opcode::v_rcp_f32, {signaling}, signaling, quiet},
      {Opcode::v_sqrt_f32, {signaling}, signaling, quiet},
      {Opcode::v_trunc_f32, {signaling}, signaling, quiet},
      {Opcode::v_cvt_f32_f16, {0x7C01}, 0x7F802000, 0x7FC02000},
      {Opcode::v_cvt_f64_f32, {signaling}, 0xFFF0000020000000, 0xFFF8000020000000},
      {Opcode::v_cvt_f32_f64, {0x7FF0000020000000}, 0x7F800001, 0x7FC00001},
      {Opcode::v_cvt_f32_f64, {signaling64}, 0x7FC00000, 0x7FC00000},
      {Opcode::v_cvt_f16_f32, {0x7F802000}, 0x7E01, 0x7E01},
      {Opcode::v_cvt_pkrtz_f16_f32, {0x7F802000, one}, 0x3C007E01, 0x3C007E01},
      {Opcode::v_dot2_f32_f16, {0x3C003C00, 0x3C003C00, signaling}, quiet, quiet},
      {Opcode::v_add_f32, {0x7F800000, 0xFF800000}, 0x7FC00000, 0x7FC00000},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(evaluate_one(each.opcode, each.sources, none), each.passed) << isa::row(each.opcode).name;
    EXPECT_EQ(evaluate_one(each.opcode, each.sources, ieee), each.quieted) << isa::row(each.opcode).name;
    EXPECT_EQ(evaluate_one(each.opcode, each.sources, gfx12), each.quieted) << isa::row(each.opcode).name;
  }
  Conditions accumulates = none;
  accumulates.old = {signaling};
  EXPECT_EQ(evaluate_one(Opcode::v_fmac_f32, {one, one}, accumulates), signaling);
}

/// The rules of the ISA guides' pseudo-code for V_MIN_F32 and V_MAX_F32.
template <typename T>
T reference_extremum(T a, T b, bool smallest, bool ieee) {
  if (ieee && is_signalling(a)) return quieted(a);
  if (ieee && is_signalling(b)) return quieted(b);
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return smallest == std::signbit(a) ? a : b;
  return (smallest ? a < b : a > b) ? a : b;
}

TEST(FloatArithmetic, MinimumAndMaximumOrderZerosAndTreatNansByIeeeMode) {
  for (const bool ieee : {true, false}) {
    SCOPED_TRACE(ieee);
    const Conditions conditions{.mode = {.ieee = ieee}};
    const auto least = [&](auto a, auto b) { return reference_extremum(a, b, true, ieee); };
    const auto most = [&](auto a, auto b) { return reference_extremum(a, b, false, ieee); };
    expect_bits<float, 2>(Opcode::v_min_f32, inputs2(32), least, conditions);
    expect_bits<float, 2>(Opcode::v_max_f32, inputs2(32), most, conditions);
    expect_bits<double, 2>(Opcode::v_min_f64, inputs2(64), least, conditions);
    expect_bits<double, 2>(Opcode::v_max_f64, inputs2(64), most, conditions);
    const auto least3 = [&](auto a, auto b, auto c) { return least(least(a, b), c); };
    const auto most3 = [&](auto a, auto b, auto c) { return most(most(a, b), c); };
    expect_bits<float, 3>(Opcode::v_min3_f32, inputs3(32), least3, conditions);
    expect_bits<float, 3>(Opcode::v_max3_f32, inputs3(32), most3, conditions);
    expect_bits<float, 3>(
        Opcode::v_med3_f32, inputs3(32),
        [&](float a, float b, float c) {
          if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return least3(a, b, c);
          if (most3(a, b, c) == a) return most(b, c);
          if (most3(a, b, c) == b) return most(a, c);
          return most(a, b);
        },
        conditions);
  }
}

TEST(FloatArithmetic, PackedSinglesAreTwoIndependentOperations) {
  const auto lists = inputs3(32);
  const size_t count = lists[0].size();
  // Values and their list reversed make the pairs.
  std::vector<Values> packed(3), reversed(3);
  for (size_t i = 0; i < 3; ++i) {
    reversed[i] = Values(lists[i].rbegin(), lists[i].rend());
    for (size_t k = 0; k < count; ++k) packed[i].push_back(lists[i][k] | reversed[i][k] << 32);
  }
  const auto expect_packed = [&](Opcode whole, Opcode part, size_t sources) {
    const auto first = [&](const std::vector<Values>& all) {
      return std::vector<Values>(all.begin(), all.begin() + static_cast<ptrdiff_t>(sources));
    };
    const Values both = evaluate(whole, first(packed)).dst;
    const Values low = evaluate(part, first(lists)).dst, high = evaluate(part, first(reversed)).dst;
    for (size_t k = 0; k < count; ++k) ASSERT_EQ(both[k], low[k] | high[k] << 32) << k;
  };
  expect_packed(Opcode::v_pk_add_f32, Opcode::v_add_f32, 2);
  expect_packed(Opcode::v_pk_mul_f32, Opcode::v_mul_f32, 2);
  expect_packed(Opcode::v_pk_fma_f32, Opcode::v_fma_f32, 3);
}

TEST(FloatArithmetic, InactiveLanesKeepWhatTheyHeld) {
  struct alignas(64) Rows {
    Row rows[2];
  };
  for (const bool plain : {true, false}) {
    Rows a{}, b{}, d{};
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      a.rows[0][lane] = word(static_cast<float>(lane));
      b.rows[0][lane] = word(0.5f);
      d.rows[0][lane] = 0xDEADBEEF;
    }
    VectorCall call{};
    call.exec = 0x8000'0000'FFFF'0005;
    call.dst[0] = d.rows;
    call.src[0] = a.rows;
    call.src[1] = b.rows;
    if (!plain) call.mode.denormals32 = Denormals::flush_in_out;
    vector_function(Opcode::v_add_f32).call(call);
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const bool active = call.exec >> lane & 1;
      EXPECT_EQ(d.rows[0][lane], active ? word(static_cast<float>(lane) + 0.5f) : 0xDEADBEEF) << lane;
      EXPECT_EQ(a.rows[0][lane], word(static_cast<float>(lane))) << "sources stay as they are";
    }
  }
}

TEST(FloatArithmetic, TheDestinationMayBeASource) {
  struct alignas(64) Rows {
    Row rows[2];
  };
  for (const bool plain : {true, false}) {
    Rows a{};
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const uint64_t value = word(lane + 0.25);
      a.rows[0][lane] = static_cast<uint32_t>(value);
      a.rows[1][lane] = static_cast<uint32_t>(value >> 32);
    }
    VectorCall call{};
    call.exec = ~uint64_t{0};
    call.dst[0] = a.rows;
    call.src[0] = call.src[1] = a.rows;
    if (!plain) call.mode.round16_64 = Round::toward_zero;
    vector_function(Opcode::v_mul_f64).call(call);
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const double value = as_double(a.rows[0][lane] | uint64_t{a.rows[1][lane]} << 32);
      EXPECT_EQ(value, (lane + 0.25) * (lane + 0.25));
    }
  }
}

}  // namespace
}  // namespace Atoll::semantics::test

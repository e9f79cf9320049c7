// Interpolation of pixel attributes against the host's fma; and what the Radeons' multiplications after DirectX 9's
// rules yield.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

constexpr unsigned lanes = 64;

/// The lanes' values in the source that the quads share.
Values of_lanes(unsigned width, uint64_t seed) {
  Values values = random_bits(width, lanes, seed);
  for (uint64_t& value : values) {  // no NaNs and infinities
    if (width == 16 && (value & 0x7C00) == 0x7C00) value ^= 0x4000;
    if (width == 32 && (value & 0x7F800000) == 0x7F800000) value ^= 0x40000000;
  }
  return values;
}

float half(uint64_t bits) { return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits))); }

/// a * b + c in a rounding direction.
float rounded_fma(float a, float b, float c, int direction) {
  std::fesetround(direction);
  volatile float x = a, y = b, z = c;
  const float result = std::fma(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST(Interpolation, ReadsTheLanesOfItsQuad) {
  Conditions conditions;
  conditions.generation = target::Generation::gfx11;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Values a = of_lanes(32, seed), j = of_lanes(32, seed + 100), c = of_lanes(32, seed + 200);
    const Evaluation first = evaluate(Opcode::v_interp_p10_f32_inreg, {a, j, c}, conditions);
    const Evaluation second = evaluate(Opcode::v_interp_p2_f32_inreg, {a, j, c}, conditions);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned quad = lane / 4 * 4;
      EXPECT_EQ(as_float(first.dst[lane]), std::fma(as_float(a[quad + 1]), as_float(j[lane]), as_float(c[quad])));
      EXPECT_EQ(as_float(second.dst[lane]), std::fma(as_float(a[quad + 2]), as_float(j[lane]), as_float(c[lane])));
    }
  }
}

TEST(Interpolation, OfHalvesRoundsTowardZeroWhereItsNameSaysSo) {
  Conditions conditions;
  conditions.generation = target::Generation::gfx11;
  conditions.old.assign(lanes, 0xABCD0000);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Values a = of_lanes(16, seed), j = of_lanes(32, seed + 1000), c = of_lanes(16, seed + 2000),
                 d = of_lanes(32, seed + 3000);
    const Evaluation first = evaluate(Opcode::v_interp_p10_f16_f32_inreg, {a, j, c}, conditions);
    const Evaluation second = evaluate(Opcode::v_interp_p2_f16_f32_inreg, {a, j, d}, conditions);
    const Evaluation first_cut = evaluate(Opcode::v_interp_p10_rtz_f16_f32_inreg, {a, j, c}, conditions);
    const Evaluation second_cut = evaluate(Opcode::v_interp_p2_rtz_f16_f32_inreg, {a, j, d}, conditions);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned quad = lane / 4 * 4;
      const float x = half(a[quad + 1]), y = half(a[quad + 2]), z = half(c[quad]);
      EXPECT_EQ(first.dst[lane], word(std::fma(x, as_float(j[lane]), z)));
      EXPECT_EQ(first_cut.dst[lane], word(rounded_fma(x, as_float(j[lane]), z, FE_TOWARDZERO)));
      const auto near = static_cast<_Float16>(std::fma(y, as_float(j[lane]), as_float(d[lane])));
      EXPECT_EQ(second.dst[lane], 0xABCD0000 | std::bit_cast<uint16_t>(near));
      // The nearest half, or the one before it where that is too large.
      const float exact = rounded_fma(y, as_float(j[lane]), as_float(d[lane]), FE_TOWARDZERO);
      auto cut = static_cast<_Float16>(exact);
      uint16_t bits = std::bit_cast<uint16_t>(cut);
      if (std::fabs(static_cast<float>(cut)) > std::fabs(exact)) --bits;
      EXPECT_EQ(second_cut.dst[lane], 0xABCD0000 | bits);
    }
  }
}

TEST(LegacyMultiplication, ZeroTimesAnythingIsZero) {
  auto lists = triples(edges32());
  append_random(lists, 32, 5000, 5);
  const auto legacy_fma = [](float a, float b, float c) { return a == 0 || b == 0 ? c : std::fma(a, b, c); };
  expect_bits<float, 3>(Opcode::v_fma_legacy_f32, lists, [&](float a, float b, float c) {
    const float result = legacy_fma(a, b, c);
    if (!std::isnan(result) || a == 0 || b == 0) return result;
    return std::isnan(a) ? quieted(a) : std::isnan(b) ? quieted(b) : std::isnan(c) ? quieted(c) : NAN;
  });
  const Evaluation expected = evaluate(Opcode::v_fma_legacy_f32, lists);
  const Evaluation accumulated = evaluate(Opcode::v_fmac_legacy_f32, {lists[0], lists[1]}, {.old = lists[2]});
  EXPECT_EQ(accumulated.dst, expected.dst);
  EXPECT_EQ(evaluate(Opcode::v_mac_legacy_f32, {lists[0], lists[1]}, {.old = lists[2]}).dst,
            evaluate(Opcode::v_mad_legacy_f32, lists).dst);
}

}  // namespace
}  // namespace Atoll::semantics::test

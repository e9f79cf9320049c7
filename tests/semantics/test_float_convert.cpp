// Conversions against the host's scalar ones, with saturation written out.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

Values singles() {
  Values values = edges32();
  const Values more = random_bits(32, 60000, 6);
  values.insert(values.end(), more.begin(), more.end());
  for (int i = -70000; i < 70000; i += 7) values.push_back(word(static_cast<float>(i) * 0.25f));
  return values;
}
Values doubles() {
  Values values = edges64();
  const Values more = random_bits(64, 60000, 7);
  values.insert(values.end(), more.begin(), more.end());
  for (int i = -100; i < 100; ++i) {
    values.push_back(word(i * 0.25));
    values.push_back(word(2147483648.0 + i * 0.25));
    values.push_back(word(-2147483648.0 + i * 0.25));
    values.push_back(word(4294967296.0 + i * 0.25));
  }
  return values;
}
Values every_half() {
  Values values;
  for (uint32_t value = 0; value < 65536; ++value) values.push_back(value);
  return values;
}
Values integers() {
  Values values = {0,          1,          0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                   0x01000001, 0x01000003, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFF81};
  const Values more = random_bits(32, 20000, 8);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

/// `value` as an integer between low and high; NaN is 0.
uint64_t clamped(double value, double low, double high) {
  if (std::isnan(value)) return 0;
  return static_cast<uint64_t>(static_cast<int64_t>(std::min(std::max(value, low), high)));
}

template <typename Reference>
void expect_each(Opcode opcode, const Values& values, Reference reference, const Conditions& conditions = {}) {
  const Evaluation result = evaluate(opcode, {values}, conditions);
  ASSERT_EQ(result.dst.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(result.dst[i], reference(values[i]))
        << "opcode " << static_cast<unsigned>(opcode) << " of 0x" << std::hex << values[i];
  }
}

TEST(FloatConvert, ToIntegersTruncatesAndSaturates) {
  const auto i32 = [](double value) { return clamped(std::trunc(value), -2147483648.0, 2147483647.0) & 0xFFFFFFFF; };
  const auto u32 = [](double value) { return clamped(std::trunc(value), 0, 4294967295.0); };
  expect_each(Opcode::v_cvt_i32_f32, singles(), [&](uint64_t value) { return i32(as_float(value)); });
  expect_each(Opcode::v_cvt_u32_f32, singles(), [&](uint64_t value) { return u32(as_float(value)); });
  expect_each(Opcode::v_cvt_i32_f64, doubles(), [&](uint64_t value) { return i32(as_double(value)); });
  expect_each(Opcode::v_cvt_u32_f64, doubles(), [&](uint64_t value) { return u32(as_double(value)); });
  expect_each(Opcode::v_cvt_flr_i32_f32, singles(), [&](uint64_t value) { return i32(std::floor(as_float(value))); });
  expect_each(Opcode::v_cvt_rpi_i32_f32, singles(),
              [&](uint64_t value) { return i32(std::floor(double{as_float(value)} + 0.5)); });
}

TEST(FloatConvert, HalvesToIntegersSaturateAtSixteenBits) {
  const auto half = [](uint64_t value) { return double{std::bit_cast<_Float16>(static_cast<uint16_t>(value))}; };
  expect_each(Opcode::v_cvt_u16_f16, every_half(),
              [&](uint64_t value) { return clamped(std::trunc(half(value)), 0, 65535); });
  expect_each(Opcode::v_cvt_i16_f16, every_half(),
              [&](uint64_t value) { return clamped(std::trunc(half(value)), -32768, 32767) & 0xFFFF; });
  expect_each(Opcode::v_cvt_norm_i16_f16, every_half(),
              [&](uint64_t value) { return clamped(std::nearbyint(half(value) * 32767), -32767, 32767) & 0xFFFF; });
  expect_each(Opcode::v_cvt_norm_u16_f16, every_half(),
              [&](uint64_t value) { return clamped(std::nearbyint(half(value) * 65535), 0, 65535); });
}

TEST(FloatConvert, FromIntegersRoundsInTheWavesMode) {
  expect_each(Opcode::v_cvt_f32_i32, integers(),
              [](uint64_t value) { return word(static_cast<float>(static_cast<int32_t>(value))); });
  expect_each(Opcode::v_cvt_f64_i32, integers(),
              [](uint64_t value) { return word(static_cast<double>(static_cast<int32_t>(value))); });
  expect_each(Opcode::v_cvt_f64_u32, integers(),
              [](uint64_t value) { return word(static_cast<double>(static_cast<uint32_t>(value))); });
  const int host[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (unsigned round = 0; round < 4; ++round) {
    Conditions conditions;
    conditions.mode.round32 = static_cast<Round>(round);
    expect_each(
        Opcode::v_cvt_f32_u32, integers(),
        [&](uint64_t value) {
          std::fesetround(host[round]);
          const float result = static_cast<float>(static_cast<int64_t>(value));
          std::fesetround(FE_TONEAREST);
          return word(result);
        },
        conditions);
    conditions.mode.round16_64 = static_cast<Round>(round);
    expect_each(
        Opcode::v_cvt_f64_u32, integers(), [](uint64_t value) { return word(static_cast<double>(value)); }, conditions);
  }
}

TEST(FloatConvert, BytesAndOffsets) {
  for (unsigned byte = 0; byte < 4; ++byte) {
    const Opcode opcodes[] = {Opcode::v_cvt_f32_ubyte0, Opcode::v_cvt_f32_ubyte1, Opcode::v_cvt_f32_ubyte2,
                              Opcode::v_cvt_f32_ubyte3};
    expect_each(opcodes[byte], integers(),
                [&](uint64_t value) { return word(static_cast<float>(value >> byte * 8 & 0xFF)); });
  }
  const float offsets[] = {0,     0.0625f,  0.125f,  0.1875f,  0.25f,  0.3125f,  0.375f,  0.4375f,
                           -0.5f, -0.4375f, -0.375f, -0.3125f, -0.25f, -0.1875f, -0.125f, -0.0625f};
  expect_each(Opcode::v_cvt_off_f32_i4, integers(), [&](uint64_t value) { return word(offsets[value & 15]); });
}

TEST(FloatConvert, BetweenWidthsAsTheHostDoes) {
  expect_each(Opcode::v_cvt_f64_f32, singles(),
              [](uint64_t value) { return word(static_cast<double>(as_float(value))); });
  expect_each(Opcode::v_cvt_f32_f64, doubles(),
              [](uint64_t value) { return word(static_cast<float>(as_double(value))); });
  expect_each(Opcode::v_cvt_f32_f16, every_half(), [](uint64_t value) {
    const float exact = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(value)));
    return word(std::isnan(exact) ? quieted(exact) : exact);
  });
}

/// A half to nearest even of `value` by search: the reference for rounding, independent of any conversion.
uint64_t nearest_half(double value, Round round) {
  const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  const auto at = [](uint32_t half) {
    const int exponent = static_cast<int>(half >> 10);
    const double fraction = half & 0x3FF;
    return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  };
  uint32_t low = 0, high = 0x7C00;  // largest half not above `size`; 0x7C00 stands for 2^16
  if (std::isinf(value)) return sign | 0x7C00;
  while (low + 1 < high) {
    const uint32_t middle = (low + high) / 2;
    (at(middle) <= size ? low : high) = middle;
  }
  if (at(low) == size) return sign | low;
  bool up = false;
  const double below = size - at(low), above = at(low + 1) - size;
  switch (round) {
    case Round::nearest_even:
      up = above < below || (above == below && (low & 1));
      break;
    case Round::plus_infinity:
      up = sign == 0;
      break;
    case Round::minus_infinity:
      up = sign != 0;
      break;
    case Round::toward_zero:
      break;
  }
  return sign | (low + up);
}

Values around_halves() {
  Values values = singles();
  const Values more = random_bits(32, 40000, 9);
  for (const uint64_t value : more) {  // exponents from 2^-27 to 2^17
    values.push_back((value & 0x807FFFFF) | (100 + (value >> 23 & 0xFF) % 45) << 23);
    values.push_back((value & 0x807FF000) | (100 + (value >> 23 & 0xFF) % 45) << 23);  // ties
  }
  return values;
}

TEST(FloatConvert, SinglesToHalvesRoundInEveryMode) {
  for (unsigned round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    Conditions conditions;
    conditions.mode.round16_64 = static_cast<Round>(round);
    conditions.mode.round32 = static_cast<Round>((round + 1) % 4);
    expect_each(
        Opcode::v_cvt_f16_f32, around_halves(),
        [&](uint64_t value) {
          const float number = as_float(value);
          if (std::isnan(number)) return (value >> 16 & 0x8000) | 0x7E00 | (value >> 13 & 0x3FF);
          return nearest_half(number, static_cast<Round>(round));
        },
        conditions);
  }
}

TEST(FloatConvert, PackedHalvesAreCutOffInAnyMode) {
  const Values values = around_halves();
  const Values other(values.rbegin(), values.rend());
  for (unsigned round = 0; round < 4; ++round) {
    Conditions conditions;
    conditions.mode.round16_64 = conditions.mode.round32 = static_cast<Round>(round);
    const Evaluation result = evaluate(Opcode::v_cvt_pkrtz_f16_f32, {values, other}, conditions);
    const auto expected = [](uint64_t value) {
      const float number = as_float(value);
      if (std::isnan(number)) return (value >> 16 & 0x8000) | 0x7E00 | (value >> 13 & 0x3FF);
      return nearest_half(number, Round::toward_zero);
    };
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(result.dst[i], expected(values[i]) | expected(other[i]) << 16) << std::hex << values[i];
    }
  }
}

TEST(FloatConvert, PackedNormalisedIntegers) {
  const Values values = around_halves();
  const Values other(values.rbegin(), values.rend());
  const auto snorm = [](double value) { return clamped(std::nearbyint(value * 32767), -32767, 32767) & 0xFFFF; };
  const auto unorm = [](double value) { return clamped(std::nearbyint(value * 65535), 0, 65535); };
  const Evaluation is = evaluate(Opcode::v_cvt_pknorm_i16_f32, {values, other});
  const Evaluation us = evaluate(Opcode::v_cvt_pknorm_u16_f32, {values, other});
  for (size_t i = 0; i < values.size(); ++i) {
    const double a = as_float(values[i]), b = as_float(other[i]);
    ASSERT_EQ(is.dst[i], snorm(a) | snorm(b) << 16) << a << " " << b;
    ASSERT_EQ(us.dst[i], unorm(a) | unorm(b) << 16) << a << " " << b;
  }
}

TEST(FloatConvert, BytesAreInsertedAtTheirPosition) {
  const auto insert = [](float number, uint32_t position, uint32_t rest) {
    return evaluate_one(Opcode::v_cvt_pk_u8_f32, {word(number), position, rest});
  };
  EXPECT_EQ(insert(300.0f, 0, 0x11223344), 0x112233FFu);
  EXPECT_EQ(insert(-1.0f, 1, 0x11223344), 0x11220044u);
  EXPECT_EQ(insert(2.5f, 2, 0x11223344), 0x11023344u);
  EXPECT_EQ(insert(3.5f, 7, 0x11223344), 0x04223344u);
  EXPECT_EQ(insert(NAN, 3, 0x11223344), 0x00223344u);
  EXPECT_EQ(evaluate_one(Opcode::v_cvt_pkaccum_u8_f32, {word(18.0f), 1}, {.old = {0x11223344}}), 0x11221244u);
}

}  // namespace
}  // namespace Atoll::semantics::test

// 8-bit floats of both kinds against their definition: every code decoded by ldexp, every number encoded by searching
// for the nearest code.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

struct Eight {
  int fraction_bits, bias;
  unsigned largest;  ///< code of the largest number
  Fp8Format kind;
  Opcode decode, decode_pair, encode_pair, stochastic;
};
constexpr Eight formats[] = {
    {3, 8, 0x7F, Fp8Format::fnuz, Opcode::v_cvt_f32_fp8, Opcode::v_cvt_pk_f32_fp8, Opcode::v_cvt_pk_fp8_f32,
     Opcode::v_cvt_sr_fp8_f32},
    {2, 16, 0x7F, Fp8Format::fnuz, Opcode::v_cvt_f32_bf8, Opcode::v_cvt_pk_f32_bf8, Opcode::v_cvt_pk_bf8_f32,
     Opcode::v_cvt_sr_bf8_f32},
    {3, 7, 0x7E, Fp8Format::ocp, Opcode::v_cvt_f32_fp8, Opcode::v_cvt_pk_f32_fp8, Opcode::v_cvt_pk_fp8_f32,
     Opcode::v_cvt_sr_fp8_f32},
    {2, 15, 0x7B, Fp8Format::ocp, Opcode::v_cvt_f32_bf8, Opcode::v_cvt_pk_f32_bf8, Opcode::v_cvt_pk_bf8_f32,
     Opcode::v_cvt_sr_bf8_f32},
};

bool has_infinity(const Eight& format) { return format.kind == Fp8Format::ocp && format.fraction_bits == 2; }

double value_of(const Eight& format, unsigned code) {
  const unsigned size = code & 0x7F;
  if (format.kind == Fp8Format::fnuz && code == 0x80) return NAN;
  const double sign = code & 0x80 ? -1 : 1;
  if (size > format.largest) return has_infinity(format) && size == 0x7C ? sign * INFINITY : NAN;
  const int exponent = static_cast<int>(size >> format.fraction_bits);
  const int fraction = static_cast<int>(size & ((1u << format.fraction_bits) - 1));
  const int leading = exponent == 0 ? 0 : 1 << format.fraction_bits;
  return sign * std::ldexp(leading + fraction, std::max(exponent, 1) - format.bias - format.fraction_bits);
}

Conditions of_kind(const Eight& format) {
  Conditions conditions;
  conditions.mode.eight_bit = format.kind;
  return conditions;
}

TEST(FloatEight, EveryCodeIsDecoded) {
  for (const Eight& format : formats) {
    SCOPED_TRACE(format.bias);
    for (unsigned code = 0; code < 256; ++code) {
      const unsigned other = code ^ 0x55;
      const uint64_t single = evaluate_one(format.decode, {code | 0xABCDEF00}, of_kind(format));
      const uint64_t pair = evaluate_one(format.decode_pair, {0xFFFF0000 | other << 8 | code}, of_kind(format));
      const auto expect = [&](uint64_t got, unsigned of) {
        const double expected = value_of(format, of);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(as_float(got))) << of;
        } else {
          EXPECT_EQ(static_cast<uint32_t>(got), word(static_cast<float>(expected))) << of;
        }
      };
      expect(single, code);
      expect(pair, code);
      expect(pair >> 32, other);
    }
  }
}

TEST(FloatEight, SinglesBecomeTheNearestCode) {
  for (const Eight& format : formats) {
    SCOPED_TRACE(format.bias);
    Values values = edges32();
    for (unsigned code = 0; code < format.largest; ++code) {  // ties, and beside them
      const auto tie = static_cast<float>((value_of(format, code) + value_of(format, code + 1)) / 2);
      for (const float value : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e9f)}) {
        values.push_back(word(value));
        values.push_back(word(-value));
      }
    }
    const double largest = value_of(format, format.largest);
    // The tie between the largest number and the one that would follow it.
    const auto past = static_cast<float>(largest + (largest - value_of(format, format.largest - 1)) / 2);
    for (const float value :
         {static_cast<float>(largest), past, std::nextafter(past, 0.0f), std::nextafter(past, 1e9f)}) {
      values.push_back(word(value));
    }
    for (const uint64_t value : random_bits(32, 4000, 50)) values.push_back(value);

    const auto nearest = [&](uint64_t operand) -> uint64_t {
      const double value = as_float(operand), size = std::fabs(value);
      const bool fnuz = format.kind == Fp8Format::fnuz;
      const uint64_t sign = operand >> 24 & 0x80;
      if (std::isnan(value)) return fnuz ? 0x80 : sign | (has_infinity(format) ? 0x7E : 0x7F);
      const bool fits = size < past || (size == past && format.largest % 2 == 0);
      if (!fits) return fnuz ? 0x80 : sign | (has_infinity(format) ? 0x7C : 0x7F);
      unsigned best = 0;
      for (unsigned code = 0; code <= format.largest; ++code) {
        const double distance = std::fabs(value_of(format, code) - size);
        const double least = std::fabs(value_of(format, best) - size);
        if (distance < least || (distance == least && code % 2 == 0)) best = code;
      }
      return fnuz && best == 0 ? 0 : best | sign;
    };
    const Values other(values.rbegin(), values.rend());
    Conditions conditions = of_kind(format);
    conditions.old = Values(values.size(), 0x12345678);
    const Evaluation result = evaluate(format.encode_pair, {values, other}, conditions);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(result.dst[i], 0x12340000 | nearest(other[i]) << 8 | nearest(values[i]))
          << as_float(values[i]) << " " << as_float(other[i]);
    }
  }
}

TEST(FloatEight, StochasticRoundingGoesUpAsOftenAsItIsNear) {
  for (const Eight& format : formats) {
    const double low = value_of(format, 0x41), high = value_of(format, 0x42);
    for (const double share : {0.0, 0.25, 0.5, 0.875}) {
      const auto value = static_cast<float>(low + (high - low) * share);
      const unsigned count = 4096;
      unsigned up = 0;
      for (unsigned i = 0; i < count; ++i) {
        const uint64_t noise = i * (uint64_t{1} << 32) / count;
        Conditions conditions = of_kind(format);
        conditions.old = {0xAAAAAA00};
        const uint64_t code = evaluate_one(format.stochastic, {word(value), noise}, conditions);
        ASSERT_EQ(code & 0xFFFFFF00, 0xAAAAAA00u);
        ASSERT_TRUE((code & 0xFF) == 0x41 || (code & 0xFF) == 0x42);
        up += (code & 0xFF) == 0x42;
      }
      EXPECT_NEAR(up / double{count}, share, 0.001);
    }
  }
}

}  // namespace
}  // namespace Atoll::semantics::test

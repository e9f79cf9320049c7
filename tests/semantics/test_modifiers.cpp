// Operand and result modifiers against scalar arithmetic on the fields they name.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/modifiers.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::DataType;
using isa::Operand;
using isa::SdwaSelect;
using isa::SdwaUnused;

struct alignas(64) Rows {
  Row rows[2];
};

/// Rows whose lanes hold different random words.
Rows sample() {
  Rows rows;
  const Values values = random_bits(64, wave_lanes, 11);
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    rows.rows[0][lane] = static_cast<uint32_t>(values[lane]);
    rows.rows[1][lane] = static_cast<uint32_t>(values[lane] >> 32);
  }
  return rows;
}

Rows modified(const Rows& in, const Operand& operand) {
  Rows out{};
  apply_source_modifiers(out.rows, in.rows, operand);
  return out;
}

TEST(SourceModifiers, NegationAndAbsoluteValueChangeTheSignOfTheOperandsType) {
  const Rows in = sample();
  for (const bool neg : {false, true}) {
    for (const bool abs : {false, true}) {
      Operand operand{.type = DataType::f32, .neg = neg, .abs = abs};
      const Rows single = modified(in, operand);
      operand.type = DataType::f64;
      const Rows twice = modified(in, operand);
      operand.type = DataType::f16;
      const Rows half = modified(in, operand);
      EXPECT_EQ(has_source_modifiers(operand), neg || abs);
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        const uint32_t low = in.rows[0][lane], high = in.rows[1][lane];
        const auto sign = [&](bool negative) { return (negative && !abs) != neg; };
        EXPECT_EQ(single.rows[0][lane], (low & 0x7FFFFFFF) | uint32_t{sign(low >> 31)} << 31);
        EXPECT_EQ(twice.rows[0][lane], low);
        EXPECT_EQ(twice.rows[1][lane], (high & 0x7FFFFFFF) | uint32_t{sign(high >> 31)} << 31);
        EXPECT_EQ(half.rows[0][lane] & 0xFFFF, (low & 0x7FFF) | uint32_t{sign(low >> 15 & 1)} << 15);
      }
    }
  }
}

TEST(SourceModifiers, OpSelTakesTheUpperHalf) {
  const Rows in = sample();
  const Rows out = modified(in, {.type = DataType::f16, .neg = true, .op_sel = true});
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    EXPECT_EQ(out.rows[0][lane] & 0xFFFF, (in.rows[0][lane] >> 16) ^ 0x8000);
  }
}

TEST(SourceModifiers, PackedHalvesAreSelectedAndNegatedOneByOne) {
  const Rows in = sample();
  for (unsigned bits = 0; bits < 16; ++bits) {
    const bool low_select = bits & 1, high_select = bits & 2, low_neg = bits & 4, high_neg = bits & 8;
    const Operand operand{
        .type = DataType::v2f16, .neg = low_neg, .neg_hi = high_neg, .op_sel = low_select, .op_sel_hi = high_select};
    const Rows out = modified(in, operand);
    EXPECT_EQ(has_source_modifiers(operand), bits != 2) << "only op_sel:0 op_sel_hi:1 is the register as it is";
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const uint32_t word = in.rows[0][lane], halves[2] = {word & 0xFFFF, word >> 16};
      EXPECT_EQ(out.rows[0][lane],
                (halves[low_select] ^ (low_neg ? 0x8000 : 0)) | (halves[high_select] ^ (high_neg ? 0x8000 : 0)) << 16);
    }
  }
}

TEST(SourceModifiers, PackedSinglesAreSelectedFromTheRegisterPair) {
  const Rows in = sample();
  for (unsigned bits = 0; bits < 16; ++bits) {
    const bool low_select = bits & 1, high_select = bits & 2, low_neg = bits & 4, high_neg = bits & 8;
    const Rows out = modified(
        in,
        {.type = DataType::v2f32, .neg = low_neg, .neg_hi = high_neg, .op_sel = low_select, .op_sel_hi = high_select});
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      EXPECT_EQ(out.rows[0][lane], in.rows[low_select][lane] ^ (low_neg ? 0x80000000 : 0));
      EXPECT_EQ(out.rows[1][lane], in.rows[high_select][lane] ^ (high_neg ? 0x80000000 : 0));
    }
  }
}

TEST(SourceModifiers, SdwaSelectsAndExtendsBytesAndWords) {
  const Rows in = sample();
  const auto expect = [&](SdwaSelect select, auto zero_extended, auto sign_extended) {
    const Rows zero = modified(in, {.type = DataType::b32, .sdwa = select});
    const Rows sign = modified(in, {.type = DataType::b32, .sext = true, .sdwa = select});
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      EXPECT_EQ(zero.rows[0][lane], zero_extended(in.rows[0][lane]));
      EXPECT_EQ(static_cast<int32_t>(sign.rows[0][lane]), sign_extended(in.rows[0][lane]));
    }
  };
  const SdwaSelect bytes[] = {SdwaSelect::byte_0, SdwaSelect::byte_1, SdwaSelect::byte_2, SdwaSelect::byte_3};
  for (unsigned i = 0; i < 4; ++i) {
    expect(
        bytes[i], [&](uint32_t word) { return uint32_t{static_cast<uint8_t>(word >> i * 8)}; },
        [&](uint32_t word) { return int32_t{static_cast<int8_t>(word >> i * 8)}; });
  }
  const SdwaSelect words[] = {SdwaSelect::word_0, SdwaSelect::word_1};
  for (unsigned i = 0; i < 2; ++i) {
    expect(
        words[i], [&](uint32_t word) { return uint32_t{static_cast<uint16_t>(word >> i * 16)}; },
        [&](uint32_t word) { return int32_t{static_cast<int16_t>(word >> i * 16)}; });
  }
}

TEST(SourceModifiers, SdwaHalvesAreNegatedAfterTheSelect) {
  const Rows in = sample();
  const Rows out = modified(in, {.type = DataType::f16, .neg = true, .abs = true, .sdwa = SdwaSelect::word_1});
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    EXPECT_EQ(out.rows[0][lane] & 0xFFFF, in.rows[0][lane] >> 16 | 0x8000);
  }
}

TEST(SourceModifiers, MixedSourcesAreHalvesOrSinglesByOpSelHi) {
  const Rows in = sample();
  for (unsigned bits = 0; bits < 16; ++bits) {
    const Operand operand{.type = DataType::f32,
                          .neg = (bits & 1) != 0,
                          .abs = (bits & 2) != 0,
                          .op_sel = (bits & 4) != 0,
                          .op_sel_hi = (bits & 8) != 0};
    Rows out{};
    apply_mixed_source(out.rows[0], in.rows[0], operand, Denormals::allow_in_out);
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const uint32_t word_in = in.rows[0][lane];
      float value = as_float(word_in);
      if (operand.op_sel_hi) {
        const auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(operand.op_sel ? word_in >> 16 : word_in));
        value = static_cast<float>(half);
        if (std::isnan(value)) value = quieted(value);
      }
      if (operand.abs) value = std::fabs(value);
      if (operand.neg) value = -value;
      EXPECT_EQ(out.rows[0][lane], word(value));
    }
  }
}

/// MODE for single precision decides about denormal halves (measured: llvm/llvm-project#205101).
TEST(SourceModifiers, MixedHalvesAreFlushedAsSinglesAre) {
  const Operand half{.type = DataType::f16, .op_sel_hi = true}, single{.type = DataType::f32};
  Rows in{}, out{};
  std::ranges::fill(in.rows[0], 0x80008001u);
  for (const Denormals denormals : {Denormals::allow_in_out, Denormals::allow_in, Denormals::allow_out}) {
    const bool flushes = denormals == Denormals::allow_out;
    apply_mixed_source(out.rows[0], in.rows[0], half, denormals);
    EXPECT_EQ(out.rows[0][5], word(flushes ? -0.0f : -0x1p-24f));
    apply_mixed_source(out.rows[0], in.rows[0], single, denormals);
    EXPECT_EQ(out.rows[0][5], 0x80008001u) << "singles are flushed by the operation";
  }
}

/// A row holding the same word in every lane.
Rows filled(uint64_t value) {
  Rows rows;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    rows.rows[0][lane] = static_cast<uint32_t>(value);
    rows.rows[1][lane] = static_cast<uint32_t>(value >> 32);
  }
  return rows;
}

float result32(float value, uint8_t omod, bool clamp, const FloatMode& mode) {
  Rows rows = filled(word(value));
  apply_result_modifiers(rows.rows, DataType::f32, omod, clamp, mode);
  EXPECT_EQ(rows.rows[0][0], rows.rows[0][63]);
  return as_float(rows.rows[0][0]);
}

TEST(ResultModifiers, ClampLimitsToZeroAndOne) {
  const FloatMode mode;
  EXPECT_EQ(word(result32(-3.0f, 0, true, mode)), 0u);
  EXPECT_EQ(word(result32(-0.0f, 0, true, mode)), 0u);
  EXPECT_EQ(result32(0.25f, 0, true, mode), 0.25f);
  EXPECT_EQ(result32(1.5f, 0, true, mode), 1.0f);
  EXPECT_EQ(result32(INFINITY, 0, true, mode), 1.0f);
  EXPECT_EQ(word(result32(NAN, 0, true, mode)), 0u);
  EXPECT_TRUE(std::isnan(result32(NAN, 0, true, {.dx10_clamp = false})));
  EXPECT_EQ(result32(7.0f, 0, false, mode), 7.0f);
}

TEST(ResultModifiers, ClampKnowsEveryFloatingType) {
  Rows twice = filled(word(1.5));
  apply_result_modifiers(twice.rows, DataType::f64, 0, true, {});
  EXPECT_EQ(as_double(twice.rows[0][5] | uint64_t{twice.rows[1][5]} << 32), 1.0);
  Rows half = filled(0xABCD4000);  // 2
  apply_result_modifiers(half.rows, DataType::f16, 0, true, {});
  EXPECT_EQ(half.rows[0][5], 0xABCD3C00u) << "the other half stays";
  Rows halves = filled(0x3800C000);  // 0.5, -2
  apply_result_modifiers(halves.rows, DataType::v2f16, 0, true, {});
  EXPECT_EQ(halves.rows[0][5], 0x38000000u);
  Rows brains = filled(0x3F00C000);  // 0.5, -2
  apply_result_modifiers(brains.rows, DataType::v2bf16, 0, true, {});
  EXPECT_EQ(brains.rows[0][5], 0x3F000000u);
  Rows singles = filled(word(0.5f) | uint64_t{word(9.0f)} << 32);
  apply_result_modifiers(singles.rows, DataType::v2f32, 0, true, {});
  EXPECT_EQ(as_float(singles.rows[0][5]), 0.5f);
  EXPECT_EQ(as_float(singles.rows[1][5]), 1.0f);
  Rows integer = filled(77);
  apply_result_modifiers(integer.rows, DataType::u32, 0, true, {});
  EXPECT_EQ(integer.rows[0][5], 77u);
}

TEST(ResultModifiers, OutputMultiplierWorksOnlyWithoutIeeeModeAndDenormals) {
  const FloatMode works{.denormals32 = Denormals::flush_in_out, .ieee = false};
  EXPECT_EQ(result32(3.0f, 1, false, works), 6.0f);
  EXPECT_EQ(result32(3.0f, 2, false, works), 12.0f);
  EXPECT_EQ(result32(3.0f, 3, false, works), 1.5f);
  EXPECT_EQ(result32(0.4f, 2, true, works), 1.0f);
  EXPECT_EQ(word(result32(-0.0f, 1, false, works)), 0u);
  EXPECT_EQ(word(result32(0x1p-126f, 3, false, works)), 0u) << "a denormal product is flushed";
  EXPECT_EQ(result32(3.0f, 1, false, {.denormals32 = Denormals::flush_in_out, .ieee = true}), 3.0f);
  EXPECT_EQ(result32(3.0f, 1, false, {.ieee = false}), 3.0f);
  Rows half = filled(0x4200);  // 3
  apply_result_modifiers(half.rows, DataType::f16, 1, false,
                         {.denormals16_64 = Denormals::flush_in_out, .ieee = false});
  EXPECT_EQ(half.rows[0][9], 0x4600u);
}

TEST(ResultModifiers, HighHalvesAreWrittenInActiveLanesOnly) {
  const Rows result = sample();
  Rows dst = filled(0x11112222);
  const uint64_t exec = 0xFEDCBA9876543210;
  merge_high_half(dst.rows[0], result.rows[0], exec);
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    EXPECT_EQ(dst.rows[0][lane], exec >> lane & 1 ? (result.rows[0][lane] << 16 | 0x2222) : 0x11112222);
  }
}

TEST(ResultModifiers, SdwaWritesAPartAndFillsTheRest) {
  const uint64_t exec = 0x0F0F0F0F0F0F0F0F;
  const auto merged = [&](uint32_t result, SdwaSelect select, SdwaUnused unused) {
    Rows dst = filled(0x11223344);
    merge_sdwa(dst.rows[0], filled(result).rows[0], select, unused, exec);
    EXPECT_EQ(dst.rows[0][4], 0x11223344u) << "inactive";
    return dst.rows[0][0];
  };
  EXPECT_EQ(merged(0x555555AA, SdwaSelect::byte_0, SdwaUnused::pad), 0x000000AAu);
  EXPECT_EQ(merged(0x555555AA, SdwaSelect::byte_1, SdwaUnused::pad), 0x0000AA00u);
  EXPECT_EQ(merged(0x555555AA, SdwaSelect::byte_2, SdwaUnused::preserve), 0x11AA3344u);
  EXPECT_EQ(merged(0x555555AA, SdwaSelect::byte_3, SdwaUnused::preserve), 0xAA223344u);
  EXPECT_EQ(merged(0x555555AA, SdwaSelect::byte_1, SdwaUnused::sext), 0xFFFFAA00u);
  EXPECT_EQ(merged(0x5555552A, SdwaSelect::byte_1, SdwaUnused::sext), 0x00002A00u);
  EXPECT_EQ(merged(0x55558001, SdwaSelect::word_0, SdwaUnused::sext), 0xFFFF8001u);
  EXPECT_EQ(merged(0x55558001, SdwaSelect::word_1, SdwaUnused::preserve), 0x80013344u);
  EXPECT_EQ(merged(0x55558001, SdwaSelect::dword, SdwaUnused::preserve), 0x55558001u);
}

}  // namespace
}  // namespace Atoll::semantics::test

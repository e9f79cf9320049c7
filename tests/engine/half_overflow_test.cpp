// MODE.FP16_OVFL: a half that overflows becomes the largest number instead of infinity, but stays infinite where a
// source is or where there is a division by zero (AMDGPU backend user guide, compute_pgm_rsrc1, FP16_OVFL). The
// expected values are what the exact results are to that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/wave_runner.h"

namespace Atoll::test {

namespace {

using machine::WaveState;

constexpr const char* set_mode = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n";

constexpr uint16_t infinity = 0x7C00, largest = 0x7BFF, minus = 0x8000, nan = 0x7E00;

struct Case {
  const char* source;  ///< from v1, v2, v3 to v4
  uint32_t a, b, c;
  uint32_t plain, clamped;  ///< the result without and with the mode; v4 holds 0xABCD0000 before
};

void check(const char* processor, const Case& c, const std::string& before = "") {
  for (const bool clamps : {false, true}) {
    WaveRunner runner(processor);
    for (unsigned i = 1; i < 5; ++i) std::ranges::fill(runner.v(i), i == 1 ? c.a : i == 2 ? c.b : i == 3 ? c.c : 0);
    std::ranges::fill(runner.v(4), 0xABCD0000);
    ASSERT_EQ(runner.run(before + (clamps ? set_mode : "") + c.source), WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      ASSERT_EQ(runner.v(4)[lane], clamps ? c.clamped : c.plain)
          << processor << ", " << c.source << fmt::format(", {:#x} {:#x} {:#x}", c.a, c.b, c.c);
    }
  }
}

uint32_t single(float value) { return std::bit_cast<uint32_t>(value); }

TEST(HalfOverflow, GivesTheLargestNumberUnlessASourceIsInfinite) {
  constexpr uint16_t max = largest, two = 0x4000, one = 0x3C00;
  const Case cases[] = {
      {"v_add_f16 v4, v1, v2", max, max, 0, infinity, largest},
      {"v_add_f16 v4, v1, v2", max | minus, max | minus, 0, infinity | minus, largest | minus},
      {"v_add_f16 v4, v1, v2", infinity, max, 0, infinity, infinity},
      {"v_add_f16 v4, v1, v2", one, infinity | minus, 0, infinity | minus, infinity | minus},
      {"v_add_f16 v4, v1, v2", infinity, infinity | minus, 0, nan, nan},
      {"v_add_f16 v4, v1, v2", max, one, 0, max, max},
      {"v_sub_f16 v4, v1, v2", max, max | minus, 0, infinity, largest},
      {"v_mul_f16 v4, v1, v2", max, two | minus, 0, infinity | minus, largest | minus},
      {"v_mul_f16 v4, v1, v2", infinity, two, 0, infinity, infinity},
      {"v_fma_f16 v4, v1, v2, v3", max, two, 0, 0xABCD0000 | infinity, 0xABCD0000 | largest},
      {"v_fma_f16 v4, v1, v2, v3", max, two, max | minus, 0xABCD0000 | max, 0xABCD0000 | max},
      {"v_fma_f16 v4, v1, v2, v3", one, two, infinity, 0xABCD0000 | infinity, 0xABCD0000 | infinity},
      {"v_mad_f16 v4, v1, v2, v3", max, one, max, 0xABCD0000 | infinity, 0xABCD0000 | largest},
      {"v_mov_b32 v4, v3\nv_mac_f16 v4, v1, v2", max, one, max, infinity, largest},
      {"v_mov_b32 v4, v3\nv_mac_f16 v4, v1, v2", one, one, infinity, infinity, infinity},
      {"v_ldexp_f16 v4, v1, v2", max, 3, 0, infinity, largest},
      {"v_ldexp_f16 v4, v1, v2", infinity, 3, 0, infinity, infinity},
      {"v_cvt_f16_f32 v4, v1", single(1e6f), 0, 0, infinity, largest},
      {"v_cvt_f16_f32 v4, v1", single(-65520.0f), 0, 0, infinity | minus, largest | minus},
      {"v_cvt_f16_f32 v4, v1", 0x7F800000, 0, 0, infinity, infinity},
      {"v_cvt_f16_f32 v4, v1", 0x7FC00000, 0, 0, nan, nan},
      {"v_cvt_f16_u16 v4, v1", 65535, 0, 0, infinity, largest},
      {"v_exp_f16 v4, v1", 0x4D00 /* 20 */, 0, 0, infinity, largest},
      {"v_exp_f16 v4, v1", infinity, 0, 0, infinity, infinity},
      // Divisions by zero.
      {"v_rcp_f16 v4, v1", 0, 0, 0, infinity, infinity},
      {"v_rcp_f16 v4, v1", minus, 0, 0, infinity | minus, infinity | minus},
      {"v_rcp_f16 v4, v1", 1, 0, 0, infinity, largest},
      {"v_rsq_f16 v4, v1", 0, 0, 0, infinity, infinity},
      {"v_log_f16 v4, v1", 0, 0, 0, infinity | minus, infinity | minus},
      {"v_div_fixup_f16 v4, v1, v2, v3", one, 0, one, 0xABCD0000 | infinity, 0xABCD0000 | infinity},
      // Each half of two by itself.
      {"v_pk_add_f16 v4, v1, v2", 0x7BFF7BFF, 0x7BFF7C00, 0, 0x7C007C00, 0x7BFF7C00},
      {"v_pk_add_f16 v4, v1, v2", 0xFC007BFF, 0x3C007BFF, 0, 0xFC007C00, 0xFC007BFF},
      {"v_pk_mul_f16 v4, v1, v2", 0x7BFF3C00, 0xC0004000, 0, 0xFC004000, 0xFBFF4000},
      {"v_pk_fma_f16 v4, v1, v2, v3", 0x7BFF7BFF, 0x40004000, 0x00007C00, 0x7C007C00, 0x7BFF7C00},
      // Results that are not halves are unchanged.
      {"v_add_f32 v4, v1, v2", 0x7F7FFFFF, 0x7F7FFFFF, 0, 0x7F800000, 0x7F800000},
  };
  for (const Case& c : cases) {
    for (const char* processor : {"gfx900", "gfx906", "gfx90a"}) {
      check(processor, c);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(HalfOverflow, GivesTheLargestNumberInMixedPrecision) {
  const Case cases[] = {
      {"v_fma_mixlo_f16 v4, v1, v2, v3", single(1e5f), single(1.0f), 0, 0xABCD7C00, 0xABCD7BFF},
      {"v_fma_mixlo_f16 v4, v1, v2, v3", 0x7F800000, single(-1.0f), 0, 0xABCDFC00, 0xABCDFC00},
      {"v_fma_mixhi_f16 v4, v1, v2, v3", single(-1e5f), single(1.0f), 0, 0xFC000000, 0xFBFF0000},
      {"v_fma_mixhi_f16 v4, v1, v2, v3 op_sel_hi:[1,0,0]", infinity, single(2.0f), 0, 0x7C000000, 0x7C000000},
  };
  for (const Case& c : cases) {
    check("gfx906", c);
    check("gfx90a", c);
  }
}

// Rounding to the other side gives the largest number anyway, rounding to this one no longer infinity.
TEST(HalfOverflow, GivesTheLargestNumberInAnyRoundingMode) {
  constexpr const char* up = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1\n";
  check("gfx90a", {"v_add_f16 v4, v1, v2", largest, 0x3C00, 0, infinity, largest}, up);
  check("gfx90a", {"v_add_f16 v4, v1, v2", largest | minus, 0xBC00, 0, largest | minus, largest | minus}, up);
}

// Output multipliers need a mode without denormals and without IEEE.
TEST(HalfOverflow, GivesTheLargestNumberBehindAnOutputMultiplier) {
  constexpr const char* multiplying =
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0\n";
  check("gfx90a", {"v_add_f16_e64 v4, v1, v2 mul:2", 0x7800, 0x7000, 0, infinity, largest}, multiplying);
  check("gfx90a", {"v_add_f16_e64 v4, v1, v2 mul:2", infinity, 0x7000, 0, infinity, infinity}, multiplying);
}

// FNUZ formats have no infinity, too large numbers are NaN (0x80) without the mode.
TEST(HalfOverflow, GivesTheLargestNumberOfEightBits) {
  const auto two = [](float a, float b) { return std::pair{single(a), single(b)}; };
  const auto check_two = [&](const char* processor, const char* source, std::pair<uint32_t, uint32_t> values,
                             uint32_t plain, uint32_t clamped) {
    check(processor, {source, values.first, values.second, 0, 0xABCD0000 | plain, 0xABCD0000 | clamped});
  };
  check_two("gfx942", "v_cvt_pk_fp8_f32 v4, v1, v2", two(1000, -1000), 0x8080, 0xFF7F);
  check_two("gfx942", "v_cvt_pk_bf8_f32 v4, v1, v2", two(1e6f, 1), 0x4080, 0x407F);
  check_two("gfx950", "v_cvt_pk_fp8_f32 v4, v1, v2", two(1000, -1000), 0xFF7F, 0xFE7E);
  check_two("gfx950", "v_cvt_pk_bf8_f32 v4, v1, v2", two(1e6f, -1e6f), 0xFC7C, 0xFB7B);
}

// A mode that comes and goes, between instructions of one stretch of code.
TEST(HalfOverflow, GoesByTheModeAtTheInstruction) {
  WaveRunner runner("gfx90a");
  std::ranges::fill(runner.v(1), 0x7BFFu);
  ASSERT_EQ(runner.run("v_add_f16 v2, v1, v1\n"
                       "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n"
                       "v_add_f16 v3, v1, v1\n"
                       "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0\n"
                       "v_add_f16 v4, v1, v1\n"
                       "s_mov_b32 s4, 1\n"
                       "s_setreg_b32 hwreg(HW_REG_MODE, 23, 1), s4\n"
                       "v_add_f16 v5, v1, v1\n"
                       "s_getreg_b32 s5, hwreg(HW_REG_MODE, 23, 1)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(2)[7], infinity);
  EXPECT_EQ(runner.v(3)[7], largest);
  EXPECT_EQ(runner.v(4)[7], infinity);
  EXPECT_EQ(runner.v(5)[7], largest);
  EXPECT_EQ(runner.s(5), 1u);
}

}  // namespace

}  // namespace Atoll::test

// What GFX11.7 has otherwise than GFX11.5: instructions of GFX12, which must do to the registers what they do on
// gfx1201, by GFX11's means to name halves of registers; and no IEEE mode.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

constexpr unsigned registers = 96;

/// Any bits, many of them NaNs, denormals and numbers near 1.
uint32_t any_word(std::mt19937& random) {
  constexpr uint32_t words[] = {0x7FC00001, 0x7F800001, 0xFF800000, 0x00000001, 0x3F800000, 0xBFC00000,
                                0x7E007C01, 0x3C00BC00, 0x80000000, 0x7F7FFFFF, 0x04030201, 0xC1387E7F};
  return random() % 3 == 0 ? words[random() % std::size(words)] : static_cast<uint32_t>(random());
}

/// Runs a line on each processor with the same registers and compares those that follow.
void expect_same(const std::string& on_gfx1170, const std::string& on_gfx1201, unsigned wave_size) {
  SCOPED_TRACE(on_gfx1170);
  std::mt19937 random(1);
  WaveRunner ours("gfx1170", "", wave_size), theirs("gfx1201", "", wave_size);
  for (unsigned i = 0; i < registers; ++i) {
    for (unsigned lane = 0; lane < 64; ++lane) ours.v(i)[lane] = theirs.v(i)[lane] = any_word(random);
  }
  ours.s(4) = theirs.s(4) = 0x3FC00000;
  ours.wave().set_exec(0x0FFF'FFFF'FFF7'7FFF);
  theirs.wave().set_exec(0x0FFF'FFFF'FFF7'7FFF);
  ASSERT_EQ(ours.run(on_gfx1170), WaveState::ended);
  ASSERT_EQ(theirs.run(on_gfx1201), WaveState::ended);
  for (unsigned i = 0; i < registers; ++i) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      ASSERT_EQ(ours.v(i)[lane], theirs.v(i)[lane]) << "v" << i << " of lane " << lane;
    }
  }
}
void expect_same(const std::string& line, unsigned wave_size) { expect_same(line, line, wave_size); }

class Gfx11_7 : public testing::TestWithParam<unsigned> {};

TEST_P(Gfx11_7, MinimumAndMaximumAreGfx12s) {
  for (const char* line : {"v_min_num_f32 v2, v3, v4",
                           "v_max_num_f32 v2, v3, v4",
                           "v_min_num_f64 v[2:3], v[4:5], v[6:7]",
                           "v_max_num_f64 v[2:3], v[4:5], v[6:7]",
                           "v_pk_min_num_f16 v2, v3, v4",
                           "v_pk_max_num_f16 v2, v3, v4",
                           "v_min3_num_f32 v2, v3, -v4, |v5|",
                           "v_max3_num_f32 v2, v3, v4, s4",
                           "v_med3_num_f32 v2, v3, v4, v5",
                           "v_minmax_num_f32 v2, v3, v4, v5",
                           "v_maxmin_num_f32 v2, v3, v4, v5 clamp",
                           "v_minimum_f32 v2, v3, v4",
                           "v_maximum_f32 v2, -v3, v4",
                           "v_minimum_f64 v[2:3], v[4:5], v[6:7]",
                           "v_maximum_f64 v[2:3], v[4:5], v[6:7]",
                           "v_minimum3_f32 v2, v3, v4, v5",
                           "v_maximum3_f32 v2, v3, v4, v5",
                           "v_minimummaximum_f32 v2, v3, v4, v5",
                           "v_maximumminimum_f32 v2, v3, v4, v5",
                           "v_pk_minimum_f16 v2, v3, v4 op_sel:[1,0] op_sel_hi:[0,1]",
                           "v_pk_maximum_f16 v2, v3, v4 neg_lo:[1,0] neg_hi:[0,1]"}) {
    expect_same(line, GetParam());
  }
  struct Halves {
    const char *gfx11_7, *gfx12;
  };
  for (const auto& [ours, theirs] :
       {Halves{"v_max3_num_f16 v2.h, v3.h, v4.l, v5.l", "v_max3_num_f16 v2, v3, v4, v5 op_sel:[1,0,0,1]"},
        Halves{"v_med3_num_f16 v2.l, v3.h, v4.l, v5.h", "v_med3_num_f16 v2, v3, v4, v5 op_sel:[1,0,1,0]"},
        Halves{"v_minmax_num_f16 v2.h, v3.l, v4.l, v5.l", "v_minmax_num_f16 v2, v3, v4, v5 op_sel:[0,0,0,1]"},
        Halves{"v_minimum_f16 v2.h, v3.l, -v4.h", "v_minimum_f16 v2, v3, -v4 op_sel:[0,1,1]"},
        Halves{"v_maximum3_f16 v2.l, v3.l, v4.h, v5.l", "v_maximum3_f16 v2, v3, v4, v5 op_sel:[0,1,0,0]"},
        Halves{"v_maximumminimum_f16 v2.h, v3.l, v4.l, v5.h", "v_maximumminimum_f16 v2, v3, v4, v5 op_sel:[0,0,1,1]"},
        Halves{"v_max_num_f16 v2.l, v3.l, v4.l", "v_max_num_f16 v2, v3, v4"}}) {
    expect_same(ours, theirs, GetParam());
  }
}

TEST_P(Gfx11_7, EightBitFloatsAreGfx12s) {
  for (const char* line : {"v_cvt_f32_fp8 v2, v3", "v_cvt_f32_bf8 v2, v3 byte_sel:3", "v_cvt_sr_fp8_f32 v2, v3, v4",
                           "v_cvt_sr_bf8_f32 v2, -v3, v4 byte_sel:2", "v_dot4_f32_fp8_fp8 v2, v3, v4, v5",
                           "v_dot4_f32_fp8_bf8 v2, v3, v4, v5 neg_lo:[0,0,1]", "v_dot4_f32_bf8_fp8 v2, v3, v4, 1.0",
                           "v_dot4_f32_bf8_bf8 v2, v3, v4, v5 quad_perm:[3,2,1,0]"}) {
    expect_same(line, GetParam());
  }
  expect_same("v_cvt_pk_f32_fp8 v[2:3], v4.l", "v_cvt_pk_f32_fp8 v[2:3], v4", GetParam());
  expect_same("v_cvt_pk_f32_bf8 v[2:3], v4.h", "v_cvt_pk_f32_bf8_e64 v[2:3], v4 op_sel:[1,0]", GetParam());
  expect_same("v_cvt_pk_fp8_f32 v2.l, v3, v4", "v_cvt_pk_fp8_f32 v2, v3, v4", GetParam());
  expect_same("v_cvt_pk_bf8_f32 v2.h, v3, |v4|", "v_cvt_pk_bf8_f32 v2, v3, |v4| op_sel:[0,0,1]", GetParam());
}

TEST_P(Gfx11_7, MatricesAreGfx12s) {
  // Registers of destination, first and second source in waves of 32 lanes, which are half as many in waves of 64.
  struct Product {
    const char* name;
    unsigned d, a, b;
    const char* modifiers = "";
  };
  for (const Product& p : {Product{"wmma_f32_16x16x16_f16", 8, 4, 4},
                           Product{"wmma_f32_16x16x16_bf16", 8, 4, 4, " neg_lo:[1,0,0]"},
                           Product{"wmma_f16_16x16x16_f16", 4, 4, 4},
                           Product{"wmma_bf16_16x16x16_bf16", 4, 4, 4},
                           Product{"wmma_i32_16x16x16_iu8", 8, 2, 2, " neg_lo:[1,0,0] clamp"},
                           Product{"wmma_i32_16x16x16_iu4", 8, 1, 1},
                           Product{"wmma_f32_16x16x16_fp8_fp8", 8, 2, 2},
                           Product{"wmma_f32_16x16x16_fp8_bf8", 8, 2, 2},
                           Product{"wmma_f32_16x16x16_bf8_fp8", 8, 2, 2},
                           Product{"wmma_f32_16x16x16_bf8_bf8", 8, 2, 2},
                           Product{"wmma_i32_16x16x32_iu4", 8, 2, 2, " neg_lo:[1,1,0]"},
                           Product{"swmmac_f32_16x16x32_f16", 8, 4, 8},
                           Product{"swmmac_f32_16x16x32_bf16", 8, 4, 8},
                           Product{"swmmac_f16_16x16x32_f16", 4, 4, 8},
                           Product{"swmmac_bf16_16x16x32_bf16", 4, 4, 8, " index_key:1"},
                           Product{"swmmac_i32_16x16x32_iu8", 8, 2, 4},
                           Product{"swmmac_i32_16x16x32_iu4", 8, 1, 2},
                           Product{"swmmac_i32_16x16x64_iu4", 8, 2, 4},
                           Product{"swmmac_f32_16x16x32_fp8_fp8", 8, 2, 4},
                           Product{"swmmac_f32_16x16x32_fp8_bf8", 8, 2, 4},
                           Product{"swmmac_f32_16x16x32_bf8_fp8", 8, 2, 4},
                           Product{"swmmac_f32_16x16x32_bf8_bf8", 8, 2, 4}}) {
    const auto tuple = [&](unsigned first, unsigned words) {
      words = std::max(1u, words * 32 / GetParam());
      const std::string name = "v" + std::to_string(first);
      return words == 1 ? name : "v[" + std::to_string(first) + ":" + std::to_string(first + words - 1) + "]";
    };
    const bool is_sparse = std::string_view(p.name).starts_with("swmmac");
    // EXEC is all lanes for them, whatever it is.
    expect_same("v_" + std::string(p.name) + " " + tuple(8, p.d) + ", " + tuple(16, p.a) + ", " + tuple(24, p.b) +
                    ", " + (is_sparse ? "v40" : tuple(8, p.d)) + p.modifiers,
                GetParam());
  }
}

/// MODE's bits 8 and 9 are no DX10_CLAMP and IEEE: a signalling NaN is less than a number to V_MIN, NaNs are clamped to
/// 0.
TEST_P(Gfx11_7, HasNoIeeeMode) {
  WaveRunner runner("gfx1170", "", GetParam());
  EXPECT_TRUE(runner.wave().float_mode.dx10_clamp);
  EXPECT_FALSE(runner.wave().float_mode.ieee);
  ASSERT_EQ(runner.run("s_mov_b32 s0, 0x300\n"
                       "s_setreg_b32 hwreg(HW_REG_MODE, 8, 2), s0\n"
                       "v_mov_b32 v1, 0x7f800001\n"
                       "v_min_num_f32 v2, v1, 1.0\n"
                       "v_add_f32_e64 v3, v1, 1.0 clamp\n"
                       "s_min_f32 s1, 0x7f800001, 1.0"),
            WaveState::ended);
  EXPECT_EQ(runner.v(2)[0], std::bit_cast<uint32_t>(1.0f));
  EXPECT_EQ(runner.v(3)[0], 0u);
  EXPECT_EQ(runner.s(1), 0x7FC00001u);  // minNum of IEEE 754-2008, as S_MIN has remained
}

INSTANTIATE_TEST_SUITE_P(Waves, Gfx11_7, testing::Values(32, 64),
                         [](const auto& info) { return "wave" + std::to_string(info.param); });

}  // namespace
}  // namespace Atoll

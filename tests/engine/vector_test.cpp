// Vector instructions: operands of every kind, EXEC, modifiers, lane masks, moves between lanes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t half(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

TEST(Vector, TakesScalarsConstantsAndRegistersOfBothFiles) {
  WaveRunner runner;
  runner.s(3) = 100;
  for (unsigned lane = 0; lane < 64; ++lane) runner.a(2)[lane] = 2 * lane;
  EXPECT_EQ(runner.run(R"(
      v_add_u32 v1, s3, v0
      v_add_u32 v2, 0x12345, v0
      v_sub_u32 v3, v0, v1
      v_accvgpr_read_b32 v4, a2
      v_accvgpr_write_b32 a3, v0
      v_accvgpr_mov_b32 a4, a2
      v_mad_u32_u24 v5, s3, s3, v0
      v_mov_b32 v6, src_execz
      v_add_u32 v7, vcc_lo, v0
      v_mov_b32 v8, src_shared_limit)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(1)[lane], 100 + lane);
    EXPECT_EQ(runner.v(2)[lane], 0x12345 + lane);
    EXPECT_EQ(runner.v(3)[lane], 0u - 100);
    EXPECT_EQ(runner.v(4)[lane], 2 * lane);
    EXPECT_EQ(runner.a(3)[lane], lane);
    EXPECT_EQ(runner.a(4)[lane], 2 * lane);
    EXPECT_EQ(runner.v(5)[lane], 10000 + lane);
    EXPECT_EQ(runner.v(6)[lane], 0u);
    EXPECT_EQ(runner.v(7)[lane], lane);
    EXPECT_EQ(runner.v(8)[lane], 0xFFFFFFFFu);
  }
}

TEST(Vector, SixtyFourBitOperandsArePairs) {
  WaveRunner runner;
  runner.set_rows(2, [](unsigned lane) { return std::bit_cast<uint64_t>(1.5 * lane); });
  runner.wave().set_scalar64(4, std::bit_cast<uint64_t>(0.25));
  EXPECT_EQ(runner.run(R"(
      v_add_f64 v[4:5], v[2:3], 2.0
      v_mul_f64 v[6:7], s[4:5], v[2:3]
      v_fma_f64 v[8:9], v[2:3], s[4:5], s[4:5]
      v_lshlrev_b64 v[10:11], 8, v[2:3]
      v_lshlrev_b64 v[0:1], v0, 1)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(std::bit_cast<double>(runner.v64(4, lane)), 1.5 * lane + 2.0);
    EXPECT_EQ(std::bit_cast<double>(runner.v64(6, lane)), 1.5 * lane * 0.25);
    EXPECT_EQ(std::bit_cast<double>(runner.v64(8, lane)), 1.5 * lane * 0.25 + 0.25);
    EXPECT_EQ(runner.v64(10, lane), std::bit_cast<uint64_t>(1.5 * lane) << 8);
    EXPECT_EQ(runner.v64(0, lane), uint64_t{1} << lane);
  }
}

TEST(Vector, WritesOnlyTheLanesOfExec) {
  WaveRunner runner;
  for (uint32_t& lane : runner.v(1)) lane = 7;
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 exec_lo, 0x0000ff01
      s_mov_b32 exec_hi, 0x80000000
      v_add_u32 v1, 1, v0
      v_cmp_lt_u32 vcc, 8, v0
      s_mov_b64 s[0:1], vcc
      v_cmp_ge_u32 s[2:3], v0, 10
      s_mov_b64 exec, 0
      v_mov_b32 v1, 99
      v_cmp_eq_u32 vcc, v0, v0)"),
            WaveState::ended);
  const uint64_t exec = 0x800000000000ff01;
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], exec >> lane & 1 ? lane + 1 : 7) << lane;
  EXPECT_EQ(runner.wave().scalar64(0), 0x800000000000fe00u);
  EXPECT_EQ(runner.wave().scalar64(2), 0x800000000000fc00u);
  EXPECT_EQ(runner.wave().vcc(), 0u);
}

TEST(Vector, CmpxNarrowsExec) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("v_cmpx_gt_u32 vcc, 16, v0\nv_mov_b32 v1, 1\nv_cmpx_lt_u32 s[4:5], 3, v0\nv_mov_b32 v2, 1"),
            WaveState::ended);
  EXPECT_EQ(runner.wave().vcc(), 0xFFFFu);
  EXPECT_EQ(runner.wave().scalar64(4), 0xFFF0u);
  EXPECT_EQ(runner.wave().exec(), 0xFFF0u);
  EXPECT_EQ(runner.v(1)[16], 0u);
  EXPECT_EQ(runner.v(1)[3], 1u);
  EXPECT_EQ(runner.v(2)[3], 0u);
  EXPECT_EQ(runner.v(2)[4], 1u);
}

TEST(Vector, CarriesAndSelectsGoThroughLaneMasks) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      v_mov_b32 v1, -1
      v_add_co_u32 v2, vcc, v1, v0
      v_mov_b32 v3, 0
      v_addc_co_u32 v4, vcc, 5, v3, vcc
      s_mov_b32 s4, 0xf0f0f0f0
      s_mov_b32 s5, 0x0f0f0f0f
      v_cndmask_b32 v5, v0, v1, s[4:5]
      v_add_co_u32 v6, s[6:7], v1, v0
      v_subb_co_u32 v7, s[8:9], v3, v3, s[6:7])"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(2)[lane], lane - 1);
    EXPECT_EQ(runner.v(4)[lane], lane == 0 ? 5u : 6u);
    EXPECT_EQ(runner.v(5)[lane], (0x0f0f0f0ff0f0f0f0 >> lane & 1) ? ~0u : lane);
    EXPECT_EQ(runner.v(7)[lane], lane == 0 ? 0u : ~0u);
  }
  EXPECT_EQ(runner.wave().scalar64(6), ~uint64_t{1});
  EXPECT_EQ(runner.wave().scalar64(8), ~uint64_t{1});
}

TEST(Vector, SourceAndResultModifiersOfFloats) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      v_cvt_f32_u32 v1, v0
      v_add_f32 v2, -v1, 1.0
      v_add_f32 v3, -|v2|, v1
      v_mul_f32 v4, v1, 0.5 clamp
      v_add_f32 v5, v1, v1 clamp
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0
      v_add_f32 v6, v1, 1.0 mul:4
      v_add_f32 v7, v1, 1.0 div:2
      v_mac_f32 v8, v1, v1 clamp)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const auto x = static_cast<float>(lane);
    EXPECT_EQ(as_float(runner.v(2)[lane]), 1 - x);
    EXPECT_EQ(as_float(runner.v(3)[lane]), x - std::abs(1 - x));
    EXPECT_EQ(as_float(runner.v(4)[lane]), std::min(x / 2, 1.0f));
    EXPECT_EQ(as_float(runner.v(5)[lane]), std::min(2 * x, 1.0f));
    EXPECT_EQ(as_float(runner.v(6)[lane]), (x + 1) * 4);
    EXPECT_EQ(as_float(runner.v(7)[lane]), (x + 1) / 2);
    EXPECT_EQ(as_float(runner.v(8)[lane]), std::min(x * x, 1.0f));
  }
}

TEST(Vector, SignsOfScalarsAndDoubles) {
  WaveRunner runner;
  runner.s(4) = std::bit_cast<uint32_t>(-3.0f);
  runner.wave().set_scalar64(6, std::bit_cast<uint64_t>(-0.5));
  runner.set_rows(2, [](unsigned lane) { return std::bit_cast<uint64_t>(1.5 * lane - 40); });
  EXPECT_EQ(runner.run(R"(
      v_cvt_f32_u32 v1, v0
      v_fma_f32 v4, -v1, |s4|, s4
      v_add_f32 v5, -|s4|, v1
      v_cmp_lt_f32 s[10:11], -v1, s4
      v_fma_f64 v[6:7], -v[2:3], |s[6:7]|, s[6:7]
      v_add_f64 v[8:9], |v[2:3]|, -s[6:7]
      v_cvt_f32_f64 v10, -v[2:3]
      v_cmpx_gt_f64 vcc, |v[2:3]|, 2.0)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const auto x = static_cast<float>(lane);
    const double y = 1.5 * lane - 40;
    EXPECT_EQ(as_float(runner.v(4)[lane]), -x * 3 - 3);
    EXPECT_EQ(as_float(runner.v(5)[lane]), x - 3);
    EXPECT_EQ(runner.wave().scalar64(10) >> lane & 1, -x < -3.0f ? 1u : 0u);
    EXPECT_EQ(std::bit_cast<double>(runner.v64(6, lane)), -y * 0.5 - 0.5);
    EXPECT_EQ(std::bit_cast<double>(runner.v64(8, lane)), std::abs(y) + 0.5);
    EXPECT_EQ(as_float(runner.v(10)[lane]), static_cast<float>(-y));
    EXPECT_EQ(runner.wave().exec() >> lane & 1, std::abs(y) > 2 ? 1u : 0u);
  }
}

TEST(Vector, LdsDirectIsOneValueForAllLanes) {
  WaveRunner runner("gfx900");
  const uint8_t bytes[] = {0, 0, 0, 0, 0x80, 0xFF, 0x34, 0x12};
  std::copy(std::begin(bytes), std::end(bytes), runner.lds());
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 m0, 0x20004
      v_mov_b32 v1, lds_direct
      s_mov_b32 m0, 0x40004
      v_add_u32 v2, lds_direct, v0
      s_mov_b32 m0, 0x10006
      v_mov_b32 v3, lds_direct)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[9], 0x1234FF80u);
  EXPECT_EQ(runner.v(2)[9], 9 + 0xFFFFFF80u);
  EXPECT_EQ(runner.v(3)[9], 0x1234u);
}

TEST(Vector, IntegerClampSaturates) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("v_add_u32 v1, -2, v0 clamp\nv_sub_u32 v2, 4, v0 clamp\nv_add_u32 v3, -2, v0"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(1)[lane], lane < 2 ? 0xFFFFFFFE + lane : 0xFFFFFFFF);
    EXPECT_EQ(runner.v(2)[lane], lane < 4 ? 4 - lane : 0);
    EXPECT_EQ(runner.v(3)[lane], 0xFFFFFFFE + lane);
  }
}

TEST(Vector, DppReadsOtherLanes) {
  WaveRunner runner("gfx908");
  for (unsigned i = 1; i < 12; ++i) {
    for (uint32_t& lane : runner.v(i)) lane = 1000;
  }
  EXPECT_EQ(runner.run(R"(
      v_mov_b32_dpp v1, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v3, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
      v_mov_b32_dpp v4, v0 wave_shr:1 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v5, v0 row_bcast:15 row_mask:0xa bank_mask:0xf
      v_mov_b32_dpp v6, v0 row_mirror row_mask:0x3 bank_mask:0x5
      v_add_u32_dpp v7, v0, v0 row_ror:4 row_mask:0xf bank_mask:0xf)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(1)[lane], lane ^ 3);
    EXPECT_EQ(runner.v(2)[lane], lane % 16 == 0 ? 1000 : lane - 1);
    EXPECT_EQ(runner.v(3)[lane], lane % 16 == 0 ? 0 : lane - 1);
    EXPECT_EQ(runner.v(4)[lane], lane == 0 ? 1000 : lane - 1);
    EXPECT_EQ(runner.v(5)[lane], lane / 16 % 2 == 1 ? lane / 16 * 16 - 1 : 1000) << lane;
    EXPECT_EQ(runner.v(6)[lane], lane < 32 && lane / 4 % 2 == 0 ? lane / 16 * 16 + 15 - lane % 16 : 1000) << lane;
    EXPECT_EQ(runner.v(7)[lane], lane + lane / 16 * 16 + (lane % 16 + 12) % 16);
  }
}

// As rocWMMA's tests of both broadcasts expect, which pass on GPUs.
TEST(Vector, DppBroadcastsLeaveLanesWithoutARowBeforeTheirOwnValue) {
  WaveRunner runner("gfx942");
  for (unsigned i = 1; i < 5; ++i) {
    for (uint32_t& lane : runner.v(i)) lane = 1000;
  }
  EXPECT_EQ(runner.run(R"(
      v_mov_b32_dpp v1, v0 row_bcast:15 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v2, v0 row_bcast:15 row_mask:0xf bank_mask:0xf bound_ctrl:0
      v_mov_b32_dpp v3, v0 row_bcast:31 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v4, v0 row_bcast:31 row_mask:0xd bank_mask:0xf bound_ctrl:0)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const unsigned row = lane / 16;
    EXPECT_EQ(runner.v(1)[lane], row == 0 ? lane : row * 16 - 1);
    EXPECT_EQ(runner.v(2)[lane], row == 0 ? lane : row * 16 - 1);
    EXPECT_EQ(runner.v(3)[lane], row < 2 ? lane : 31);
    EXPECT_EQ(runner.v(4)[lane], row == 1 ? 1000 : row < 2 ? lane : 31);
  }
}

TEST(Vector, DppLeavesLanesOutWhoseSourceExecSwitchesOff) {
  WaveRunner runner("gfx908");
  for (uint32_t& lane : runner.v(1)) lane = 1000;
  EXPECT_EQ(runner.run("s_mov_b64 exec, 0xfe\nv_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[0], 1000u);
  EXPECT_EQ(runner.v(1)[1], 1000u);
  EXPECT_EQ(runner.v(1)[2], 1u);
  EXPECT_EQ(runner.v(1)[8], 1000u);
}

TEST(Vector, SdwaSelectsPartsOfSourcesAndResults) {
  WaveRunner runner("gfx906");
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(1)[lane] = 0x80FF7F01 + lane;
    runner.v(2)[lane] = 0xAABBCCDD;
    runner.v(3)[lane] = runner.v(4)[lane] = 0x11223344;
    runner.v(6)[lane] = half(2.0f) << 16 | half(3.0f);
  }
  EXPECT_EQ(runner.run(R"(
      v_add_u32_sdwa v5, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_1
      v_add_u32_sdwa v3, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_0
      v_mov_b32_sdwa v4, sext(v1) dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_3
      v_mul_f16_sdwa v7, v6, -v6 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0
      v_cmp_eq_u32_sdwa s[4:5], v1, v0 src0_sel:BYTE_0 src1_sel:DWORD
      v_cmp_gt_u32_sdwa vcc, v1, v0 src0_sel:BYTE_0 src1_sel:DWORD)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(5)[0], 0x80u + 0xAABB);
  EXPECT_EQ(runner.v(3)[0], 0x11DE3344u);
  EXPECT_EQ(runner.v(4)[0], 0xFFFFFF80u);
  EXPECT_EQ(runner.v(7)[0], half(-6.0f) << 16);
  EXPECT_EQ(runner.wave().scalar64(4), 0u);
  EXPECT_EQ(runner.wave().vcc(), ~uint64_t{0});
}

TEST(Vector, PackedMathAndOpSel) {
  WaveRunner runner("gfx90a");
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(1)[lane] = half(2.0f) << 16 | half(1.0f);
    runner.v(2)[lane] = half(static_cast<float>(lane)) << 16 | half(0.5f);
    runner.v(20)[lane] = std::bit_cast<uint32_t>(1.0f);
    runner.v(21)[lane] = std::bit_cast<uint32_t>(2.0f);
    runner.v(22)[lane] = std::bit_cast<uint32_t>(10.0f);
    runner.v(23)[lane] = std::bit_cast<uint32_t>(20.0f);
    runner.v(9)[lane] = 0xAAAABBBB;
  }
  EXPECT_EQ(runner.run(R"(
      v_pk_add_f16 v3, v1, v2
      v_pk_add_f16 v4, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]
      v_pk_add_f16 v5, v1, v2 neg_lo:[0,1] neg_hi:[1,0]
      v_fma_f16 v9, v1, v1, v1 op_sel:[1,1,0,1]
      v_pk_add_f32 v[24:25], v[20:21], v[22:23]
      v_pk_mul_f32 v[26:27], v[20:21], v[22:23] op_sel:[1,0] op_sel_hi:[0,0]
      v_fma_mix_f32 v10, v1, v20, v2 op_sel:[1,0,0] op_sel_hi:[1,0,1]
      v_fma_mix_f32 v14, v1, 2.0, 1.0 op_sel_hi:[1,1,0]
      v_pk_add_u16 v11, v0, 1 op_sel_hi:[1,0]
      v_pk_mov_b32 v[12:13], v[20:21], v[22:23] op_sel:[1,0])"),
            WaveState::ended);
  for (unsigned lane : {0u, 5u, 63u}) {
    const auto x = static_cast<float>(lane);
    EXPECT_EQ(runner.v(3)[lane], half(2 + x) << 16 | half(1.5f));
    EXPECT_EQ(runner.v(4)[lane], half(1 + x) << 16 | half(2.5f));
    EXPECT_EQ(runner.v(5)[lane], half(x - 2) << 16 | half(0.5f));
    EXPECT_EQ(runner.v(9)[lane], half(5.0f) << 16 | 0xBBBB);
    EXPECT_EQ(as_float(runner.v(24)[lane]), 11.0f);
    EXPECT_EQ(as_float(runner.v(25)[lane]), 22.0f);
    EXPECT_EQ(as_float(runner.v(26)[lane]), 20.0f);
    EXPECT_EQ(as_float(runner.v(27)[lane]), 10.0f);
    EXPECT_EQ(as_float(runner.v(10)[lane]), 2.5f);
    EXPECT_EQ(as_float(runner.v(14)[lane]), 3.0f);
    EXPECT_EQ(runner.v(11)[lane], 0x10000 + lane + 1);
    EXPECT_EQ(as_float(runner.v(12)[lane]), 2.0f);
    EXPECT_EQ(as_float(runner.v(13)[lane]), 10.0f);
  }
}

TEST(Vector, EightBitFloatsGoWhereOpSelAndSdwaSay) {
  WaveRunner runner("gfx942");
  EXPECT_EQ(runner.run(R"(
      v_mov_b32 v1, 0x40400000
      v_mov_b32 v2, 0xc1200000
      v_cvt_pk_fp8_f32 v3, v1, v2
      v_cvt_pk_fp8_f32 v3, v2, v1 op_sel:[0,0,1]
      v_mov_b32 v4, 0x11223344
      v_cvt_sr_bf8_f32 v4, v1, v0 op_sel:[0,0,1,0]
      v_cvt_sr_bf8_f32 v4, v2, v0 op_sel:[0,0,1,1]
      v_cvt_f32_fp8_sdwa v5, v3 src0_sel:BYTE_1
      v_cvt_pk_f32_fp8_sdwa v[6:7], v3 src0_sel:WORD_1)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(3)[lane], 0x4CDADA4Cu);  // 3 is 0x4C, -10 is 0xDA
    EXPECT_EQ(runner.v(4)[lane], 0xCD224644u);  // 3 is 0x46, -10 is 0xCD
    EXPECT_EQ(as_float(runner.v(5)[lane]), -10.0f);
    EXPECT_EQ(as_float(runner.v(6)[lane]), -10.0f);
    EXPECT_EQ(as_float(runner.v(7)[lane]), 3.0f);
  }
}

TEST(Vector, EightBitFloatsAreThoseOfTheGpu) {
  for (const char* processor : {"gfx942", "gfx950"}) {
    WaveRunner runner(processor);
    // Setting the rounding mode must not make it forget.
    EXPECT_EQ(runner.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\nv_cvt_f32_fp8 v1, 64\n"), WaveState::ended);
    EXPECT_EQ(as_float(runner.v(1)[5]), std::string_view(processor) == "gfx942" ? 1.0f : 2.0f);
  }
}

TEST(Vector, PackedSourcesOutsideVop3pAreWholeRegisters) {
  WaveRunner runner("gfx942");
  runner.v(2)[5] = 0x40003C00;  // 2, 1
  runner.v(3)[5] = 0x44004200;  // 4, 3
  EXPECT_EQ(runner.run("v_dot2c_f32_f16 v1, v2, v3\nv_pk_fmac_f16 v4, v2, v3\nv_dot2c_i32_i16 v5, v2, v3"),
            WaveState::ended);
  EXPECT_EQ(as_float(runner.v(1)[5]), 11.0f);
  EXPECT_EQ(runner.v(4)[5], 0x48004200u);
  EXPECT_EQ(runner.v(5)[5], 0x4000u * 0x4400 + 0x3C00u * 0x4200);
}

TEST(Vector, LanesAndScalarsExchangeValues) {
  WaveRunner runner;
  runner.s(5) = 77;
  EXPECT_EQ(runner.run(R"(
      v_mov_b32 v1, v0
      s_mov_b32 s0, 9
      v_readlane_b32 s1, v0, s0
      v_readlane_b32 s2, v0, 63
      s_mov_b32 m0, 11
      v_readlane_b32 s3, v0, m0
      v_writelane_b32 v1, s5, 4
      v_writelane_b32 v1, -1, s0
      s_mov_b64 exec, 0xfff0
      v_readfirstlane_b32 s4, v0
      v_add_u32 v2, 1, v0
      v_swap_b32 v2, v0
      s_mov_b64 exec, 0
      v_readfirstlane_b32 s6, v1)"),
            WaveState::ended);
  EXPECT_EQ(runner.s(1), 9u);
  EXPECT_EQ(runner.s(2), 63u);
  EXPECT_EQ(runner.s(3), 11u);
  EXPECT_EQ(runner.s(4), 4u);
  EXPECT_EQ(runner.s(6), 0u);
  EXPECT_EQ(runner.v(1)[4], 77u);
  EXPECT_EQ(runner.v(1)[9], 0xFFFFFFFFu);
  EXPECT_EQ(runner.v(1)[10], 10u);
  EXPECT_EQ(runner.v(0)[4], 5u);
  EXPECT_EQ(runner.v(2)[4], 4u);
  EXPECT_EQ(runner.v(0)[3], 3u);
}

TEST(Vector, DivisionSequenceOfTheCompiler) {
  WaveRunner runner;
  // a / b as LLVM expands it (AMDGPUTargetLowering, LowerFDIV32 with denormals).
  EXPECT_EQ(runner.run(R"(
      v_cvt_f32_u32 v1, v0
      v_mov_b32 v2, 0x40400000
      v_div_scale_f32 v3, s[0:1], v2, v2, v1
      v_rcp_f32 v4, v3
      v_fma_f32 v5, -v3, v4, 1.0
      v_fma_f32 v4, v5, v4, v4
      v_div_scale_f32 v5, vcc, v1, v2, v1
      v_mul_f32 v6, v5, v4
      v_fma_f32 v7, -v3, v6, v5
      v_fma_f32 v6, v7, v4, v6
      v_fma_f32 v3, -v3, v6, v5
      v_div_fmas_f32 v3, v3, v4, v6
      v_div_fixup_f32 v8, v3, v2, v1)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(as_float(runner.v(8)[lane]), static_cast<float>(lane) / 3.0f) << lane;
  }
}

TEST(Vector, MbcntNumbersTheActiveLanes) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      v_mbcnt_lo_u32_b32 v1, -1, 0
      v_mbcnt_hi_u32_b32 v1, -1, v1
      s_mov_b32 s0, 0x55555555
      v_mbcnt_lo_u32_b32 v2, s0, 0
      v_mbcnt_hi_u32_b32 v2, s0, v2)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(1)[lane], lane);
    EXPECT_EQ(runner.v(2)[lane], (lane + 1) / 2);
  }
}

}  // namespace
}  // namespace Atoll

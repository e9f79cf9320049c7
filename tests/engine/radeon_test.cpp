// Vector instructions that the Radeons of GFX10 to GFX12 have, in waves of 32 lanes: halves of registers, moves between
// lanes, scalar floating point, dot products, WMMA.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "engine/wave_runner.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

constexpr unsigned lanes = 32;

class Radeon : public WaveRunner {
 public:
  explicit Radeon(std::string_view processor) : WaveRunner(processor, "", lanes) {}
  void fill(unsigned reg, uint32_t value) { std::fill_n(v(reg), semantics::wave_lanes, value); }
};

uint32_t bits(float number) { return std::bit_cast<uint32_t>(number); }

TEST(Radeon, SixteenBitResultsKeepTheOtherHalf) {
  // Each processor's way to name the upper half; v3 is 0.
  const std::pair<const char*, const char*> sums[] = {
      {"gfx1030", "v_add_f16_sdwa v2, v1, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD"},
      {"gfx1100", "v_add_f16 v2.h, v1.l, v3.l"},
      {"gfx1200", "v_fma_f16 v2, v1, 1.0, v3 op_sel:[0,0,0,1]"}};
  for (const auto& [processor, sum] : sums) {
    Radeon runner(processor);
    runner.fill(1, 0xABCD4200);
    runner.fill(2, 0x12345678);
    runner.fill(4, 0x9ABC0000);
    const std::string low =
        std::string_view(processor) == "gfx1100" ? "\nv_mul_f16 v4.l, 2.0, v1.l" : "\nv_mul_f16 v4, 2.0, v1";
    ASSERT_EQ(runner.run(sum + low), WaveState::ended) << processor;
    EXPECT_EQ(runner.v(2)[5], 0x42005678u) << processor;
    EXPECT_EQ(runner.v(4)[5], 0x9ABC4600u) << processor;
  }
}

TEST(Radeon, HalvesOfRegistersAreOperands) {
  for (const char* gpu : {"gfx1100", "gfx1201", "gfx1250"}) {
    SCOPED_TRACE(gpu);
    Radeon runner(gpu);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner.v(1)[lane] = 0x00030002 + lane;
      runner.v(2)[lane] = 0xFFFF0005;
    }
    ASSERT_EQ(runner.run(R"(
      v_mov_b16 v3.h, v1.l
      v_mov_b16 v3.l, v2.h
      v_and_b16 v4.l, v1.h, v2.l
      v_not_b16 v4.h, v1.h
      v_cvt_i32_i16 v5, v2.h
      v_cvt_u32_u16 v6, v2.h
      v_swap_b16 v1.h, v2.l
      s_mov_b32 vcc_lo, 0x0000ffff
      v_cndmask_b16 v7.h, v2.h, v1.l, vcc_lo)"),
              WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(runner.v(3)[lane], (2 + lane) << 16 | 0xFFFF);
      EXPECT_EQ(runner.v(4)[lane], 0xFFFC0001u);
      EXPECT_EQ(runner.v(5)[lane], 0xFFFFFFFFu);
      EXPECT_EQ(runner.v(6)[lane], 0x0000FFFFu);
      EXPECT_EQ(runner.v(1)[lane], 0x00050002 + lane);
      EXPECT_EQ(runner.v(2)[lane], 0xFFFF0003u);
      EXPECT_EQ(runner.v(7)[lane], (lane < 16 ? 2 + lane : 0xFFFF) << 16);
    }
  }
}

TEST(Radeon, NullIsZeroWhateverWasWrittenToIt) {
  Radeon runner("gfx1030");
  // -32768 would overflow, had the register kept its value.
  ASSERT_EQ(runner.run("s_brev_b32 null, 1\ns_addk_i32 null, 0x8000\ns_cselect_b32 s0, 1, 2"), WaveState::ended);
  EXPECT_EQ(runner.s(0), 2u);
}

TEST(Radeon, PermlaneMovesWithinRowsAndAcross) {
  for (const char* processor : {"gfx1030", "gfx1100", "gfx1200"}) {
    Radeon runner(processor);
    ASSERT_EQ(runner.run(R"(
      s_mov_b32 s0, 0x76543210
      s_mov_b32 s1, 0x01234567
      v_permlane16_b32 v1, v0, s0, s1
      v_permlanex16_b32 v2, v0, s0, s1
      v_mov_b32 v3, 99
      v_mov_b32 v4, 99
      v_mov_b32 v5, 99
      s_mov_b32 exec_lo, 0xfffffffe
      v_permlane16_b32 v3, v0, 0, 0
      v_permlane16_b32 v4, v0, 0, 0 op_sel:[0,1]
      v_permlane16_b32 v5, v0, 0, 0 op_sel:[1,0])"),
              WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned row = lane / 16 * 16, in_row = lane % 16, select = in_row < 8 ? in_row : 15 - in_row;
      EXPECT_EQ(runner.v(1)[lane], row + select);
      EXPECT_EQ(runner.v(2)[lane], (row ^ 16) + select);
      // Lane 0 is switched off.
      EXPECT_EQ(runner.v(3)[lane], row == 0 || lane == 0 ? 99 : 16u);
      EXPECT_EQ(runner.v(4)[lane], lane == 0 ? 99 : row);
      EXPECT_EQ(runner.v(5)[lane], lane == 0 ? 99 : row);
    }
  }
}

TEST(Radeon, PermlaneOfGfx12HasASelectForEachLane) {
  Radeon runner("gfx1200");
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(1)[lane] = lane * 7;
  ASSERT_EQ(runner.run("v_permlane16_var_b32 v2, v0, v1\nv_permlanex16_var_b32 v3, v0, v1"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(runner.v(2)[lane], lane / 16 * 16 + lane * 7 % 16);
    EXPECT_EQ(runner.v(3)[lane], (lane / 16 ^ 1) * 16 + lane * 7 % 16);
  }
}

TEST(Radeon, DppOfGfx10) {
  Radeon runner("gfx1100");
  ASSERT_EQ(runner.run(R"(
      v_mov_b32_dpp v1, v0 row_share:5 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v2, v0 row_xmask:3 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v3, v0 dpp8:[7,6,5,4,3,2,1,0]
      v_add_nc_u32_e64_dpp v4, v0, v0 row_mirror row_mask:0xf bank_mask:0xf)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(runner.v(1)[lane], lane / 16 * 16 + 5);
    EXPECT_EQ(runner.v(2)[lane], lane ^ 3);
    EXPECT_EQ(runner.v(3)[lane], lane ^ 7);
    EXPECT_EQ(runner.v(4)[lane], (lane ^ 15) + lane);
  }
}

TEST(Radeon, BpermuteReachesTheWave) {
  for (const char* processor : {"gfx1030", "gfx1200"}) {
    Radeon runner(processor);
    for (unsigned lane = 0; lane < lanes; ++lane) runner.v(1)[lane] = (lane * 5 + 64) * 4;
    ASSERT_EQ(runner.run("ds_bpermute_b32 v2, v1, v0"), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) EXPECT_EQ(runner.v(2)[lane], lane * 5 % 32);
  }
}

TEST(Radeon, TellsTheStateOfABarrier) {
  for (const char* processor : {"gfx1200", "gfx1250"}) {
    SCOPED_TRACE(processor);
    Radeon runner(processor);
    runner.group().waves_running = 3;
    runner.group().barrier.arrived = 1;
    ASSERT_EQ(runner.run(R"(
        s_get_barrier_state s2, -1
        s_barrier_signal -1
        s_get_barrier_state s3, -1)"),
              WaveState::ended);
    EXPECT_EQ(runner.s(2), 0x00010031u);
    EXPECT_EQ(runner.s(3), 0x00020031u);
    if (std::string_view(processor) == "gfx1200") {  // which has no barriers with numbers
      ASSERT_EQ(runner.run("s_get_barrier_state s2, 5"), WaveState::faulted);
    }
  }
}

TEST(Radeon, MessagesWithAnAnswer) {
  for (const char* processor : {"gfx1100", "gfx1150", "gfx1170", "gfx1200", "gfx1250"}) {
    Radeon runner(processor);
    runner.s(8) = runner.s(9) = 99;
    ASSERT_EQ(runner.run(R"(
      s_sendmsg_rtn_b64 s[2:3], sendmsg(MSG_RTN_GET_REALTIME)
      s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_REALTIME)
      s_sendmsg_rtn_b64 s[6:7], sendmsg(MSG_RTN_GET_REALTIME)
      s_sendmsg_rtn_b64 s[8:9], sendmsg(MSG_RTN_GET_TBA))"),
              WaveState::ended);
    const uint64_t first = runner.wave().scalar64(2), last = runner.wave().scalar64(6);
    EXPECT_GT(first, 0U);
    EXPECT_GE(last, first);
    EXPECT_LE(runner.s(4) - runner.s(2), last - first);
    EXPECT_EQ(runner.wave().scalar64(8), 0U);  // there is no trap handler
    ASSERT_EQ(runner.run("s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_SAVE_WAVE)"), WaveState::faulted);
    EXPECT_EQ(runner.wave().fault->what, "the message 0x84 (RTN_SAVE_WAVE) is not implemented");
  }
}

TEST(Radeon, ScalarFloatingPoint) {
  for (const char* processor : {"gfx1150", "gfx1170", "gfx1200"}) {
    Radeon runner(processor);
    ASSERT_EQ(runner.run(R"(
      s_mov_b32 s0, 1.5
      s_mov_b32 s1, 2.0
      s_add_f32 s2, s0, s1
      s_fmac_f32 s2, s0, s1
      s_fmaak_f32 s3, s0, s1, 0x41200000
      s_cmp_lt_f32 s0, s1
      s_cselect_b32 s4, 1, 2
      s_cvt_i32_f32 s5, s2
      s_add_f16 s6, 1.0, 0x4000)"),
              WaveState::ended)
        << processor;
    EXPECT_EQ(runner.s(2), bits(6.5f));
    EXPECT_EQ(runner.s(3), bits(13.0f));
    EXPECT_EQ(runner.s(4), 1u);
    EXPECT_EQ(runner.s(5), 6u);
    EXPECT_EQ(runner.s(6), 0x4200u);
  }
  Radeon runner("gfx1200");
  ASSERT_EQ(runner.run("s_mov_b32 s0, 4.0\nv_s_sqrt_f32 s1, s0\nv_s_rcp_f32 s2, -s0"), WaveState::ended);
  EXPECT_EQ(runner.s(1), bits(2.0f));
  EXPECT_EQ(runner.s(2), bits(-0.25f));
}

TEST(Radeon, InterpolatesPixelAttributes) {
  for (const char* processor : {"gfx1100", "gfx1150", "gfx1170", "gfx1200"}) {
    SCOPED_TRACE(processor);
    Radeon runner(processor);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner.v(1)[lane] = bits(static_cast<float>(lane));
      runner.v(2)[lane] = bits(2.0f);
    }
    ASSERT_EQ(runner.run("v_interp_p10_f32 v3, v1, v2, v1\nv_interp_p2_f32 v4, v1, -v2, v3"), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto quad = static_cast<float>(lane / 4 * 4);
      EXPECT_EQ(runner.v(3)[lane], bits((quad + 1) * 2 + quad));
      EXPECT_EQ(runner.v(4)[lane], bits((quad + 1) * 2 + quad - (quad + 2) * 2));
    }
  }
}

TEST(Radeon, NegSaysWhichIntegersAreSigned) {
  for (const char* processor : {"gfx1100", "gfx1150", "gfx1170", "gfx1200"}) {
    Radeon runner(processor);
    runner.fill(1, 0xFF01FF02);
    runner.fill(2, 0x02030405);
    runner.fill(3, 10);
    ASSERT_EQ(runner.run(R"(
      v_dot4_i32_iu8 v4, v1, v2, v3
      v_dot4_i32_iu8 v5, v1, v2, v3 neg_lo:[1,0,0]
      v_dot4_i32_iu8 v6, v2, v1, v3 neg_lo:[0,1,0]
      v_dot8_i32_iu4 v7, v1, v2, v3 neg_lo:[1,1,0])"),
              WaveState::ended);
    EXPECT_EQ(runner.v(4)[0], 255u * 2 + 3 + 255 * 4 + 2 * 5 + 10);
    EXPECT_EQ(static_cast<int32_t>(runner.v(5)[0]), -2 + 3 - 4 + 10 + 10);
    EXPECT_EQ(runner.v(6)[0], runner.v(5)[0]);
    EXPECT_EQ(static_cast<int32_t>(runner.v(7)[0]), -2 + 3 - 4 + 10 + 10);
  }
}

TEST(Radeon, MultipliesMatrices) {
  // A is the number of its row everywhere, B 1: every element of D is 16 times its row, and C.
  for (const char* processor : {"gfx1100", "gfx1170", "gfx1200"}) {
    SCOPED_TRACE(processor);
    Radeon runner(processor);
    const bool gfx12 = std::string_view(processor) != "gfx1100";  // what GFX12 began
    const unsigned words = gfx12 ? 4 : 8;
    for (unsigned i = 0; i < words; ++i) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto half = std::bit_cast<uint16_t>(static_cast<_Float16>(lane % 16));
        runner.v(8 + i)[lane] = half | uint32_t{half} << 16;
        runner.v(16 + i)[lane] = 0x3C003C00;
      }
    }
    for (unsigned i = 0; i < 8; ++i) runner.fill(24 + i, bits(0.5f));
    ASSERT_EQ(runner.run(gfx12 ? "v_wmma_f32_16x16x16_f16 v[24:31], v[8:11], v[16:19], v[24:31]"
                               : "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]"),
              WaveState::ended);
    for (unsigned i = 0; i < 8; ++i) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const unsigned row = gfx12 ? i + lane / 16 * 8 : 2 * i + lane / 16;
        EXPECT_EQ(runner.v(24 + i)[lane], bits(static_cast<float>(16 * row) + 0.5f));
      }
    }
  }
}

TEST(Radeon, MultipliesSparseMatrices) {
  // The first and the third of each four elements of A's rows are there; B's rows are numbered.
  for (const char* processor : {"gfx1170", "gfx1200"}) {
    SCOPED_TRACE(processor);
    Radeon runner(processor);
    for (unsigned i = 0; i < 2; ++i) runner.fill(8 + i, 0x01010101);
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const uint32_t first = lane / 16 * 16 + 4 * i;
        runner.v(16 + i)[lane] = first | (first + 1) << 8 | (first + 2) << 16 | (first + 3) << 24;
      }
    }
    runner.fill(20, 0x88888888);
    ASSERT_EQ(runner.run("v_swmmac_i32_16x16x32_iu8 v[24:31], v[8:9], v[16:19], v20 neg_lo:[1,1,0]"), WaveState::ended);
    unsigned sum = 0;
    for (unsigned k = 0; k < 32; k += 2) sum += k;
    for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(runner.v(24 + i)[9], sum);
  }
}

}  // namespace
}  // namespace Atoll::test

// Registers that a wave does not have: sources are s0 or v0 instead, and an instruction that writes one
// does nothing (Vega and CDNA ISA guides, "Out-of-range behavior"). In particular no row beyond the wave's own is
// touched.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/wave_runner.h"

namespace Atoll::test {

namespace {

using machine::WaveState;

constexpr uint32_t foreign = 0xF0F0F0F0;

/// A wave with the first 16 VGPRs, after which are others' rows, and no AGPRs.
class MissingVgprs : public testing::Test {
 protected:
  MissingVgprs() {
    runner.wave().vgprs = 16;
    runner.wave().agprs = 0;
    for (unsigned i = 0; i < 256; ++i) {
      std::ranges::fill(runner.v(i), i < 16 ? 1000 + i : foreign);
      std::ranges::fill(runner.a(i), foreign);
    }
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(0)[lane] = lane;
  }

  void run(const std::string& source) {
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (unsigned i = 16; i < 512; ++i) {
      semantics::Row& row = i < 256 ? runner.v(i) : runner.a(i - 256);
      for (unsigned lane = 0; lane < 64; ++lane) ASSERT_EQ(row[lane], foreign) << i;
    }
  }

  WaveRunner runner{"gfx90a"};
};

TEST_F(MissingVgprs, ReadAsTheFirstOne) {
  run("v_add_u32 v1, 5, v200\n"
      "v_lshlrev_b64 v[2:3], 1, v[16:17]\n"
      "v_mad_u32_u24 v4, v3, v16, v255\n"
      "v_accvgpr_read_b32 v5, a3");
  for (unsigned lane = 0; lane < 64; ++lane) {
    const uint64_t pair = lane | uint64_t{lane + 5} << 32;  // v[0:1]
    EXPECT_EQ(runner.v(1)[lane], lane + 5);
    EXPECT_EQ(runner.v64(2, lane), pair << 1);
    EXPECT_EQ(runner.v(4)[lane], runner.v(3)[lane] * lane + lane);
    EXPECT_EQ(runner.v(5)[lane], lane);
  }
}

TEST_F(MissingVgprs, AreNotWritten) {
  uint32_t memory[64]{1, 2, 3};
  runner.set_pair(4, memory);
  runner.s(6) = 77;
  run("v_mov_b32 v200, 1\n"
      "v_add_f64 v[16:17], v[2:3], v[4:5]\n"
      "v_add_co_u32 v20, vcc, v1, v1\n"
      "global_load_dword v100, v0, s[4:5]\n"
      "ds_read_b32 v18, v0\n"
      "v_accvgpr_write_b32 a0, v1\n"
      "v_readlane_b32 s6, v90, 3\n"
      "s_waitcnt 0");
  EXPECT_EQ(runner.s(6), 3u);
}

// A loop, which is compiled as a whole.
TEST_F(MissingVgprs, AreMissingInLoops) {
  run("s_mov_b32 s4, 10\n"
      "v_mov_b32 v1, 0\n"
      "again:\n"
      "v_add_u32 v1, v1, v30\n"
      "v_mov_b32 v31, v1\n"
      "s_sub_u32 s4, s4, 1\n"
      "s_cmp_lg_u32 s4, 0\n"
      "s_cbranch_scc1 again");
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], lane * 10);
}

// In a unified register file, the VGPRs of the numbers that follow are the wave's as well, as far as it has AGPRs.
TEST(MissingRegisters, OfAUnifiedFileAreThoseBehindTheAgprs) {
  WaveRunner runner("gfx90a");
  runner.wave().vgprs = 16;
  runner.wave().agprs = 8;
  runner.wave().agpr = runner.wave().vgpr + 16;
  std::ranges::fill(runner.v(1), 5);
  std::ranges::fill(runner.v(24), foreign);
  ASSERT_EQ(runner.run("v_mov_b32 v23, v1\nv_accvgpr_write_b32 a8, v1\nv_mov_b32 v24, v1\nv_add_u32 v2, v23, v24"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(23)[lane], 5u);
    EXPECT_EQ(runner.v(24)[lane], foreign);
    EXPECT_EQ(runner.v(2)[lane], 5 + lane);
  }
}

TEST(MissingRegisters, AreSgprsToo) {
  WaveRunner runner("gfx90a");
  runner.wave().sgprs = 32;
  runner.s(0) = 7;
  runner.s(1) = 8;
  runner.s(32) = runner.s(33) = runner.s(40) = foreign;
  ASSERT_EQ(runner.run_code(assemble("s_add_u32 s4, s40, 1\n"
                                     "s_mov_b32 s33, 5\n"
                                     "s_mov_b64 s[6:7], s[32:33]\n"
                                     "v_mov_b32 v1, s40\n"
                                     "v_readfirstlane_b32 s8, v1\n"
                                     "s_mov_b64 vcc, 3\n"
                                     "s_endpgm",
                                     "gfx90a")),
            WaveState::ended);
  EXPECT_EQ(runner.s(4), 8u);
  EXPECT_EQ(runner.s(33), foreign);
  EXPECT_EQ(runner.s(6), 7u);
  EXPECT_EQ(runner.s(7), 8u);
  EXPECT_EQ(runner.s(8), 7u);
  EXPECT_EQ(runner.wave().vcc(), 3u);
}

}  // namespace

}  // namespace Atoll::test

// What is different on GFX10 to GFX12 and in waves of 32 lanes. What is expected is the ISA guides' ("RDNA1" to
// "RDNA4"), by the chapter named at each test.
#include <gtest/gtest.h>

#include "engine/wave_runner.h"
#include "machine/wave/barrier.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

/// "Wave32": EXEC_HI and VCC_HI are no masks; comparisons write one register.
TEST(Wave32, MasksAreOneRegister) {
  for (const char* gpu : {"gfx1030", "gfx1100", "gfx1170", "gfx1201"}) {
    SCOPED_TRACE(gpu);
    WaveRunner runner(gpu, "", 32);
    runner.s(7) = 0x1234;
    runner.wave().scalar[isa::scalar::vcc_hi] = 0x5678;
    ASSERT_EQ(runner.run("v_cmp_gt_u32_e64 s6, 8, v0\n"
                         "v_cmp_gt_u32_e32 vcc_lo, 4, v0\n"
                         "s_mov_b32 exec_hi, -1\n"
                         "v_mov_b32 v1, 1\n"
                         "v_cndmask_b32_e64 v2, 10, 20, s6"),
              WaveState::ended);
    EXPECT_EQ(runner.s(6), 0xFFu);
    EXPECT_EQ(runner.s(7), 0x1234u);
    EXPECT_EQ(runner.wave().scalar[isa::scalar::vcc_lo], 0xFu);
    EXPECT_EQ(runner.wave().scalar[isa::scalar::vcc_hi], 0x5678u);
    for (unsigned lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(runner.v(1)[lane], lane < 32 ? 1u : 0u) << lane;
      if (lane < 32) EXPECT_EQ(runner.v(2)[lane], lane < 8 ? 20u : 10u) << lane;
    }
  }
}

/// VCCZ and EXECZ look at the lower halves.
TEST(Wave32, BranchesLookAtTheLowerHalves) {
  WaveRunner runner("gfx1100", "", 32);
  ASSERT_EQ(runner.run("s_mov_b32 vcc_lo, 0\n"
                       "s_mov_b32 vcc_hi, -1\n"
                       "s_cbranch_vccz 1f\n"
                       "s_mov_b32 s0, 1\n"
                       "1: s_mov_b32 exec_lo, 0\n"
                       "s_mov_b32 exec_hi, -1\n"
                       "s_cbranch_execz 2f\n"
                       "s_mov_b32 s1, 1\n"
                       "2: s_mov_b32 exec_lo, -1"),
            WaveState::ended);
  EXPECT_EQ(runner.s(0), 0u);
  EXPECT_EQ(runner.s(1), 0u);
}

/// "VALU", V_CMPX: from GFX10 on EXEC alone is written.
TEST(Rdna, CompareAndWriteExecWritesNothingElse) {
  for (const unsigned wave_size : {32u, 64u}) {
    WaveRunner runner("gfx1030", "", wave_size);
    runner.wave().set_vcc(0x77);
    ASSERT_EQ(runner.run("v_cmpx_gt_u32_e32 5, v0\nv_mov_b32 v1, 1\ns_mov_b64 exec, -1"), WaveState::ended);
    EXPECT_EQ(runner.wave().vcc(), 0x77u);
    for (unsigned lane = 0; lane < wave_size; ++lane) EXPECT_EQ(runner.v(1)[lane], lane < 5 ? 1u : 0u) << lane;
  }
}

/// "Dual Issue VALU": both halves read before either writes.
TEST(Rdna, DualInstructionsReadBeforeTheyWrite) {
  WaveRunner runner("gfx1100", "", 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    runner.v(2)[lane] = 100 + lane;
    runner.v(3)[lane] = 200 + lane;
    runner.v(4)[lane] = 300 + lane;
    runner.v(5)[lane] = 400 + lane;
    runner.v(7)[lane] = 7;
    runner.v(1)[lane] = lane;
  }
  ASSERT_EQ(runner.run("s_mov_b32 exec_lo, 0xFFFFFFF0\n"
                       "v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\n"
                       "v_dual_mov_b32 v4, v1 :: v_dual_add_nc_u32 v5, v4, v7\n"
                       "v_dual_mov_b32 v8, v0 :: v_dual_lshlrev_b32 v9, 1, v1"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool on = lane >= 4;
    EXPECT_EQ(runner.v(2)[lane], (on ? 200 : 100) + lane);
    EXPECT_EQ(runner.v(3)[lane], (on ? 100 : 200) + lane);
    EXPECT_EQ(runner.v(4)[lane], on ? lane : 300 + lane);
    EXPECT_EQ(runner.v(5)[lane], on ? 307 + lane : 400 + lane);
    EXPECT_EQ(runner.v(9)[lane], on ? 2 * lane : 0);
  }
}

/// "Null register": it reads as 0, and EXEC next to its code stays.
TEST(Rdna, NullReadsAsZeroAndTakesAnything) {
  for (const char* gpu : {"gfx1030", "gfx1100", "gfx1170", "gfx1201"}) {
    SCOPED_TRACE(gpu);
    WaveRunner runner(gpu);
    ASSERT_EQ(runner.run("s_mov_b64 null, 0\n"
                         "v_cmp_eq_u32_e64 null, v0, v0\n"
                         "s_mov_b32 null, -1\n"
                         "s_mov_b32 s5, null\n"
                         "v_add_nc_u32 v1, null, v0"),
              WaveState::ended);
    EXPECT_EQ(runner.wave().exec(), ~uint64_t{0});
    EXPECT_EQ(runner.s(5), 0u);
    EXPECT_EQ(runner.v(1)[9], 9u);
  }
}

/// "Hardware registers": numbers differ by generation. FLAT_SCR is kept in them, and MODE has what s_round_mode and
/// s_denorm_mode write.
TEST(Rdna, HardwareRegistersAreTheGenerations) {
  for (const char* gpu : {"gfx1030", "gfx1100", "gfx1170"}) {
    SCOPED_TRACE(gpu);
    WaveRunner runner(gpu);
    ASSERT_EQ(runner.run("s_mov_b32 s0, 0x12345678\n"
                         "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0\n"
                         "s_getreg_b32 s1, hwreg(HW_REG_FLAT_SCR_LO, 8, 16)\n"
                         "s_round_mode 0x6\n"
                         "s_denorm_mode 0x9\n"
                         "s_getreg_b32 s2, hwreg(HW_REG_MODE, 0, 8)\n"
                         "s_getreg_b32 s3, hwreg(HW_REG_HW_ID1)"),
              WaveState::ended);
    EXPECT_EQ(runner.s(1), 0x3456u);
    EXPECT_EQ(runner.s(2), 0x96u);
    EXPECT_EQ(runner.wave().float_mode.round32, semantics::Round::minus_infinity);
  }
  WaveRunner runner("gfx1201");
  ASSERT_EQ(runner.run("s_denorm_mode 0x5\ns_getreg_b32 s2, hwreg(HW_REG_WAVE_MODE, 4, 4)"), WaveState::ended);
  EXPECT_EQ(runner.s(2), 5u);
  EXPECT_TRUE(runner.wave().float_mode.dx10_clamp);
  EXPECT_FALSE(runner.wave().float_mode.ieee);
}

/// "Scratch": a lane's dwords lie the wave's lanes apart.
TEST(Rdna, ScratchIsSwizzledForTheWavesLanes) {
  for (const unsigned wave_size : {32u, 64u}) {
    WaveRunner runner("gfx1100", "", wave_size);
    ASSERT_EQ(runner.run("v_mov_b32 v1, 8\n"
                         "v_mov_b32 v3, 77\n"
                         "scratch_store_b64 v1, v[2:3], off offset:4\n"
                         "scratch_load_b32 v4, off, off offset:16"),
              WaveState::ended);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      EXPECT_EQ(runner.scratch(lane, 16), 77u);
      EXPECT_EQ(runner.v(4)[lane], 77u);
    }
  }
}

/// "Buffer Resource Descriptor", OOB_SELECT: what is out of bounds.
TEST(Rdna, BufferResourcesSayHowBoundsAreChecked) {
  alignas(64) uint32_t memory[64];
  for (unsigned i = 0; i < 64; ++i) memory[i] = 1000 + i;
  const struct {
    unsigned select, records, first_outside;  // of lanes that read dword `lane` by an index and a stride of 4
  } cases[] = {{0, 7, 7}, {1, 9, 9}, {2, 0, 0}, {2, 1, 64}, {3, 40, 10}};
  for (const auto& [select, records, first_outside] : cases) {
    SCOPED_TRACE(testing::Message() << select << ", " << records);
    WaveRunner runner("gfx1030");
    const auto base = reinterpret_cast<uint64_t>(memory);
    runner.s(4) = static_cast<uint32_t>(base);
    runner.s(5) = static_cast<uint32_t>(base >> 32) | 4u << 16;
    runner.s(6) = records;
    runner.s(7) = 0xFAC | 20u << 12 | select << 28 | 1u << 24;
    ASSERT_EQ(runner.run("buffer_load_dword v1, v0, s[4:7], 0 idxen\n"
                         "buffer_load_format_x v2, v0, s[4:7], 0 idxen"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const uint32_t expected = lane < first_outside ? 1000 + lane : 0;
      EXPECT_EQ(runner.v(1)[lane], expected) << lane;
      EXPECT_EQ(runner.v(2)[lane], expected) << lane;
    }
  }
}

/// GLOBAL_LOAD_ADDTID_B32, GLOBAL_ATOMIC_CSUB_U32.
TEST(Rdna, GlobalAccessesThatGfx9Lacks) {
  alignas(64) uint32_t memory[64];
  for (unsigned i = 0; i < 64; ++i) memory[i] = 10 * i;
  WaveRunner runner("gfx1100", "", 32);
  runner.set_pair(2, memory);
  ASSERT_EQ(runner.run("global_load_addtid_b32 v1, s[2:3] offset:4\n"
                       "v_lshlrev_b32 v2, 2, v0\n"
                       "v_mov_b32 v3, 55\n"
                       "global_atomic_csub_u32 v4, v2, v3, s[2:3] glc"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(runner.v(1)[lane], 10 * (lane + 1));
    EXPECT_EQ(runner.v(4)[lane], 10 * lane);
    EXPECT_EQ(memory[lane], lane < 6 ? 0 : 10 * lane - 55);
  }
}

/// GLOBAL_LOAD_BLOCK, SCRATCH_STORE_BLOCK: the registers that M0 names. S_LOAD_U8 and its like.
TEST(Rdna, BlocksAndSmallScalarLoads) {
  alignas(64) uint32_t memory[32];
  for (unsigned i = 0; i < 32; ++i) memory[i] = 0x8000'80F0 + i;
  WaveRunner runner("gfx1201", "", 32);
  runner.set_pair(2, memory);
  ASSERT_EQ(runner.run("s_mov_b32 m0, 0x80000005\n"
                       "v_mov_b32 v1, 0\n"
                       "global_load_block v[40:71], v1, s[2:3]\n"
                       "s_wait_loadcnt 0x0\n"
                       "scratch_store_block off, v[40:71], off\n"
                       "s_load_u8 s8, s[2:3], 0x1\n"
                       "s_load_i8 s9, s[2:3], 0x4\n"
                       "s_load_u16 s10, s[2:3], 0x2\n"
                       "s_load_i16 s11, s[2:3], 0x6\n"
                       "s_load_b96 s[12:14], s[2:3], 0x8\n"
                       "s_wait_kmcnt 0x0"),
            WaveState::ended);
  for (unsigned i = 0; i < 32; ++i) {
    const bool moved = i == 0 || i == 2 || i == 31;
    EXPECT_EQ(runner.v(40 + i)[3], moved ? memory[i] : 0u) << i;
    EXPECT_EQ(runner.scratch(3, 4 * i), moved ? memory[i] : 0u) << i;
  }
  EXPECT_EQ(runner.s(8), 0x80u);
  EXPECT_EQ(runner.s(9), 0xFFFF'FFF1u);
  EXPECT_EQ(runner.s(10), 0x8000u);
  EXPECT_EQ(runner.s(11), 0xFFFF'8000u);
  EXPECT_EQ(runner.s(14), memory[4]);
}

/// "16-bit operands": halves of registers by name, whose other halves stay.
TEST(Rdna, HalvesOfRegistersAreOperands) {
  for (const char* gpu : {"gfx1100", "gfx1151", "gfx1170", "gfx1201", "gfx1250"}) {
    SCOPED_TRACE(gpu);
    WaveRunner runner(gpu, "", 32);
    for (unsigned lane = 0; lane < 32; ++lane) {
      runner.v(2)[lane] = 0x1111'2222;
      for (unsigned i = 3; i < 16; ++i) runner.v(i)[lane] = 0xAAAA'BBBB;
    }
    ASSERT_EQ(runner.run("v_mov_b16_e32 v3.l, 23\n"
                         "v_mov_b16_e32 v4.h, 22\n"
                         "v_mov_b16_e32 v5.l, v2.h\n"
                         "v_mov_b16_e32 v6.h, v2.l\n"
                         "s_mov_b32 vcc_lo, 0xF\n"
                         "v_cndmask_b16 v7.l, v2.l, v2.h, vcc_lo\n"
                         "v_cndmask_b16 v8.h, v2.h, v2.l, vcc_lo\n"
                         "v_or_b16 v9.h, v2.h, v2.l\n"
                         "v_and_b16 v10.l, 0xff, v2.h\n"
                         "v_lshlrev_b16 v11.h, 8, v2.h\n"
                         "v_lshlrev_b16 v12.l, 8, v2.l\n"
                         "v_add_nc_u16 v13.h, v2.l, v2.h"),
              WaveState::ended);
    const auto expect = [&](unsigned reg, uint32_t first_lanes, uint32_t others) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(runner.v(reg)[lane], lane < 4 ? first_lanes : others) << "v" << reg << " of lane " << lane;
      }
    };
    expect(3, 0xAAAA'0017, 0xAAAA'0017);
    expect(4, 0x0016'BBBB, 0x0016'BBBB);
    expect(5, 0xAAAA'1111, 0xAAAA'1111);
    expect(6, 0x2222'BBBB, 0x2222'BBBB);
    expect(7, 0xAAAA'1111, 0xAAAA'2222);
    expect(8, 0x2222'BBBB, 0x1111'BBBB);
    expect(9, 0x3333'BBBB, 0x3333'BBBB);
    expect(10, 0xAAAA'0011, 0xAAAA'0011);
    expect(11, 0x1100'BBBB, 0x1100'BBBB);
    expect(12, 0xAAAA'2200, 0xAAAA'2200);
    expect(13, 0x3333'BBBB, 0x3333'BBBB);
  }
}

/// "16-bit operands": a sum begins with the half that it is written to.
TEST(Rdna, SumsBeginWithTheirHalf) {
  for (const char* gpu : {"gfx1100", "gfx1151", "gfx1170", "gfx1201", "gfx1250"}) {
    SCOPED_TRACE(gpu);
    WaveRunner runner(gpu, "", 32);
    for (unsigned lane = 0; lane < 32; ++lane) {
      runner.v(2)[lane] = 0x4000'4200;                                   // 2 and 3
      for (unsigned i = 3; i < 8; ++i) runner.v(i)[lane] = 0x3C00'4900;  // 1 and 10
    }
    ASSERT_EQ(runner.run("v_fmac_f16_e32 v3.l, v2.l, v2.h\n"
                         "v_fmac_f16_e32 v4.h, v2.l, v2.h\n"
                         "v_fmac_f16_e64 v5.h, -v2.l, v2.h\n"
                         "v_fmac_f16_e64 v6.h, -v2.l, v2.h clamp\n"
                         "v_fmac_f16_dpp v7.h, v2.l, v2.h quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(runner.v(3)[lane], 0x3C00'4C00u) << lane;  // 16
      EXPECT_EQ(runner.v(4)[lane], 0x4700'4900u) << lane;  // 7
      EXPECT_EQ(runner.v(5)[lane], 0xC500'4900u) << lane;  // -5
      EXPECT_EQ(runner.v(6)[lane], 0x0000'4900u) << lane;
      EXPECT_EQ(runner.v(7)[lane], 0x4700'4900u) << lane;
    }
  }
}

/// V_MOVREL*: the numbers of registers from M0.
TEST(Rdna, MovesBetweenRegistersByNumber) {
  WaveRunner runner("gfx1030", "", 32);
  for (unsigned i = 10; i < 20; ++i) runner.v(i)[5] = 100 + i;
  ASSERT_EQ(runner.run("s_mov_b32 m0, 3\n"
                       "v_movrels_b32 v1, v10\n"
                       "v_movreld_b32 v20, v11\n"
                       "s_mov_b32 m0, 0x20004\n"
                       "v_movrelsd_2_b32 v30, v10\n"
                       "v_swaprel_b32 v15, v12"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[5], 113u);
  EXPECT_EQ(runner.v(23)[5], 111u);
  EXPECT_EQ(runner.v(32)[5], 114u);
  EXPECT_EQ(runner.v(17)[5], 116u);  // v[15 + 2] and v[12 + 4]
  EXPECT_EQ(runner.v(16)[5], 117u);
}

/// V_MUL_LO_I32, which GFX10.1 has besides V_MUL_LO_U32.
TEST(Rdna, ProductsOfSignedIntegers) {
  for (const char* gpu : {"gfx1010", "gfx1012"}) {
    for (const unsigned wave_size : {32u, 64u}) {
      WaveRunner runner(gpu, "", wave_size);
      constexpr uint64_t exec = 0xF0F0'1234'8765'4321;
      runner.wave().set_exec(exec);
      runner.s(3) = 0xFFFF'FFF9;
      for (unsigned lane = 0; lane < 64; ++lane) {
        runner.v(1)[lane] = 0x9E37'79B9 * lane + 0x8000'0000;
        runner.v(2)[lane] = runner.v(3)[lane] = 5;
      }
      ASSERT_EQ(runner.run("v_mul_lo_i32 v2, v1, s3\nv_mul_lo_i32 v3, v1, v1"), WaveState::ended);
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        const bool on = (exec >> lane & 1) != 0;
        const int64_t number = static_cast<int32_t>(runner.v(1)[lane]);
        EXPECT_EQ(runner.v(2)[lane], on ? static_cast<uint32_t>(number * -7) : 5) << lane;
        EXPECT_EQ(runner.v(3)[lane], on ? static_cast<uint32_t>(number * number) : 5) << lane;
      }
    }
  }
}

/// "Barriers" of GFX12: a wave that has signalled goes on until it waits.
TEST(Rdna, BarriersAreSignalledAndWaitedFor) {
  WaveRunner runner("gfx1201");
  runner.group().waves_running = 2;  // another has not arrived
  EXPECT_EQ(runner.run("s_barrier_signal_isfirst -1\n"
                       "s_cselect_b32 s0, 1, 0\n"
                       "s_barrier_wait -1\n"
                       "s_mov_b32 s1, 1"),
            WaveState::waits_at_barrier);
  EXPECT_EQ(runner.s(0), 1u);
  EXPECT_EQ(runner.s(1), 0u);
  EXPECT_FALSE(machine::passes_barrier(runner.wave()));
  ++runner.group().barrier.arrived;  // it arrives
  EXPECT_TRUE(machine::complete_barrier(runner.group()));
  EXPECT_TRUE(machine::passes_barrier(runner.wave()));
  EXPECT_EQ(runner.resume(), WaveState::ended);
  EXPECT_EQ(runner.s(1), 1u);
}

}  // namespace
}  // namespace Atoll

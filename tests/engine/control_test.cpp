// Branches, calls, waits, traps, hardware registers, and what ends a wave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::Fault;
using machine::WaveState;
using test::WaveRunner;

TEST(Control, LoopsUntilTheConditionFails) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 s0, 10
      s_mov_b32 s1, 0
    loop:
      s_add_u32 s1, s1, s0
      s_sub_u32 s0, s0, 1
      s_cmp_lg_u32 s0, 0
      s_cbranch_scc1 loop)"),
            WaveState::ended);
  EXPECT_EQ(runner.s(1), 55u);
  EXPECT_EQ(runner.wave().instructions, 2u + 10 * 4 + 2);
}

TEST(Control, EachConditionTakesItsBranch) {
  const struct {
    const char* setup;
    const char* branch;
    bool taken;
  } cases[] = {
      {"s_cmp_eq_u32 s10, 0", "s_cbranch_scc1", true}, {"s_cmp_eq_u32 s10, 1", "s_cbranch_scc1", false},
      {"s_cmp_eq_u32 s10, 1", "s_cbranch_scc0", true}, {"s_cmp_eq_u32 s10, 0", "s_cbranch_scc0", false},
      {"s_mov_b64 vcc, 0", "s_cbranch_vccz", true},    {"s_mov_b64 vcc, 4", "s_cbranch_vccz", false},
      {"s_mov_b64 vcc, 4", "s_cbranch_vccnz", true},   {"s_mov_b64 vcc, 0", "s_cbranch_vccnz", false},
      {"s_mov_b64 exec, 0", "s_cbranch_execz", true},  {"s_mov_b64 exec, 8", "s_cbranch_execz", false},
      {"s_mov_b64 exec, 8", "s_cbranch_execnz", true}, {"s_mov_b64 exec, 0", "s_cbranch_execnz", false},
      {"s_nop 0", "s_cbranch_cdbgsys", false},         {"s_nop 0", "s_branch", true},
  };
  for (const auto& c : cases) {
    WaveRunner runner;
    EXPECT_EQ(runner.run(std::string(c.setup) + "\n" + c.branch + " there\ns_mov_b32 s0, 1\nthere: s_mov_b32 s1, 1"),
              WaveState::ended);
    EXPECT_EQ(runner.s(0), c.taken ? 0u : 1u) << c.setup << "; " << c.branch;
    EXPECT_EQ(runner.s(1), 1u);
  }
}

TEST(Control, CallsReturnBehindTheCall) {
  for (const char* processor : {"gfx900", "gfx942"}) {
    WaveRunner runner(processor);
    EXPECT_EQ(runner.run(R"(
        s_getpc_b64 s[4:5]
      here:
        s_add_u32 s4, s4, function-here
        s_addc_u32 s5, s5, 0
        s_swappc_b64 s[30:31], s[4:5]
        s_call_b64 s[30:31], function
        s_endpgm
      function:
        s_add_u32 s0, s0, 1
        s_setpc_b64 s[30:31])"),
              WaveState::ended);
    EXPECT_EQ(runner.s(0), 2u);
  }
}

TEST(Control, CodeGoesOnAcrossPagesOfTheCache) {
  WaveRunner runner;
  std::string source = "s_branch start\n.p2align 12\nstart:\n";
  source += "s_mov_b32 s9, 3\nagain:\n";
  for (unsigned i = 0; i < 3000; ++i) source += "s_add_u32 s0, s0, 0x10001\n";  // 8 bytes each
  source += "s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 again\n";
  EXPECT_EQ(runner.run(source), WaveState::ended);
  EXPECT_EQ(runner.s(0), 9000u * 0x10001u);
}

TEST(Control, ASpentBudgetGivesTheWaveBackAtABranch) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("loop: s_add_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 1000\ns_cbranch_scc1 loop", 100), WaveState::ready);
  EXPECT_GE(runner.wave().instructions, 100u);
  EXPECT_LE(runner.wave().instructions, 110u);
  unsigned turns = 1;
  while (runner.resume(100) == WaveState::ready) ++turns;
  EXPECT_EQ(runner.wave().state, WaveState::ended);
  EXPECT_EQ(runner.s(0), 1000u);
  EXPECT_GE(turns, 29u);
  EXPECT_EQ(runner.wave().instructions, 3002u);
}

TEST(Control, BarriersAndSleepsGiveTheWaveBackAndGoOnBehind) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("s_mov_b32 s0, 1\ns_barrier\ns_mov_b32 s0, 2\ns_sleep 1\ns_mov_b32 s0, 3"),
            WaveState::at_barrier);
  EXPECT_EQ(runner.s(0), 1u);
  EXPECT_EQ(runner.resume(), WaveState::ready);
  EXPECT_EQ(runner.s(0), 2u);
  EXPECT_EQ(runner.resume(), WaveState::ended);
  EXPECT_EQ(runner.s(0), 3u);
}

// Two waves at a barrier of the whole GPU: the first waits until the second has come, twice.
TEST(Control, GlobalWaveSyncHoldsWavesUntilAllHaveCome) {
  WaveRunner runner;
  const auto state = runner.run(R"(
      v_mov_b32 v2, 1
      s_mov_b32 m0, 0x30000
      ds_gws_init v2 offset:4 gds
      s_sleep 0
      ds_gws_barrier v2 offset:4 gds
      s_mov_b32 s0, 1
      ds_gws_barrier v2 offset:4 gds
      s_mov_b32 s0, 2)");
  ASSERT_EQ(state, WaveState::ready);  // after s_sleep
  const machine::Wave& first = runner.wave();
  machine::Wave second{};
  std::copy(std::begin(first.scalar), std::end(first.scalar), second.scalar);
  second.pc = first.pc;
  second.vgpr = first.vgpr;
  second.vgprs = first.vgprs;
  second.work_group = first.work_group;

  EXPECT_EQ(runner.resume(), WaveState::ready);
  EXPECT_EQ(runner.resume(), WaveState::ready);
  EXPECT_EQ(runner.s(0), 0u);
  EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ready);  // passes the first barrier, waits at the second
  EXPECT_EQ(second.scalar[0], 1u);
  EXPECT_EQ(runner.resume(), WaveState::ended);
  EXPECT_EQ(runner.s(0), 2u);
  EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ended);
}

TEST(Control, Trap2AbortsAndTrap3GoesOn) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("s_trap 3\ns_mov_b32 s0, 1\ns_trap 2\ns_mov_b32 s0, 2"), WaveState::faulted);
  EXPECT_EQ(runner.s(0), 1u);
  ASSERT_NE(runner.wave().fault, nullptr);
  EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::abort);
  EXPECT_EQ(runner.wave().fault->pc, runner.code_address() + 8);
}

TEST(Control, WhatAtollLacksIsNamed) {
  WaveRunner runner("gfx900");
  EXPECT_EQ(runner.run("ds_ordered_count v0, v1 gds"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::illegal_instruction);
  EXPECT_THAT(runner.wave().fault->what, testing::HasSubstr("ds_ordered_count"));
}

TEST(Control, BytesThatAreNoInstructionFault) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("s_nop 0\n.long 0xffffffff"), WaveState::faulted);
  EXPECT_EQ(runner.wave().fault->kind, Fault::Kind::illegal_instruction);
  EXPECT_EQ(runner.wave().fault->pc, runner.code_address() + 4);
}

TEST(Control, ChangedCodeIsDecodedAnew) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("s_mov_b32 s0, 1"), WaveState::ended);
  EXPECT_EQ(runner.run("s_mov_b32 s0, 2"), WaveState::ended);
  EXPECT_EQ(runner.s(0), 2u);
}

TEST(Control, ForksRunBothWaysAndJoin) {
  WaveRunner runner("gfx900");
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 s40, 0
      s_mov_b64 s[44:45], exec
      v_cmp_gt_u32 vcc, 10, v0
      s_cbranch_i_fork vcc, less
      v_mov_b32 v1, 100
      s_add_u32 s42, s42, 1
      s_branch meet
    less:
      v_mov_b32 v1, 200
      s_add_u32 s43, s43, 1
    meet:
      s_cbranch_join s40
      s_mov_b64 s[46:47], exec
      s_mov_b64 exec, s[44:45]
      v_add_u32 v1, 1, v1
      s_getreg_b32 s41, hwreg(HW_REG_MODE, 29, 3))"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], lane < 10 ? 201u : 101u);
  EXPECT_EQ(runner.s(41), 0u);
  EXPECT_EQ(runner.s(42), 1u);
  EXPECT_EQ(runner.s(43), 1u);
  EXPECT_EQ(runner.wave().scalar64(46), ~uint64_t{0x3FF});  // the lanes that came last
}

// --- Hardware registers ---------------------------------------------------------------------------------------------

TEST(HardwareRegisters, SetregChangesFieldsOfModeAndHowArithmeticRounds) {
  WaveRunner runner;
  // 1 + 2^-24 lies between two floats: up or down as the rounding mode says.
  EXPECT_EQ(runner.run(R"(
      v_mov_b32 v1, 1.0
      v_mov_b32 v2, 0x33800000
      v_add_f32 v3, v1, v2
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
      v_add_f32 v4, v1, v2
      s_mov_b32 s1, 2
      s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s1
      v_add_f32 v5, v1, v2
      s_getreg_b32 s2, hwreg(HW_REG_MODE)
      s_getreg_b32 s3, hwreg(HW_REG_MODE, 4, 4))"),
            WaveState::ended);
  EXPECT_EQ(runner.v(3)[7], 0x3F800000u);
  EXPECT_EQ(runner.v(4)[7], 0x3F800001u);
  EXPECT_EQ(runner.v(5)[7], 0x3F800000u);
  EXPECT_EQ(runner.s(2), 0x3F2u);
  EXPECT_EQ(runner.s(3), 0xFu);
}

TEST(HardwareRegisters, DenormalsAreFlushedWhenModeSaysSo) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      v_mov_b32 v1, 0x00400000
      v_add_f32 v2, v1, v1
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
      v_add_f32 v3, v1, v1)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(2)[0], 0x00800000u);
  EXPECT_EQ(runner.v(3)[0], 0u);
}

TEST(HardwareRegisters, AperturesComeFromRegistersAndOperands) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES, 16, 16)
      s_lshl_b32 s0, s0, 16
      s_getreg_b32 s1, hwreg(HW_REG_SH_MEM_BASES, 0, 16)
      s_lshl_b32 s1, s1, 16
      s_mov_b64 s[2:3], src_shared_base
      s_mov_b64 s[4:5], src_private_base)"),
            WaveState::ended);
  EXPECT_EQ(runner.s(0), runner.s(3));
  EXPECT_EQ(runner.s(1), runner.s(5));
  EXPECT_EQ(runner.s(2), 0u);
}

TEST(HardwareRegisters, StatusTellsSccAndZeroMasks) {
  WaveRunner runner;
  EXPECT_EQ(runner.run(R"(
      s_mov_b64 vcc, 0
      s_cmp_eq_u32 s0, 0
      s_getreg_b32 s1, hwreg(HW_REG_STATUS, 0, 1)
      s_getreg_b32 s2, hwreg(HW_REG_STATUS, 9, 2)
      s_mov_b64 exec, 0
      s_getreg_b32 s3, hwreg(HW_REG_STATUS, 9, 2))"),
            WaveState::ended);
  EXPECT_EQ(runner.s(1), 1u);
  EXPECT_EQ(runner.s(2), 2u);
  EXPECT_EQ(runner.s(3), 3u);
}

TEST(HardwareRegisters, ClocksOnlyGoForward) {
  WaveRunner runner;
  EXPECT_EQ(runner.run("s_memtime s[0:1]\ns_memrealtime s[2:3]\ns_memtime s[4:5]\ns_waitcnt lgkmcnt(0)"),
            WaveState::ended);
  EXPECT_NE(runner.wave().scalar64(0), 0u);
  EXPECT_GE(runner.wave().scalar64(4), runner.wave().scalar64(0));
}

// --- Registers chosen at run time -----------------------------------------------------------------------------------

TEST(RegisterIndex, GprIndexModeMovesSourcesAndResults) {
  WaveRunner runner;
  for (unsigned i = 10; i < 20; ++i) {
    for (uint32_t& lane : runner.v(i)) lane = 100 + i;
  }
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 s0, 3
      s_set_gpr_idx_on s0, gpr_idx(SRC0)
      v_mov_b32 v1, v10
      s_set_gpr_idx_off
      v_mov_b32 v2, v10
      s_set_gpr_idx_on s0, gpr_idx(DST)
      v_mov_b32 v20, v11
      s_set_gpr_idx_mode gpr_idx(SRC0,SRC1)
      v_add_u32 v4, v10, v12
      s_mov_b32 s1, 5
      s_set_gpr_idx_idx s1
      v_add_u32 v5, v10, v12
      s_set_gpr_idx_off)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[5], 113u);
  EXPECT_EQ(runner.v(2)[5], 110u);
  EXPECT_EQ(runner.v(23)[5], 111u);
  EXPECT_EQ(runner.v(20)[5], 0u);
  EXPECT_EQ(runner.v(4)[5], 113u + 115u);
  EXPECT_EQ(runner.v(5)[5], 115u + 117u);
}

TEST(RegisterIndex, LoopsInGprIndexModeKeepTheirCount) {
  WaveRunner runner;
  for (unsigned i = 10; i < 20; ++i) {
    for (uint32_t& lane : runner.v(i)) lane = i;
  }
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 s0, 0
      s_set_gpr_idx_on s0, gpr_idx(SRC0)
    loop:
      s_set_gpr_idx_idx s0
      v_add_u32 v1, v10, v1
      s_add_u32 s0, s0, 1
      s_cmp_lg_u32 s0, 10
      s_cbranch_scc1 loop
      s_set_gpr_idx_off)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[63], 145u);
  EXPECT_EQ(runner.wave().instructions, 2u + 10 * 5 + 3);
}

TEST(RegisterIndex, AnIndexPastTheWavesRegistersReadsV0AndWritesNothing) {
  WaveRunner runner;
  runner.wave().vgprs = 32;
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 s0, 200
      s_set_gpr_idx_on s0, gpr_idx(SRC0)
      v_mov_b32 v1, v10
      s_set_gpr_idx_off
      v_mov_b32 v2, 7
      s_set_gpr_idx_on s0, gpr_idx(DST)
      v_mov_b32 v3, v2
      s_set_gpr_idx_off)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[9], 9u);
  EXPECT_EQ(runner.v(203)[9], 0u);
}

TEST(RegisterIndex, MovrelMovesTheScalarRegister) {
  WaveRunner runner;
  for (unsigned i = 0; i < 20; ++i) runner.s(i) = 1000 + i;
  EXPECT_EQ(runner.run(R"(
      s_mov_b32 m0, 4
      s_movrels_b32 s30, s1
      s_movrels_b64 s[32:33], s[2:3]
      s_movreld_b32 s40, s0
      s_movreld_b64 s[50:51], s[8:9])"),
            WaveState::ended);
  EXPECT_EQ(runner.s(30), 1005u);
  EXPECT_EQ(runner.s(32), 1006u);
  EXPECT_EQ(runner.s(33), 1007u);
  EXPECT_EQ(runner.s(44), 1000u);
  EXPECT_EQ(runner.s(54), 1008u);
  EXPECT_EQ(runner.s(55), 1009u);
}

TEST(RegisterIndex, VskipPassesOverVectorInstructions) {
  WaveRunner runner("gfx900");
  EXPECT_EQ(runner.run(R"(
      s_setvskip -1, 0
      v_mov_b32 v1, 1
      s_mov_b32 s0, 5
      s_setvskip 0, 0
      v_mov_b32 v2, 2)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[0], 0u);
  EXPECT_EQ(runner.v(2)[0], 2u);
  EXPECT_EQ(runner.s(0), 5u);
}

}  // namespace
}  // namespace Atoll

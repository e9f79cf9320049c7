// Translated code against the interpreter: regions of vector instructions, straight on and in loops.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <list>
#include <random>

#include "comparison.h"

namespace Atoll::test {
namespace {

TEST(StraightLine, KeepsLanesThatExecLeavesOut) {
  Comparison(R"(
    v_add_u32 v5, v0, v1
    v_cmp_gt_u32 vcc, 40, v0
    s_and_saveexec_b64 s[4:5], vcc
    v_add_u32 v5, v5, v2
    v_mov_b32 v6, v5
    v_cmp_lt_u32 s[6:7], 10, v0
    s_andn2_b64 exec, exec, s[6:7]
    v_sub_u32 v5, v5, v6
    v_mov_b32 v7, v5
    s_or_b64 exec, exec, s[4:5]
    v_add_u32 v7, v7, v5)")
      .with([](WaveRunner& runner) { runner.wave().set_exec(0x00FF'FFFF'0F0F'1234); })
      .run();
}

TEST(StraightLine, ExecMayGrowBeyondWhatItWas) {
  Comparison(R"(
    v_add_u32 v5, v0, v1
    s_mov_b64 s[4:5], exec
    s_not_b64 exec, exec
    v_add_u32 v5, v0, v2
    v_cmp_gt_u32 vcc, 33, v0
    s_mov_b64 exec, -1
    v_cndmask_b32 v6, v5, v1, vcc
    s_mov_b64 exec, s[4:5]
    v_add_u32 v6, v6, v5)")
      .with([](WaveRunner& runner) { runner.wave().set_exec(0x00FF'FFFF'0F0F'1234); })
      .run();
}

TEST(StraightLine, AccessesBuffersInPlace) {
  std::list<std::vector<uint32_t>> memories;
  Comparison comparison(R"(
    s_mov_b32 s6, 203
    s_mov_b32 s7, 0
    v_lshlrev_b32 v1, 2, v0
    buffer_load_dwordx2 v[4:5], v1, s[4:7], 0 offen
    buffer_load_ushort v6, v1, s[4:7], s8 offen offset:2
    v_add_u32 v4, v4, v6
    buffer_store_dword v4, v1, s[4:7], s8 offen
    buffer_atomic_umax v5, v1, s[4:7], 0 offen glc
    s_or_b32 s5, s5, 0x80000
    buffer_load_dword v7, v0, s[4:7], 0 idxen
    s_mov_b64 s[4:5], 0)");
  comparison.with([&](WaveRunner& runner) {
    std::vector<uint32_t>& memory = memories.emplace_back(512);
    for (unsigned i = 0; i < memory.size(); ++i) memory[i] = i * 2654435761u;
    runner.set_pair(4, memory.data());
    runner.s(8) = 16;
  });
  comparison.run();
  EXPECT_EQ(memories.front(), memories.back());
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  EXPECT_EQ(comparison.times_given_back(), 0u);
}

TEST(StraightLine, WhatIsOfTheWaveNeedsNoStep) {
  Comparison comparison(R"(
    s_mov_b32 m0, 64
    v_add_u32 v1, v1, v0
    v_swap_b32 v1, v2
    v_add_u32 v1, v1, v0
    ds_append v5 offset:8
    v_cmp_gt_u32 vcc, 40, v0
    s_and_saveexec_b64 s[4:5], vcc
    v_swap_b32 v2, v3
    v_swap_b32 v4, v4
    ds_consume v6 offset:8
    ds_append v7 offset:65532
    s_getreg_b32 s10, hwreg(HW_REG_MODE, 0, 8)
    s_getreg_b32 s11, hwreg(HW_REG_STATUS)
    s_mov_b64 exec, 0
    s_getreg_b32 s12, hwreg(HW_REG_STATUS)
    s_mov_b64 exec, s[4:5]
    ds_append v8 offset:8
    v_add_u32 v8, v8, v2)");
  comparison.with([](WaveRunner& runner) { runner.wave().set_exec(0x00FF'FFFF'0F0F'1234); }).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

TEST(StraightLine, ClocksNeedNoStep) {
  Comparison comparison(R"(
    s_memrealtime s[4:5]
    s_memtime s[6:7]
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u64 s[4:5], s[6:7]
    s_mov_b64 s[4:5], 0
    s_mov_b64 s[6:7], 0
    s_cmp_eq_u64 s[4:5], s[6:7])");
  comparison.run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

TEST(StraightLine, MasksOfIdleChunksAreMadeToo) {
  Comparison(R"(
    v_cmp_gt_u32 vcc, 40, v0
    s_not_b64 s[6:7], vcc
    s_or_b64 s[8:9], s[8:9], vcc
    s_xor_b64 s[10:11], vcc, -1
    v_cndmask_b32 v6, v1, v2, s[6:7])")
      .with([](WaveRunner& runner) { runner.wave().set_exec(0x0000'0000'0F0F'0000); })
      .run();
}

TEST(StraightLine, SccOfMasksIsTheWholeWaves) {
  for (const unsigned limit : {0u, 10u, 40u, 64u}) {
    Comparison(R"(
      v_cmp_gt_u32 vcc, s20, v0
      s_and_b64 s[6:7], vcc, exec
      s_cselect_b32 s8, 1, 2
      v_cmp_gt_u32 vcc, s20, v0
      s_nor_b64 s[6:7], vcc, vcc)")
        .with([&](WaveRunner& runner) { runner.s(20) = limit; })
        .run();
  }
}

TEST(StraightLine, HalvesOfMasksAreWords) {
  Comparison(R"(
    v_cmp_gt_u32 vcc, 40, v0
    s_mov_b32 vcc_hi, s3
    v_cndmask_b32 v6, v1, v2, vcc
    v_cmp_gt_u32 s[4:5], 40, v0
    v_add_u32 v7, s5, v0
    s_mov_b64 s[4:5], 7
    v_cndmask_b32 v8, v1, v2, s[4:5]
    v_cmp_gt_u32 s[4:5], 30, v0
    s_mov_b64 s[4:5], s[6:7]
    v_addc_co_u32 v9, s[4:5], v1, v2, s[4:5])")
      .run();
}

/// EXEC and inputs that take chunks different ways: some without lanes at the beginning.
void uneven(WaveRunner& runner) {
  runner.wave().set_exec(0xFFFF'0F0F'0000'FFF1);
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = lane % 16 < 8 ? lane / 4 : lane * 5 % 23;
}

void check_loop(const std::string& source, unsigned regions = 1) {
  for (const auto& setup : {+[](WaveRunner& runner) { uneven(runner); },
                            +[](WaveRunner& runner) {
                              uneven(runner);
                              runner.wave().set_exec(~uint64_t{0});
                            },
                            +[](WaveRunner& runner) {
                              uneven(runner);
                              runner.wave().set_exec(0);
                            }}) {
    Comparison comparison(source);
    comparison.with(setup).run();
    std::string plan;
    for (unsigned i = 0; i < regions; ++i) plan += "loop region\n";
    EXPECT_THAT(comparison.plan(), HasPlan(plan + "NOT: loop region")) << source;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Loops, AllLanesAlike) {
  check_loop(R"(
    s_movk_i32 s4, 37
  loop:
    v_mul_lo_u32 v2, v2, v1
    v_add_u32 v2, v2, v0
    v_xor_b32 v3, s4, v2
    v_addc_co_u32 v4, vcc, v4, v3, vcc
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    v_add_u32 v5, v4, s4)");
}

TEST(Loops, EachLaneLeavesWhenItIsDone) {
  check_loop(R"(
    s_mov_b64 s[2:3], 0
    v_mov_b32 v2, 0
  loop:
    v_add_u32 v2, 3, v2
    v_cmp_ge_u32 vcc, v2, v1
    s_or_b64 s[2:3], vcc, s[2:3]
    s_andn2_b64 exec, exec, s[2:3]
    s_cbranch_execnz loop
    s_or_b64 exec, exec, s[2:3]
    s_mov_b64 vcc, 0
    s_cmp_eq_u32 s4, s5
    v_add_u32 v3, v2, v0)");
}

// As clang compiles bench/kernels.cl, mandelbrot: the counter s12 is written where a chunk without lanes would not go,
// within a round.
TEST(Loops, AScalarCounterOfLanesThatGoOn) {
  check_loop(R"(
    s_mov_b32 s12, 0
    s_mov_b32 s1, 11
    s_mov_b64 s[2:3], 0
    s_mov_b64 s[20:21], exec
    s_branch test
  done:
    s_or_b64 exec, exec, s[10:11]
    s_and_b64 s[10:11], exec, s[8:9]
    s_or_b64 s[2:3], s[10:11], s[2:3]
    s_andn2_b64 exec, exec, s[2:3]
    s_cbranch_execz out
  test:
    v_add_u32 v5, v5, v1
    v_cmp_gt_u32 vcc, v1, v4
    v_mov_b32 v7, s12
    s_or_b64 s[8:9], s[8:9], exec
    s_and_saveexec_b64 s[10:11], vcc
    s_cbranch_execz done
    s_add_i32 s12, s12, 1
    s_cmp_eq_u32 s1, s12
    s_cselect_b64 s[14:15], -1, 0
    v_add_u32 v4, v4, 2
    s_andn2_b64 s[8:9], s[8:9], exec
    s_and_b64 s[14:15], s[14:15], exec
    v_mov_b32 v7, s1
    s_or_b64 s[8:9], s[8:9], s[14:15]
    s_branch done
  out:
    s_mov_b64 exec, s[20:21]
    s_mov_b32 s12, 0
    s_mov_b64 s[8:9], 0
    s_mov_b64 s[10:11], 0
    s_mov_b64 s[14:15], 0
    s_mov_b64 vcc, 0
    s_cmp_eq_u32 s12, 1
    v_add_u32 v6, v7, v4)",
             0);
}

// As above, but the counter's result is used: it counts lanes of the wave, not of a chunk.
TEST(Loops, AScalarCounterThatIsNeededIsTheWaves) {
  check_loop(R"(
    s_mov_b32 s12, 0
    s_mov_b64 s[2:3], 0
    v_mov_b32 v2, 0
  loop:
    s_add_i32 s12, s12, 1
    v_add_u32 v2, 3, v2
    v_cmp_ge_u32 vcc, v2, v1
    s_or_b64 s[2:3], vcc, s[2:3]
    s_andn2_b64 exec, exec, s[2:3]
    s_cbranch_execnz loop
    s_or_b64 exec, exec, s[2:3]
    v_add_u32 v3, v2, s12)",
             0);
}

// In each round the wave does what any chunk does: no chunk's instructions are as many as the wave's.
TEST(Loops, ConditionsWithinLoops) {
  check_loop(R"(
    s_movk_i32 s4, 9
  loop:
    v_and_b32 v6, v2, v1
    v_cmp_lt_u32 vcc, s4, v1
    s_and_saveexec_b64 s[6:7], vcc
    s_xor_b64 s[6:7], exec, s[6:7]
    s_cbranch_execz otherwise
    v_add_u32 v2, v2, v6
    s_mul_i32 s9, s4, 5
    v_mul_lo_u32 v3, v3, s9
  otherwise:
    s_andn2_saveexec_b64 s[6:7], s[6:7]
    s_cbranch_execz both
    v_sub_u32 v2, v2, v6
    v_mov_b32 v8, v6
  both:
    s_or_b64 exec, exec, s[6:7]
    v_add_u32 v4, v4, v2
    s_sub_u32 s4, s4, 1
    s_cbranch_scc0 loop
    s_mov_b32 s9, 0
    v_add_u32 v5, v4, v8)",
             0);
}

TEST(Loops, WithinLoops) {
  check_loop(R"(
    s_movk_i32 s4, 5
    s_mov_b64 s[20:21], exec
  outer:
    s_mov_b64 s[2:3], 0
    s_mov_b64 s[8:9], exec
    v_mov_b32 v2, 0
  inner:
    v_add_u32 v2, s4, v2
    v_add_u32 v3, v3, v2
    v_cmp_gt_u32 vcc, v2, v1
    s_or_b64 s[2:3], vcc, s[2:3]
    s_andn2_b64 exec, exec, s[2:3]
    s_cbranch_execnz inner
    s_or_b64 exec, exec, s[2:3]
    v_xor_b32 v4, v3, v2
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 outer
    s_mov_b64 vcc, 0
    v_add_u32 v5, v4, v3)");
}

TEST(Loops, MasksThatToggle) {
  check_loop(R"(
    s_mov_b64 s[2:3], 0
    s_mov_b64 s[8:9], 0
    v_mov_b32 v2, 0
  loop:
    s_not_b64 s[8:9], s[8:9]
    v_add_u32 v2, 3, v2
    v_cndmask_b32 v3, v1, v2, s[8:9]
    v_cmp_ge_u32 vcc, v2, v1
    s_or_b64 s[2:3], vcc, s[2:3]
    s_andn2_b64 exec, exec, s[2:3]
    s_cbranch_execnz loop
    s_or_b64 exec, exec, s[2:3]
    v_cndmask_b32 v4, v1, v2, s[8:9])",
             0);
}

TEST(Loops, ExecWrittenInOddWays) {
  check_loop(R"(
    s_mov_b64 s[2:3], 0
    s_mov_b64 s[20:21], exec
    v_mov_b32 v2, 0
  loop:
    v_add_u32 v2, 3, v2
    v_cmp_ge_u32 vcc, v2, v1
    s_or_b64 s[2:3], vcc, s[2:3]
    s_andn2_b64 exec, exec, s[2:3]
    s_not_b64 exec, exec
    v_add_u32 v3, v3, v2
    s_not_b64 exec, exec
    s_cbranch_execnz loop
    s_mov_b64 exec, s[20:21])",
             0);
  check_loop(R"(
    s_movk_i32 s4, 5
    s_mov_b64 s[20:21], exec
  loop:
    s_xor_b64 exec, exec, -1
    v_add_u32 v2, v2, v1
    s_mov_b64 exec, -1
    v_add_u32 v3, v2, v1
    s_mov_b64 exec, s[20:21]
    v_add_u32 v4, v2, v1
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop)");
}

// Code with an unknown mask.
TEST(Loops, ConditionsThatAreTheSameForAllLanes) {
  check_loop(R"(
    s_movk_i32 s4, 9
    s_mov_b64 s[2:3], 0
    v_mov_b32 v2, 0
  loop:
    v_add_u32 v2, 3, v2
    s_cmp_gt_u32 s4, 5
    s_cselect_b64 s[6:7], -1, 0
    s_and_b64 vcc, exec, s[6:7]
    s_cbranch_vccz over
    v_add_u32 v3, v2, v3
  over:
    v_cmp_ge_u32 vcc, v2, v1
    s_or_b64 s[2:3], vcc, s[2:3]
    s_sub_u32 s4, s4, 1
    s_andn2_b64 exec, exec, s[2:3]
    s_cbranch_execnz loop
    s_or_b64 exec, exec, s[2:3]
    s_mov_b32 s4, 0
    s_mov_b64 s[6:7], 0
    s_mov_b64 vcc, 0
    s_cmp_eq_u32 s4, 1
    v_add_u32 v4, v2, v3)",
             0);
}

TEST(Loops, SeveralWaysOut) {
  check_loop(R"(
    s_movk_i32 s4, 9
  loop:
    v_add_u32 v2, 3, v2
    s_cmp_eq_u32 s4, s5
    s_cbranch_scc1 early
    v_add_u32 v3, v2, v3
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    v_add_u32 v4, v2, v3
    s_branch end
  early:
    v_add_u32 v4, s4, v3
  end:
    v_add_u32 v5, s4, v4)");
}

TEST(Loops, VectorCompareAndExecAtOnce) {
  check_loop(R"(
    s_mov_b64 s[20:21], exec
    v_mov_b32 v2, 0
  loop:
    v_add_u32 v2, 3, v2
    v_add_u32 v3, v3, v2
    v_cmpx_lt_u32 vcc, v2, v1
    s_cbranch_execnz loop
    s_mov_b64 exec, s[20:21]
    s_mov_b64 vcc, 0
    v_add_u32 v4, v2, v3)");
}

// A chunk that runs a loop cannot be interrupted: one that waits for another wave must be given back by itself.
TEST(Loops, ThatWaitForOthersAreGivenBack) {
  Comparison comparison(R"(
  wait:
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    v_cmp_eq_u32 vcc, 0, v2
    s_and_b64 s[2:3], vcc, exec
    s_mov_b64 exec, s[2:3]
    s_cbranch_execnz wait
    s_mov_b64 exec, -1
    s_mov_b64 vcc, 0
    s_cmp_eq_u32 s4, s5)");
  comparison
      .with([](WaveRunner& runner) {
        for (uint32_t& lane : runner.v(1)) lane = 16;
      })
      .meanwhile([](WaveRunner& runner) { runner.lds()[16] = 1; })
      .run();
  // It looks at the same place again and again, and is interrupted like any other code.
  EXPECT_THAT(comparison.plan(), HasPlan("NOT: loop region"));
  EXPECT_EQ(comparison.times_given_back(), 1u);
}

TEST(Loops, ThatAreLongGetThrough) {
  static const uint32_t ones[2] = {1, 1};
  Comparison comparison(R"(
    s_mov_b32 s4, 0x40000
    s_mov_b32 s6, 0
  loop:
    s_load_dword s8, s[30:31], s6
    s_waitcnt lgkmcnt(0)
    v_add_u32 v2, s8, v2
    s_xor_b32 s6, s6, 4
    s_sub_u32 s4, s4, s8
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop)");
  comparison.with([](WaveRunner& runner) { runner.set_pair(30, ones); }).run();
  EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
  EXPECT_GT(comparison.times_given_back(), 1u);
}

TEST(Loops, WhoseEndNobodyElseDecidesAreNotGivenBack) {
  static const uint32_t numbers[2] = {3, 5};
  Comparison comparison(R"(
    s_mov_b32 s4, 0x10000
    s_mov_b32 s6, 0
  loop:
    s_load_dword s8, s[30:31], s6
    s_waitcnt lgkmcnt(0)
    v_add_u32 v2, s8, v2
    s_xor_b32 s6, s6, 4
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop)");
  comparison.with([](WaveRunner& runner) { runner.set_pair(30, numbers); }).run();
  EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
  EXPECT_EQ(comparison.times_given_back(), 0u);
}

TEST(Loops, ScalarLoads) {
  static uint32_t table[64];
  for (uint32_t i = 0; i < 64; ++i) table[i] = i * i + 7;
  const std::string source = R"(
    s_movk_i32 s4, 20
  loop:
    s_load_dwordx2 s[8:9], s[30:31], 0x4
    s_waitcnt lgkmcnt(0)
    v_mul_lo_u32 v2, v2, s8
    v_add_u32 v2, s9, v2
    s_add_u32 s30, s30, 8
    s_addc_u32 s31, s31, 0
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop)";
  Comparison(source)
      .with([](WaveRunner& runner) {
        uneven(runner);
        runner.set_pair(30, table);
      })
      .run();
}

/// Lanes on and off in every way that a move between them can meet, in each chunk another.
void set_lanes_apart(WaveRunner& runner) { runner.wave().set_exec(0xFFFF'0FF3'A5C1'FFFE); }

TEST(Modifiers, LanesReadOthersOfTheirRow) {
  for (const char* control :
       {"quad_perm:[3,1,0,2]", "row_shl:1", "row_shl:7", "row_shr:3", "row_shr:15", "row_ror:5", "row_mirror",
        "row_half_mirror", "row_shr:1 row_mask:0x5 bank_mask:0xb", "row_shl:2 row_mask:0xf bank_mask:0xf bound_ctrl:0",
        "row_ror:9 row_mask:0xa bank_mask:0x6 bound_ctrl:0", "quad_perm:[0,0,2,2] row_mask:0xe bank_mask:0xf"}) {
    const std::string dpp =
        std::string(" ") + control + (std::strstr(control, "row_mask") ? "" : " row_mask:0xf bank_mask:0xf");
    Comparison comparison("v_mov_b32_dpp v5, v1" + dpp + "\nv_add_u32_dpp v6, v1, v2" + dpp +
                          "\nv_add_f32_dpp v7, -v1, |v2|" + dpp + "\nv_add_co_u32_dpp v8, vcc, v3, v4" + dpp +
                          "\nv_addc_co_u32_dpp v9, vcc, v5, v6, vcc" + dpp + "\nv_cndmask_b32_dpp v10, v1, v2, vcc" +
                          dpp + "\nv_mac_f32_dpp v11, v1, v2" + dpp + "\nv_mov_b32_dpp v1, v1" + dpp +
                          "\nv_add_u32 v12, v1, v0");
    comparison.with(set_lanes_apart).run();
    EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  }
}

TEST(Modifiers, LanesReadOthersOfTheWholeWave) {
  for (const char* control : {"wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1", "row_bcast:15", "row_bcast:31",
                              "row_bcast:15 row_mask:0xa bank_mask:0xf"}) {
    const std::string dpp =
        std::string(" ") + control + (std::strstr(control, "row_mask") ? "" : " row_mask:0xf bank_mask:0xf");
    for (const std::string bound : {"", " bound_ctrl:0"}) {
      Comparison comparison("v_add_u32 v1, v1, v0\nv_mov_b32_dpp v5, v1" + dpp + bound + "\nv_add_u32_dpp v6, v1, v2" +
                            dpp + bound + "\nv_add_co_u32_dpp v8, vcc, v3, v4" + dpp + bound +
                            "\nv_add_u32_dpp v1, v1, v1" + dpp + bound + "\nv_mov_b32_dpp v1, v1" + dpp + bound);
      comparison.with(set_lanes_apart).run();
      EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
    }
  }
  Comparison comparison(R"(
    v_add_u32 v3, v3, v0
    ds_bpermute_b32 v5, v1, v3
    v_lshlrev_b32 v6, 2, v0
    v_add_u32 v5, v5, v3
    ds_bpermute_b32 v6, v6, v6 offset:68
    ds_bpermute_b32 v3, v2, v3 offset:4
    v_add_u32 v7, v3, v6
    ds_swizzle_b32 v8, v7 offset:swizzle(BITMASK_PERM, "01pip")
    ds_swizzle_b32 v7, v7 offset:swizzle(SWAP, 16)
    ds_swizzle_b32 v9, v7 offset:swizzle(QUAD_PERM, 3, 1, 0, 2)
    s_waitcnt lgkmcnt(0)
    v_add_u32 v9, v9, v7)");
  comparison.with(set_lanes_apart).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

TEST(Modifiers, PartsOfRegisters) {
  Comparison comparison(R"(
    v_add_u32_sdwa v5, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
    v_add_u32_sdwa v6, sext(v1), sext(v2) dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 src1_sel:WORD_0
    v_add_u32_sdwa v7, v1, s3 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:DWORD src1_sel:BYTE_0
    v_mul_f32_sdwa v8, -v1, |v2| dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD
    v_lshlrev_b32_sdwa v9, v3, v4 dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:DWORD
    v_cmp_lt_u32_sdwa vcc, v1, v2 src0_sel:BYTE_1 src1_sel:BYTE_2
    v_cmp_lt_i32_sdwa s[6:7], sext(v1), v2 src0_sel:WORD_1 src1_sel:DWORD
    v_cndmask_b32_sdwa v10, v1, v2, vcc dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1
    v_add_f16_sdwa v11, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
    v_mov_b32_sdwa v6, v6 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_2
    v_add_u32 v12, v6, v11)");
  comparison.with(set_lanes_apart).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

TEST(Modifiers, HalvesSignsAndRanges) {
  for (const uint32_t mode : {0x3F0u, 0x1F0u, 0x2F0u}) {  // IEEE mode and DX10_CLAMP, each of them alone
    Comparison comparison(R"(
      v_add_f32 v5, v1, v2 clamp
      v_mul_f32 v6, v1, -|v2| mul:2
      v_max_f64 v[8:9], v[2:3], -v[4:5] clamp
      v_add_f16 v10, v1, v2 clamp
      v_mad_f16 v11, v1, v2, v3 op_sel:[1,0,1,1]
      v_mad_i16 v12, v1, v2, v3 op_sel:[0,1,0,1] clamp
      v_pk_add_f16 v13, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1] clamp
      v_pk_mul_lo_u16 v14, v1, v2 op_sel:[1,1] op_sel_hi:[0,0]
      v_pk_fma_f16 v15, v1, s2, v3 neg_lo:[0,1,1] neg_hi:[1,0,0]
      v_pk_fma_f32 v[16:17], v[2:3], v[4:5], v[6:7] op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[1,0,0]
      v_pk_mov_b32 v[18:19], v[2:3], v[4:5] op_sel:[1,0]
      v_fma_mix_f32 v20, v1, -v2, |v3| op_sel:[1,0,0] op_sel_hi:[1,0,1]
      v_fma_mixlo_f16 v21, v1, v2, 2.0 op_sel_hi:[1,1,0] clamp
      v_fma_mixhi_f16 v22, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[0,1,1]
      v_sub_i32 v23, v1, v2 clamp)");
    comparison
        .with([&](WaveRunner& runner) {
          set_lanes_apart(runner);
          runner.wave().mode = mode;
          runner.wave().float_mode = machine::float_mode_of(mode, runner.wave().float_mode);
        })
        .run();
    EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  }
}

/// Loads of lanes whose elements are near each other, in orders that no vector load has, up to an inaccessible page.
TEST(Loads, NearEachOther) {
  constexpr size_t page = 4096, pages = 3;
  auto* const memory = static_cast<uint8_t*>(
      mmap(nullptr, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + pages * page, page, PROT_NONE), 0);
  std::mt19937 random(3);
  for (size_t i = 0; i < pages * page; ++i) memory[i] = static_cast<uint8_t>(random());
  const std::string loads = R"(
    global_load_dword v10, v[2:3], off
    global_load_ushort v11, v[2:3], off
    global_load_sbyte v12, v[2:3], off
    global_load_dwordx2 v[14:15], v[2:3], off
    global_load_short_d16_hi v16, v[2:3], off
    global_load_dword v17, v4, s[8:9]
    global_load_dword v18, v4, s[8:9] offset:-4
    ds_read_b32 v19, v4
    ds_read_u16 v20, v4 offset:2
    ds_read_b64 v[22:23], v4
    s_waitcnt vmcnt(0) lgkmcnt(0)
)";
  const std::string loop = "s_movk_i32 s4, 2\nagain:\n" + loads +
                           "v_add_u32 v4, 4, v4\ns_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again\n";
  using Offset = uint32_t (*)(unsigned lane, unsigned noise);
  constexpr Offset orders[] = {
      [](unsigned lane, unsigned) { return lane % 4 * 4 + lane % 16 / 4 * 32 + lane / 16 * 144; },  // of structures
      [](unsigned lane, unsigned noise) { return lane / 16 * 200 + (lane % 16 == 0 ? 0 : noise % 31 * 4); },
      [](unsigned lane, unsigned noise) {
        return lane / 16 * 128 + (lane % 16 == 0 ? 0 : noise % 63 * 2);
      },  // to the end
      [](unsigned lane, unsigned noise) {
        return lane / 16 * 60 + (lane % 16 == 0 ? 0 : noise % 65 * 2);
      },                                                                           // beyond it
      [](unsigned lane, unsigned noise) { return lane / 16 * 60 + noise % 125; },  // odd, and before lane 0
      [](unsigned lane, unsigned) { return lane / 16 * 128 + (15 - lane % 16) * 8; },
      [](unsigned lane, unsigned) { return lane * 34 % 128 / 2 * 2; },
  };
  for (const std::string& code : {loads, loop}) {
    for (const Offset order : orders) {
      for (const size_t start : {size_t{64}, pages * page - 640, pages * page - 128 * 4 - 12, page - 300}) {
        for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x0001'FFFE'8421'7777}}) {
          Comparison comparison(code);
          comparison.with([&](WaveRunner& runner) {
            std::mt19937 noise(5);
            runner.wave().set_exec(exec);
            runner.set_pair(8, memory + start);
            for (unsigned i = 0; i < 4096; ++i) runner.lds()[i] = static_cast<uint8_t>(i * 7 + (i >> 8));
            for (unsigned lane = 0; lane < 64; ++lane) {
              const uint32_t offset = std::min<uint32_t>(order(lane, static_cast<unsigned>(noise())), 640 - 8 - 4);
              runner.v(4)[lane] = std::min<uint32_t>(offset, static_cast<uint32_t>(pages * page - start - 12));
            }
            runner.set_rows(
                2, [&](unsigned lane) { return reinterpret_cast<uint64_t>(memory + start) + runner.v(4)[lane]; });
          });
          comparison.run();
          EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
          EXPECT_EQ(comparison.times_given_back(), 0u);
          if (testing::Test::HasFailure())
            FAIL() << "order " << std::ranges::find(orders, order) - orders << " from " << start;
        }
      }
    }
  }
  munmap(memory, (pages + 1) * page);
}

/// GFX12: of bytes and halves, the offset is aligned and the base need not be.
TEST(ScalarLoads, OfBytesAndHalves) {
  std::array<uint8_t, 64> memory;
  for (unsigned i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(0x71 + i * 37);
  Comparison comparison(R"(
    s_load_u8 s8, s[4:5], 0x3
    s_load_i8 s9, s[4:5], s6 offset:0x1
    s_load_u16 s10, s[4:5], 0x6
    s_load_i16 s11, s[4:5], s6 offset:0x4
    s_wait_kmcnt 0
    v_add_nc_u32 v4, s10, v1)",
                        "gfx1200");
  comparison
      .with([&](WaveRunner& runner) {
        runner.set_pair(4, memory.data() + 1);
        runner.s(6) = 7;
      })
      .run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  EXPECT_EQ(comparison.expected().s(8), memory[4]);
  EXPECT_EQ(comparison.expected().s(9), static_cast<uint32_t>(static_cast<int8_t>(memory[9])));
  EXPECT_EQ(comparison.expected().s(10), memory[7] | memory[8] << 8);
  EXPECT_EQ(comparison.expected().s(11), static_cast<uint32_t>(static_cast<int16_t>(memory[11] | memory[12] << 8)));
}

}  // namespace
}  // namespace Atoll::test

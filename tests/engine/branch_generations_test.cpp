// Branches, calls and loops on each generation in each wave size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::Fault;
using machine::WaveState;
using test::Machine;
using test::WaveRunner;

/// Lets a wave that has run its program run it again from the start, as its registers are now.
WaveState run_again(WaveRunner& runner) {
  runner.wave().pc = runner.code_address();
  runner.wave().state = WaveState::ready;
  return runner.resume();
}

/// What branches look at.
struct Conditions {
  bool scc;
  uint64_t vcc, exec;
};
struct Branch {
  const char* row;
  bool (*is_taken)(const Conditions&);
};
// No debugger has set its two conditions.
constexpr Branch branches[] = {
    {"s_branch", [](const Conditions&) { return true; }},
    {"s_cbranch_scc0", [](const Conditions& c) { return !c.scc; }},
    {"s_cbranch_scc1", [](const Conditions& c) { return c.scc; }},
    {"s_cbranch_vccz", [](const Conditions& c) { return c.vcc == 0; }},
    {"s_cbranch_vccnz", [](const Conditions& c) { return c.vcc != 0; }},
    {"s_cbranch_execz", [](const Conditions& c) { return c.exec == 0; }},
    {"s_cbranch_execnz", [](const Conditions& c) { return c.exec != 0; }},
    {"s_cbranch_cdbgsys", [](const Conditions&) { return false; }},
    {"s_cbranch_cdbguser", [](const Conditions&) { return false; }},
    {"s_cbranch_cdbgsys_or_user", [](const Conditions&) { return false; }},
    {"s_cbranch_cdbgsys_and_user", [](const Conditions&) { return false; }},
};

TEST(BranchesOnEachGeneration, EachConditionTakesItsBranch) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    std::vector<const Branch*> present;
    std::string source = "s_mov_b32 s20, 0\ns_mov_b32 s21, 0\n";
    for (const Branch& branch : branches) {
      const std::string name = test::name_on(processor, branch.row);
      if (name.empty()) continue;
      // Forwards, and backwards.
      source += fmt::format(
          "{0} 1f\ns_branch 2f\n1: s_bitset1_b32 s20, {1}\n2: s_branch 2f\n1: s_bitset1_b32 s21, {1}\ns_branch 3f\n"
          "2: {0} 1b\n3:\n",
          name, present.size());
      present.push_back(&branch);
    }
    ASSERT_GE(present.size(), 7u);
    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run(source), WaveState::ended);
    const uint64_t lanes = machine.wave_size == 32 ? 0xFFFF'FFFF : ~uint64_t{0};
    for (const uint64_t vcc : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 63}) {
      for (const uint64_t exec : {uint64_t{0}, uint64_t{2}, uint64_t{1} << 31, uint64_t{1} << 33, ~uint64_t{0}}) {
        for (const bool scc : {false, true}) {
          // Waves of 32 lanes do not look at the upper halves.
          runner.wave().set_scalar64(isa::scalar::vcc_lo, vcc);
          runner.wave().set_scalar64(isa::scalar::exec_lo, exec);
          runner.wave().scc = scc;
          ASSERT_EQ(run_again(runner), WaveState::ended);
          const Conditions conditions{scc, vcc & lanes, exec & lanes};
          uint32_t expected = 0;
          for (size_t i = 0; i < present.size(); ++i) {
            if (present[i]->is_taken(conditions)) expected |= 1u << i;
          }
          EXPECT_EQ(runner.s(20), expected) << "SCC " << scc << std::hex << " VCC " << vcc << " EXEC " << exec;
          EXPECT_EQ(runner.s(21), expected) << "SCC " << scc << std::hex << " VCC " << vcc << " EXEC " << exec;
          EXPECT_EQ(runner.wave().scc, scc);
        }
      }
    }
  }
}

TEST(BranchesOnEachGeneration, CallsKeepTheAddressBehindThem) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool has_call = !test::name_on(processor, "s_call_b64").empty();  // since GFX9
    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run(fmt::format(R"(
        s_getpc_b64 s[4:5]                  // at 0
      1:
        s_mov_b64 s[6:7], s[4:5]            // at 4
        s_add_u32 s4, s4, 2f-1b             // at 8
        s_addc_u32 s5, s5, 0                // at 16
        s_swappc_b64 s[30:31], s[4:5]       // at 20
        s_mov_b64 s[8:9], s[4:5]            // at 24
        s_swappc_b64 s[8:9], s[8:9]         // at 28: over the target
        {}                                  // at 32
        s_branch 4f                         // at 36
      2:
        s_addk_i32 s0, 1
        s_cmp_eq_u32 s0, 2
        s_cselect_b64 s[30:31], s[8:9], s[30:31]
        s_setpc_b64 s[30:31]
      3:
        s_addk_i32 s1, 0x10
        s_setpc_b64 s[32:33]
      4:)",
                                     has_call ? "s_call_b64 s[32:33], 3f" : "s_nop 0")),
              WaveState::ended);
    const uint64_t code = runner.code_address();
    EXPECT_EQ(runner.s(0), 2u);
    EXPECT_EQ(runner.s(1), has_call ? 16u : 0u);
    EXPECT_EQ(runner.wave().scalar64(6), code + 4);
    EXPECT_EQ(runner.wave().scalar64(8), code + 32);
    EXPECT_EQ(runner.wave().scalar64(32), has_call ? code + 36 : 0);
    EXPECT_EQ(runner.wave().instructions, 9u + 2 * 4 + (has_call ? 2 : 0) + 2);
  }
}

/// Lanes leave the loop one by one; then all of them go on.
TEST(BranchesOnEachGeneration, LoopsRunUntilTheLastLaneHasLeft) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const bool half = machine.wave_size == 32;
    WaveRunner runner(machine.processor, "", machine.wave_size);
    const uint64_t exec = half ? 0x8421'F001 : 0x8421'F001'1234'5678;
    runner.wave().set_exec(exec);
    for (uint32_t& lane : runner.v(1)) lane = 0;
    ASSERT_EQ(runner.run(fmt::format(R"(
        s_mov_b32 s0, 0
        s_mov_b64 s[4:5], exec
      1:
        v_mad_u32_u24 v1, v1, 1, 1
        s_addk_i32 s0, 1
        v_cmp_lt_u32_e32 {0}, v1, v0
        s_and_{1} {2}, {2}, {0}
        s_cbranch_execnz 1b
        s_mov_b64 exec, s[4:5]
        v_mad_u32_u24 v1, v1, 1, 64)",
                                     half ? "vcc_lo" : "vcc", half ? "b32" : "b64", half ? "exec_lo" : "exec")),
              WaveState::ended);
    const auto last = static_cast<unsigned>(std::bit_width(exec)) - 1;
    EXPECT_EQ(runner.s(0), last);
    EXPECT_EQ(runner.wave().instructions, 2u + 5 * last + 2 + 2);
    for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
      EXPECT_EQ(runner.v(1)[lane], (exec >> lane & 1) != 0 ? 64 + std::max(lane, 1u) : 0) << lane;
    }
  }
}

/// The body runs once for each half of EXEC that has lanes ("RDNA1" ISA guide, S_SUBVECTOR_LOOP_BEGIN and _END).
TEST(BranchesOnEachGeneration, SubvectorLoopsRunOnceForEachHalf) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (machine.wave_size != 64 || test::name_on(processor, "s_subvector_loop_begin").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    const std::string add = test::name_on(processor, "v_add_u32");
    const std::vector<uint8_t> code = test::assemble(fmt::format(R"(
        s_mov_b32 s1, 0
        s_mov_b64 s[4:5], 0
        s_mov_b64 s[6:7], 0
        s_subvector_loop_begin s0, 2f
      1:
        s_addk_i32 s1, 1
        {0} v1, 1, v1
        s_or_b32 s4, s4, exec_lo
        s_or_b32 s5, s5, exec_hi
        s_and_b64 s[8:9], exec, exec
        s_cmp_lg_u32 exec_lo, 0
        s_cselect_b32 s10, 1, 0
        s_cmp_lg_u32 exec_hi, 0
        s_cselect_b32 s11, 1, 0
        s_and_b32 s10, s10, s11
        s_or_b32 s6, s6, s10
        s_subvector_loop_end s0, 1b
      2:)",
                                                                 add),
                                                     machine.processor, 64);
    for (const uint64_t exec : {uint64_t{0}, uint64_t{0x8000'0001}, uint64_t{0xF00F'0000'0000'0000},
                                uint64_t{0x1234'5678'9ABC'DEF0}, ~uint64_t{0}}) {
      WaveRunner runner(machine.processor, "", 64);
      runner.wave().set_exec(exec);
      for (uint32_t& lane : runner.v(1)) lane = 5;
      ASSERT_EQ(runner.run_instructions(code), WaveState::ended);
      EXPECT_EQ(runner.s(1), ((exec & 0xFFFF'FFFF) != 0) + (exec >> 32 != 0)) << std::hex << exec;
      EXPECT_EQ(runner.wave().scalar64(4), exec);
      EXPECT_EQ(runner.s(6), 0u) << "both halves at once";
      EXPECT_EQ(runner.wave().exec(), exec);
      for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], 5 + (exec >> lane & 1)) << lane;
    }
  }
  test::expect_machines(machines, 5);
}

/// S_ENDPGM, S_ENDPGM_SAVED and S_SETKILL 1 end the wave; what stands behind them does not run.
TEST(BranchesOnEachGeneration, EndingsEndTheWave) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    std::vector<std::string> sources;
    for (const std::string_view ending : {"s_endpgm", "s_endpgm_saved", "s_setkill 1"}) {
      if (test::name_on(processor, ending.substr(0, ending.find(' '))).empty()) continue;
      sources.push_back(fmt::format("s_nop 0\n{}\ns_trap 2", ending));
    }
    const auto codes = test::assemble_programs(sources, processor, machine.wave_size);
    for (size_t i = 0; i < codes.size(); ++i) {
      SCOPED_TRACE(sources[i]);
      WaveRunner runner(machine.processor, "", machine.wave_size);
      EXPECT_EQ(runner.run_instructions(codes[i]), WaveState::ended);
      EXPECT_EQ(runner.wave().instructions, 2u);
      EXPECT_EQ(runner.wave().pc, runner.code_address() + 8);
    }
  }
}

/// S_TRAP 2 and 3: "Trap Handler ABI" of the user guide. S_SETHALT 1: the wave stays halted. S_CODE_END: "RDNA1"
/// ISA guide, "must not be executed".
TEST(BranchesOnEachGeneration, WhatStopsAWaveSaysWhere) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    struct Stop {
      const char* instruction;
      Fault::Kind kind;
    };
    constexpr Stop stops[] = {{"s_trap 2", Fault::Kind::abort},
                              {"s_sethalt 1", Fault::Kind::abort},
                              {"s_code_end", Fault::Kind::illegal_instruction}};
    std::vector<const Stop*> present;
    std::vector<std::string> sources;
    for (const Stop& stop : stops) {
      const std::string_view name = stop.instruction;
      if (test::name_on(processor, name.substr(0, name.find(' '))).empty()) continue;
      present.push_back(&stop);
      sources.push_back(fmt::format("s_trap 3\ns_mov_b32 s0, 1\n{}\ns_mov_b32 s0, 2", name));
    }
    const auto codes = test::assemble_programs(sources, processor, machine.wave_size);
    for (size_t i = 0; i < codes.size(); ++i) {
      SCOPED_TRACE(sources[i]);
      WaveRunner runner(machine.processor, "", machine.wave_size);
      EXPECT_EQ(runner.run_instructions(codes[i]), WaveState::faulted);
      EXPECT_EQ(runner.s(0), 1u);
      ASSERT_NE(runner.wave().fault, nullptr);
      EXPECT_EQ(runner.wave().fault->kind, present[i]->kind);
      EXPECT_EQ(runner.wave().fault->pc, runner.code_address() + 8);
    }
  }
}

TEST(BranchesOnEachGeneration, BarriersAndSleepsGiveTheWaveBackAndGoOnBehind) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool split = test::name_on(processor, "s_barrier").empty();
    WaveRunner runner(machine.processor, "", machine.wave_size);
    runner.s(4) = 1;
    WaveState state = runner.run(fmt::format("s_mov_b32 s0, 1\n{}\ns_mov_b32 s0, 2\ns_sleep 1\ns_mov_b32 s0, 3\n{}",
                                             split ? "s_barrier_signal -1\ns_barrier_wait -1" : "s_barrier",
                                             split ? "s_sleep_var s4" : "s_nop 0"));
    EXPECT_EQ(state, split ? WaveState::waits_at_barrier : WaveState::at_barrier);
    EXPECT_EQ(runner.s(0), 1u);
    EXPECT_EQ(runner.resume(), WaveState::ready);
    EXPECT_EQ(runner.s(0), 2u);
    state = runner.resume();
    EXPECT_EQ(runner.s(0), 3u);
    if (split) {
      EXPECT_EQ(state, WaveState::ready);
      state = runner.resume();
    }
    EXPECT_EQ(state, WaveState::ended);
  }
}

}  // namespace
}  // namespace Atoll

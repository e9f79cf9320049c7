// Registers whose numbers are known when the wave runs, on each generation that has the instructions, in each wave
// size: S_MOVREL*, V_MOVREL*, V_SWAPREL, S_SET_GPR_IDX_*. What is expected is the pseudo-code of the ISA guides; where
// M0 leads past a wave's VGPRs, their text ("VGPR Indexing": a source is v0, a result is not written).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::Machine;
using test::WaveRunner;

constexpr uint64_t some_lanes = 0x9001'0FF0'8421'7E81;

TEST(RegisterIndexOnEachGeneration, ScalarMoves) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool both = !test::name_on(processor, "s_movrelsd_2_b32").empty();
    const std::vector<uint8_t> code = test::assemble(
        fmt::format("s_mov_b32 m0, s60\ns_movrels_b32 s50, s1\ns_movrels_b64 s[52:53], s[2:3]\ns_movreld_b32 s20, s51\n"
                    "s_movreld_b32 s21, 0x1234567\ns_movreld_b64 s[30:31], s[54:55]\ns_movreld_b64 s[32:33], -2\n{}",
                    both ? "s_mov_b32 m0, s61\ns_movrelsd_2_b32 s40, s3" : ""),
        machine.processor, machine.wave_size);
    for (const bool scc : {false, true}) {
      for (const unsigned distance : {0u, 2u, 6u, 8u}) {
        WaveRunner runner(machine.processor, "", machine.wave_size);
        std::vector<uint32_t> s(100);
        for (unsigned i = 0; i < 100; ++i) runner.s(i) = s[i] = 1000 + i;
        const unsigned from = distance + 1, to = distance / 2;
        runner.s(60) = s[60] = distance;
        runner.s(61) = s[61] = 0xFC00'FC00 | from | to << 16;
        runner.wave().scc = scc;
        s[50] = s[1 + distance];
        s[52] = s[2 + distance];
        s[53] = s[3 + distance];
        s[20 + distance] = s[51];
        s[21 + distance] = 0x1234567;
        s[30 + distance] = s[54];
        s[31 + distance] = s[55];
        s[32 + distance] = 0xFFFF'FFFE;
        s[33 + distance] = 0xFFFF'FFFF;
        if (both) s[40 + to] = s[3 + from];
        ASSERT_EQ(runner.run_instructions(code), WaveState::ended);
        for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(runner.s(i), s[i]) << "s" << i << ", M0 " << distance;
        EXPECT_EQ(runner.wave().scc, scc);
      }
    }
  }
}

/// V_MOVRELS, V_MOVRELD, V_MOVRELSD, V_MOVRELSD_2 and V_SWAPREL, one after the other on numbered registers.
TEST(RegisterIndexOnEachGeneration, VectorMoves) {
  constexpr unsigned registers = 96;
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "v_movrels_b32").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    std::string source = R"(
        s_mov_b32 m0, s0
        v_movrels_b32 v1, v10
        v_movreld_b32 v20, v2
        v_movreld_b32_e64 v31, 0.5
        v_movrelsd_b32 v40, v11)";
    // Since GFX10, and a scalar beside M0.
    const bool has_two_distances = !test::name_on(processor, "v_movrelsd_2_b32").empty();
    if (has_two_distances) {
      source += R"(
        v_movreld_b32 v30, s5
        s_mov_b32 m0, s1
        v_movrelsd_2_b32 v50, v12
        v_swaprel_b32 v60, v70)";
    }
    const std::vector<uint8_t> code = test::assemble(source, machine.processor, machine.wave_size);
    for (const uint64_t exec : {~uint64_t{0}, some_lanes, uint64_t{0}}) {
      for (const unsigned distance : {0u, 1u, 9u, 200u}) {
        for (const auto& [from, to] : {std::pair{0u, 0u}, {5u, 2u}, {2u, 7u}, {0x3FFu, 1u}, {1u, 0x3FFu}}) {
          WaveRunner runner(machine.processor, "", machine.wave_size);
          runner.wave().vgprs = registers;
          runner.wave().set_exec(exec);
          runner.s(0) = distance;
          runner.s(1) = from | to << 16 | 0xFC00'FC00;
          runner.s(5) = 0x5555;
          std::vector<std::vector<uint32_t>> v(256, std::vector<uint32_t>(64));
          for (unsigned i = 0; i < 256; ++i) {
            for (unsigned lane = 0; lane < 64; ++lane) runner.v(i)[lane] = v[i][lane] = i << 8 | lane;
          }
          const auto move = [&](unsigned result, unsigned source, bool swap) {
            if (source >= registers) source = 0;
            for (unsigned lane = 0; lane < machine.wave_size && result < registers; ++lane) {
              if ((exec >> lane & 1) == 0) continue;
              const uint32_t old = std::exchange(v[result][lane], v[source][lane]);
              if (swap) v[source][lane] = old;
            }
          };
          const auto fill = [&](unsigned result, uint32_t value) {
            for (unsigned lane = 0; lane < machine.wave_size && result < registers; ++lane) {
              if ((exec >> lane & 1) != 0) v[result][lane] = value;
            }
          };
          move(1, 10 + distance, false);
          move(20 + distance, 2, false);
          fill(31 + distance, 0x3F00'0000);
          move(40 + distance, 11 + distance, false);
          if (has_two_distances) {
            fill(30 + distance, 0x5555);
            move(50 + to, 12 + from, false);
            move(60 + to, 70 + from, true);
          }
          ASSERT_EQ(runner.run_instructions(code), WaveState::ended);
          for (unsigned i = 0; i < 256; ++i) {
            for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
              ASSERT_EQ(runner.v(i)[lane], v[i][lane])
                  << "v" << i << " lane " << lane << ", M0 " << distance << "; " << from << ", " << to;
            }
          }
        }
      }
    }
  }
  test::expect_machines(machines, 17);
}

/// The index mode of GFX9: vector instructions in it, with each combination of operands that are moved.
TEST(RegisterIndexOnEachGeneration, IndexModeMovesTheOperandsThatItNames) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "s_set_gpr_idx_on").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    std::vector<std::string> sources;
    sources.reserve(16);
    for (unsigned enabled = 0; enabled < 16; ++enabled) {
      // All ways to set index and operands.
      sources.push_back(fmt::format(R"(
          s_mov_b32 m0, 0x12340000
          s_set_gpr_idx_on s0, {0}
          v_mad_u32_u24 v40, v10, v11, v12
          s_set_gpr_idx_idx s1
          v_mad_u32_u24 v41, v13, v14, v15
          s_set_gpr_idx_mode {1}
          v_mad_u32_u24 v42, v10, v11, s3
          s_set_gpr_idx_off
          v_mad_u32_u24 v43, v10, v11, v12
          s_mov_b32 s8, m0)",
                                    enabled, 15 - enabled));
    }
    const auto codes = test::assemble_programs(sources, processor, machine.wave_size);
    for (unsigned enabled = 0; enabled < 16; ++enabled) {
      WaveRunner runner(machine.processor, "", machine.wave_size);
      runner.wave().set_exec(some_lanes);
      const unsigned first = 4, second = 9;
      runner.s(0) = 0xABCD00 | first;
      runner.s(1) = 0x300 | second;
      runner.s(3) = 77;
      std::vector<std::vector<uint32_t>> v(64, std::vector<uint32_t>(64));
      for (unsigned i = 0; i < 64; ++i) {
        for (unsigned lane = 0; lane < 64; ++lane) runner.v(i)[lane] = v[i][lane] = i * 100 + lane;
      }
      const auto multiply = [&](unsigned mode, unsigned index, unsigned d, unsigned a, unsigned b, int c) {
        const auto moved = [&](unsigned reg, unsigned bit) { return reg + ((mode >> bit & 1) != 0 ? index : 0); };
        for (unsigned lane = 0; lane < 64; ++lane) {
          if ((some_lanes >> lane & 1) == 0) continue;
          const uint32_t sum = c < 0 ? 77 : v[moved(static_cast<unsigned>(c), 2)][lane];
          v[moved(d, 3)][lane] = v[moved(a, 0)][lane] * v[moved(b, 1)][lane] + sum;
        }
      };
      multiply(enabled, first, 40, 10, 11, 12);
      multiply(enabled, second, 41, 13, 14, 15);
      multiply(15 - enabled, second, 42, 10, 11, -1);
      multiply(0, 0, 43, 10, 11, 12);
      ASSERT_EQ(runner.run_instructions(codes[enabled]), WaveState::ended);
      for (unsigned i = 0; i < 64; ++i) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          ASSERT_EQ(runner.v(i)[lane], v[i][lane]) << "v" << i << " lane " << lane << ", mode " << enabled;
        }
      }
      EXPECT_EQ(runner.s(8), 0x1234'0000 | second | (15 - enabled) << 12);
    }
  }
  test::expect_machines(machines, 7);
}

TEST(RegisterIndexOnEachGeneration, VskipPassesOverVectorInstructions) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "s_setvskip").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    WaveRunner runner(machine.processor, "", machine.wave_size);
    runner.s(4) = 0x80;
    uint32_t word = 11;
    runner.set_pair(2, &word);
    EXPECT_EQ(runner.run(R"(
        s_setvskip s4, 6
        v_mov_b32 v1, 1
        s_setvskip s4, 39
        v_mov_b32 v2, 1
        v_mov_b32 v3, 0x12345
        v_cmp_eq_u32 vcc, v0, v0
        s_mov_b32 s5, 5
        s_setvskip s4, 0
        v_mov_b32 v4, 1)"),
              WaveState::ended);
    EXPECT_EQ(runner.v(1)[0], 1u);
    EXPECT_EQ(runner.v(2)[0], 0u);
    EXPECT_EQ(runner.v(3)[0], 0u);
    EXPECT_EQ(runner.v(4)[0], 1u);
    EXPECT_EQ(runner.wave().vcc(), 0u);
    EXPECT_EQ(runner.s(5), 5u);
  }
  EXPECT_GE(machines, 1u);
}

}  // namespace
}  // namespace Atoll

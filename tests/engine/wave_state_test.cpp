// Hardware registers, global wave sync, forks and messages, on each generation that has them, in each wave size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::WaveRunner;

constexpr unsigned mode = 1;  ///< the number of MODE among the hardware registers, on all generations

/// S_GETREG, S_SETREG, S_SETREG_IMM32, S_ROUND_MODE and S_DENORM_MODE on fields of MODE of every size.
TEST(WaveStateOnEachGeneration, FieldsOfModeAreReadAndWritten) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool has_modes = !test::name_on(processor, "s_round_mode").empty();
    struct Field {
      unsigned offset, size;
    };
    constexpr Field fields[] = {{0, 1}, {0, 2}, {2, 2}, {0, 4}, {3, 2}, {4, 2}, {6, 2}, {4, 4}, {0, 8}, {7, 1}, {5, 3}};
    std::string source;
    unsigned results = 10;
    uint32_t bits = 0xF0;  // the mode in which waves begin here
    std::vector<uint32_t> expected;
    for (const auto& [offset, size] : fields) {
      const uint32_t mask = (1u << size) - 1;
      // The bits above the field do not count.
      for (const uint32_t value : {0xA5A5'A5A5u, 0x5A5A'5A5Au}) {
        const bool is_constant = value == 0x5A5A'5A5A;
        source += is_constant ? fmt::format("s_setreg_imm32_b32 hwreg({}, {}, {}), {:#x}\n", mode, offset, size, value)
                              : fmt::format("s_mov_b32 s1, {:#x}\ns_setreg_b32 hwreg({}, {}, {}), s1\n", value, mode,
                                            offset, size);
        bits = (bits & ~(mask << offset)) | (value & mask) << offset;
        source += fmt::format("s_getreg_b32 s{}, hwreg({}, 0, 8)\n", results++, mode);
        expected.push_back(bits);
      }
      source += fmt::format("s_getreg_b32 s{}, hwreg({}, {}, {})\n", results++, mode, offset, size);
      expected.push_back(bits >> offset & mask);
    }
    for (const uint32_t value : {0x6u, 0x9u}) {
      if (!has_modes) break;
      source += fmt::format("s_round_mode {:#x}\ns_denorm_mode {:#x}\ns_getreg_b32 s{}, hwreg({}, 0, 8)\n", value,
                            15 - value, results++, mode);
      expected.push_back(value | (15 - value) << 4);
    }
    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (unsigned i = 0; i < expected.size(); ++i) EXPECT_EQ(runner.s(10 + i), expected[i]) << i;
  }
}

/// Meaning of the fields: rounding of single and double precision, and which denormals are flushed.
TEST(WaveStateOnEachGeneration, ModeSaysHowArithmeticRounds) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const std::string double_sum = test::name_on(processor, "v_add_f64");
    std::string source;
    for (unsigned round = 0; round < 4; ++round) {
      source += fmt::format(
          "s_setreg_imm32_b32 hwreg({0}, 0, 4), {1}\nv_add_f32 v{2}, v1, v2\nv_sub_f32 v{3}, -v1, v2\n"
          "{6} v[{4}:{5}], v[4:5], v[6:7]\n",
          mode, round | (3 - round) << 2, 20 + round, 30 + round, 40 + 2 * round, 41 + 2 * round, double_sum);
    }
    for (unsigned denormals = 0; denormals < 4; ++denormals) {
      source += fmt::format(
          "s_setreg_imm32_b32 hwreg({0}, 4, 4), {1}\nv_add_f32 v{2}, v8, v8\nv_sub_f32 v{3}, v9, v10\n"
          "{6} v[{4}:{5}], v[12:13], v[12:13]\n",
          mode, denormals | (3 - denormals) << 2, 60 + denormals, 70 + denormals, 80 + 2 * denormals,
          81 + 2 * denormals, double_sum);
    }
    WaveRunner runner(machine.processor, "", machine.wave_size);
    const auto fill = [&](unsigned reg, uint32_t value) { std::ranges::fill(runner.v(reg), value); };
    // Halfway between 1 and the number after it.
    fill(1, 0x3F80'0000);
    fill(2, 0x3380'0000);
    runner.set_rows(4, [](unsigned) { return std::bit_cast<uint64_t>(1.0); });
    runner.set_rows(6, [](unsigned) { return std::bit_cast<uint64_t>(0x1p-53); });
    // A denormal, twice which is none; two numbers whose difference is one.
    fill(8, 0x0060'0000);
    fill(9, 0x00A0'0000);
    fill(10, 0x0090'0000);
    runner.set_rows(12, [](unsigned) { return uint64_t{0x000C'0000'0000'0000}; });
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (const unsigned lane : {0u, 13u, machine.wave_size - 1}) {
      // To nearest, up, down, toward 0.
      for (unsigned round = 0; round < 4; ++round) {
        EXPECT_EQ(runner.v(20 + round)[lane], round == 1 ? 0x3F80'0001u : 0x3F80'0000u) << round;
        EXPECT_EQ(runner.v(30 + round)[lane], round == 2 ? 0xBF80'0001u : 0xBF80'0000u) << round;
        EXPECT_EQ(runner.v64(40 + 2 * round, lane), std::bit_cast<uint64_t>(3 - round == 1 ? 1 + 0x1p-52 : 1.0))
            << round;
      }
      // Bit 0 lets denormals in, bit 1 lets them out.
      for (unsigned denormals = 0; denormals < 4; ++denormals) {
        EXPECT_EQ(runner.v(60 + denormals)[lane], (denormals & 1) != 0 ? 0x00C0'0000u : 0u) << denormals;
        EXPECT_EQ(runner.v(70 + denormals)[lane], (denormals & 2) != 0 ? 0x0010'0000u : 0u) << denormals;
        EXPECT_EQ(runner.v64(80 + 2 * denormals, lane), (3 - denormals & 1) != 0 ? 0x0018'0000'0000'0000u : 0u)
            << denormals;
      }
    }
  }
}

/// Semaphores and barriers of the whole GPU ("Vega" ISA guide, DS_GWS_*). Two waves run the same program; which part is
/// whose, s10 says.
class GlobalWaveSyncRunner : public WaveRunner {
 public:
  using WaveRunner::WaveRunner;
  /// Another wave at the first one's place, with s10 as 1.
  machine::Wave second() {
    const machine::Wave& first = wave();
    machine::Wave other{};
    std::copy(std::begin(first.scalar), std::end(first.scalar), other.scalar);
    other.scalar[10] = 1;
    other.pc = first.pc;
    other.vgpr = first.vgpr;
    other.vgprs = first.vgprs;
    other.sgprs = first.sgprs;
    other.wave_size = first.wave_size;
    other.mode = first.mode;
    other.float_mode = first.float_mode;
    other.work_group = first.work_group;
    return other;
  }
};

TEST(WaveStateOnEachGeneration, SemaphoresCountWhoMayPass) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "ds_gws_sema_release_all").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    GlobalWaveSyncRunner runner(machine.processor, "", machine.wave_size);
    const uint64_t exec = 0x8421'0FF0'0000'0040;  // the first lane that is on has the operand
    const bool half = machine.wave_size == 32;
    runner.wave().set_exec(half ? exec & 0xFFFF'FFFF : exec);
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(2)[lane] = lane == 6 ? 1 : 77;
      runner.v(4)[lane] = lane == 6 ? 2 : 99;
    }
    ASSERT_EQ(runner.run(R"(
        s_mov_b32 m0, 0x30000
        ds_gws_init v2 offset:4 gds
        s_sleep 0
        s_cmp_eq_u32 s10, 1
        s_cbranch_scc1 1f
        ds_gws_sema_p offset:4 gds
        s_mov_b32 s0, 1
        ds_gws_sema_p offset:4 gds
        s_mov_b32 s0, 2
        ds_gws_sema_p offset:4 gds
        s_mov_b32 s0, 3
        ds_gws_sema_p offset:4 gds
        s_mov_b32 s0, 4
        ds_gws_sema_p offset:4 gds
        s_mov_b32 s0, 5
        s_branch 2f
      1:
        ds_gws_sema_v offset:4 gds
        s_sleep 0
        ds_gws_sema_br v4 offset:4 gds
        s_sleep 0
        ds_gws_sema_v offset:5 gds
        s_sleep 0
        ds_gws_sema_release_all offset:4 gds
      2:)"),
              WaveState::ready);
    machine::Wave second = runner.second();
    const auto first_reaches = [&](uint32_t place, WaveState state = WaveState::ready) {
      EXPECT_EQ(runner.resume(1000), state);
      EXPECT_EQ(runner.s(0), place);
      EXPECT_EQ(runner.resume(1000), state);  // there it stays
      EXPECT_EQ(runner.s(0), place);
    };
    first_reaches(1);
    EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ready);
    first_reaches(2);
    EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ready);
    first_reaches(4);
    EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ready);  // another semaphore
    first_reaches(4);
    EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ended);
    EXPECT_EQ(runner.resume(1000), WaveState::ended);
    EXPECT_EQ(runner.s(0), 5u);
  }
  test::expect_machines(machines, 19);
}

TEST(WaveStateOnEachGeneration, GlobalBarriersHoldWavesUntilAllHaveCome) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "ds_gws_barrier").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    GlobalWaveSyncRunner runner(machine.processor, "", machine.wave_size);
    std::ranges::fill(runner.v(2), 1u);
    ASSERT_EQ(runner.run(R"(
        s_mov_b32 m0, 0x30000
        ds_gws_init v2 offset:4 gds
        s_sleep 0
        ds_gws_barrier v2 offset:4 gds
        s_mov_b32 s0, 1
        ds_gws_barrier v2 offset:4 gds
        s_mov_b32 s0, 2)"),
              WaveState::ready);
    machine::Wave second = runner.second();
    EXPECT_EQ(runner.resume(1000), WaveState::ready);
    EXPECT_EQ(runner.resume(1000), WaveState::ready);
    EXPECT_EQ(runner.s(0), 0u);
    EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ready);  // passes the first, waits at the second
    EXPECT_EQ(second.scalar[0], 1u);
    EXPECT_EQ(runner.resume(1000), WaveState::ended);
    EXPECT_EQ(runner.s(0), 2u);
    EXPECT_EQ(runner.engine().run(second, 1000), WaveState::ended);
  }
  test::expect_machines(machines, 20);
}

/// S_CBRANCH_I_FORK, S_CBRANCH_G_FORK and S_CBRANCH_JOIN of GFX9: lanes that agree go one way together, else the
/// smaller part goes first, and the part that jumps if they are equal ("CDNA" ISA guides, pseudo-code).
TEST(WaveStateOnEachGeneration, ForksRunTheSmallerPartFirst) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "s_cbranch_i_fork").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    std::vector<std::string> sources;
    for (const bool relative : {true, false}) {
      sources.push_back(fmt::format(R"(
          s_mov_b32 s40, 0
          s_mov_b32 s42, 0
          s_mov_b64 s[44:45], exec
          s_getpc_b64 s[6:7]
        3:
          s_add_u32 s6, s6, 1f-3b
          s_addc_u32 s7, s7, 0
          {}
          v_mov_b32 v1, 100
          s_lshl_b32 s42, s42, 4
          s_or_b32 s42, s42, 1
          s_branch 2f
        1:
          v_mov_b32 v1, 200
          s_lshl_b32 s42, s42, 4
          s_or_b32 s42, s42, 2
        2:
          s_cbranch_join s40
          s_mov_b64 s[46:47], exec
          s_mov_b64 exec, s[44:45]
          s_getreg_b32 s41, hwreg(HW_REG_MODE, 29, 3))",
                                    relative ? "s_cbranch_i_fork s[50:51], 1f" : "s_cbranch_g_fork s[50:51], s[6:7]"));
    }
    const auto codes = test::assemble_programs(sources, processor, machine.wave_size);
    for (const auto& code : codes) {
      for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x8421'0FF0'0000'0041}, uint64_t{1}}) {
        for (const uint64_t jumps : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x3FF}, ~uint64_t{0x3FF},
                                     uint64_t{0x5555'5555'5555'5555}, uint64_t{0xFFFF'0000'0000'0000}}) {
          WaveRunner runner(machine.processor, "", machine.wave_size);
          runner.wave().set_exec(exec);
          runner.wave().set_scalar64(50, jumps);
          ASSERT_EQ(runner.run_instructions(code), WaveState::ended);
          const uint64_t pass = jumps & exec, fail = ~jumps & exec;
          const bool fail_first = std::popcount(fail) < std::popcount(pass);
          uint32_t order = pass == exec ? 2 : fail == exec ? 1 : fail_first ? 0x12 : 0x21;
          EXPECT_EQ(runner.s(42), order) << std::hex << exec << ' ' << jumps;
          EXPECT_EQ(runner.s(41), 0u);
          EXPECT_EQ(runner.wave().scalar64(46), order < 0x10 ? exec : fail_first ? pass : fail);
          for (unsigned lane = 0; lane < 64; ++lane) {
            EXPECT_EQ(runner.v(1)[lane], (pass >> lane & 1) != 0 ? 200u : (fail >> lane & 1) != 0 ? 100u : 0u) << lane;
          }
        }
      }
    }
  }
  EXPECT_GE(machines, 1u);
}

/// S_GET_WAVEID_IN_WORKGROUP of GFX10.1.
TEST(WaveStateOnEachGeneration, WavesKnowTheirNumber) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "s_get_waveid_in_workgroup").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    WaveRunner runner(machine.processor, "", machine.wave_size);
    runner.wave().index = 5;
    ASSERT_EQ(runner.run("s_get_waveid_in_workgroup s0\ns_waitcnt lgkmcnt(0)"), WaveState::ended);
    EXPECT_EQ(runner.s(0), 5u);
  }
  test::expect_machines(machines, 3);
}

}  // namespace
}  // namespace Atoll

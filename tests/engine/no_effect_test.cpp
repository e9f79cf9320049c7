// Instructions that change nothing but the program counter: hints, waits for what is done already, cache controls,
// trace data. Each runs on each generation that has it, in each wave size, with all, some and none of the lanes, and
// the whole state of the wave is what it was. That they have no other effect is what the ISA guides say of them ("Do
// nothing", "wait until", "prefetch", "invalidate") and what Atoll makes of that: a memory access is done when its
// instruction is, and code is fetched from memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::Machine;
using test::WaveRunner;

struct Line {
  const char* row;
  const char* operands;
};
constexpr Line lines[] = {
    {"s_nop", "0"},
    {"s_nop", "15"},
    {"s_wakeup", ""},
    {"s_sleep", "2"},
    {"s_sleep_var", "s3"},
    {"s_sethalt", "0"},
    {"s_setkill", "0"},
    {"s_setprio", "3"},
    {"s_setprio_inc_wg", "1"},
    {"s_icache_inv", ""},
    {"s_incperflevel", "5"},
    {"s_decperflevel", "7"},
    {"s_ttracedata", ""},
    {"s_ttracedata_imm", "0x7"},
    {"s_clause", "0x3"},
    {"s_inst_prefetch", "0x3"},
    {"s_delay_alu", "0x91"},
    {"s_version", "0x2006"},
    {"s_wait_idle", ""},
    {"s_wait_event", "0x1"},
    {"s_waitcnt_depctr", "0xfffe"},
    {"s_waitcnt", "0"},
    {"s_waitcnt_vmcnt", "null, 0x0"},
    {"s_waitcnt_vscnt", "null, 0x3f"},
    {"s_waitcnt_expcnt", "null, 0x7"},
    {"s_waitcnt_lgkmcnt", "null, 0x0"},
    {"s_wait_loadcnt", "0x0"},
    {"s_wait_storecnt", "0x3f"},
    {"s_wait_samplecnt", "0x0"},
    {"s_wait_bvhcnt", "0x0"},
    {"s_wait_expcnt", "0x0"},
    {"s_wait_dscnt", "0x0"},
    {"s_wait_kmcnt", "0x1f"},
    {"s_wait_xcnt", "0x0"},
    {"s_wait_loadcnt_dscnt", "0x0"},
    {"s_wait_storecnt_dscnt", "0x3f3f"},
    {"s_sendmsg", "sendmsg(MSG_INTERRUPT)"},
    {"s_dcache_inv", ""},
    {"s_dcache_inv_vol", ""},
    {"s_dcache_wb", ""},
    {"s_dcache_wb_vol", ""},
    {"s_gl1_inv", ""},
    {"s_dcache_discard", "s[2:3], 0x40"},
    {"s_dcache_discard_x2", "s[2:3], s8"},
    {"s_atc_probe", "1, s[2:3], 0x20"},
    {"s_atc_probe_buffer", "2, s[4:7], 0x20"},
    {"s_prefetch_inst", "s[2:3], 0x100, s8, 3"},
    {"s_prefetch_inst_pc_rel", "0x100, s8, 3"},
    {"s_prefetch_data", "s[2:3], 0x100, s8, 31"},
    {"s_prefetch_data_pc_rel", "0x100, s8, 3"},
    {"s_buffer_prefetch_data", "s[4:7], 0x100, s8, 7"},
    {"buffer_wbl2", ""},
    {"buffer_inv", "sc1"},
    {"buffer_invl2", ""},
    {"buffer_wbinvl1", ""},
    {"buffer_wbinvl1_vol", ""},
    {"buffer_wbinvl1_sc", ""},
    {"buffer_gl0_inv", ""},
    {"buffer_gl1_inv", ""},
    {"global_inv", "scope:SCOPE_SYS"},
    {"global_wb", "scope:SCOPE_DEV"},
    {"global_wbinv", ""},
    {"flat_prefetch_b8", "v[2:3]"},
    {"global_prefetch_b8", "v[2:3], off"},
    {"ds_nop", ""},
    {"v_nop", ""},
    {"v_pipeflush", ""},
    {"v_clrexcp", ""},
};

/// What a program can see of a wave.
struct State {
  explicit State(WaveRunner& runner)
      : rows(512 * 64),
        lds(runner.lds(), runner.lds() + WaveRunner::lds_bytes),
        scalar(std::begin(runner.wave().scalar), std::end(runner.wave().scalar)),
        mode(runner.wave().mode),
        status(runner.wave().status),
        trap_status(runner.wave().trap_status),
        scc(runner.wave().scc) {
    std::memcpy(rows.data(), runner.wave().vgpr, rows.size() * 4);
  }
  bool operator==(const State&) const = default;

  std::vector<uint32_t> rows;
  std::vector<uint8_t> lds;
  std::vector<uint32_t> scalar;
  uint32_t mode, status, trap_status;
  bool scc;
};

TEST(NoEffectOnEachGeneration, NothingButTheProgramCounterChanges) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    std::string source;
    uint64_t instructions = 0;
    for (const Line& line : lines) {
      const std::string name = test::name_on(processor, line.row);
      if (name.empty()) continue;
      source += name + " " + line.operands + "\n";
      ++instructions;
    }
    EXPECT_GE(instructions, 15u);
    const std::vector<uint8_t> code = test::assemble(source, machine.processor, machine.wave_size);
    for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x8000'0F00'8421'0F01}, uint64_t{0}}) {
      for (const bool scc : {false, true}) {
        WaveRunner runner(machine.processor, "", machine.wave_size);
        std::mt19937 random(1);
        for (uint32_t& word : runner.wave().scalar) word = static_cast<uint32_t>(random());
        for (unsigned row = 0; row < 512; ++row) {
          for (uint32_t& lane : runner.wave().vgpr[row]) lane = static_cast<uint32_t>(random());
        }
        std::generate_n(runner.lds(), WaveRunner::lds_bytes, [&] { return static_cast<uint8_t>(random()); });
        runner.wave().set_exec(exec);
        runner.wave().scc = scc;
        runner.wave().scalar[100] = runner.wave().scalar[101] = 0;  // how the program ends
        State before(runner);
        WaveState state = runner.run_instructions(code);
        for (unsigned sleeps = 0; state == WaveState::ready && sleeps < 4; ++sleeps) state = runner.resume();
        ASSERT_EQ(state, WaveState::ended) << (runner.wave().fault ? runner.wave().fault->what : "");
        EXPECT_EQ(runner.wave().instructions, instructions + 2);
        runner.wave().scalar[100] = runner.wave().scalar[101] = 0;
        EXPECT_TRUE(State(runner) == before) << source;
      }
    }
  }
}

}  // namespace
}  // namespace Atoll

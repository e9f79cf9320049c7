// Global wave sync (DS_GWS_*) of one wave, on each generation that has it: semaphores that count, and barriers that the
// wave is the only one at. By the ISA guides, "Global Wave Sync": the resource is M0[21:16] and the offset, the value
// that of the first active lane. Several waves are in control_test.cpp.
#include <gtest/gtest.h>

#include <string>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"
#include "support/tested_instructions.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::WaveRunner;

bool has_sync(const Machine& machine) {
  const target::Processor& processor = *target::find_processor(machine.processor);
  const bool has = !test::name_on(processor, "ds_gws_barrier").empty();
  EXPECT_EQ(has, processor.generation < Generation::gfx12);
  return has;
}

TEST(GlobalWaveSyncOnEachGeneration, SemaphoresLetThroughAsManyAsTheyCount) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    if (!has_sync(machine)) continue;
    WaveRunner runner(machine.processor, "", machine.wave_size);
    runner.wave().set_exec(~uint64_t{3});
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(2)[lane] = lane == 2 ? 1 : 100;  // counts to begin with
      runner.v(4)[lane] = lane == 2 ? 2 : 100;
    }
    // 1, 1 and 2: four pass, the fifth waits, which it goes on doing. Another resource counts for itself.
    ASSERT_EQ(runner.run("s_mov_b32 m0, 0x30000\n"
                         "ds_gws_init v2 offset:4 gds\n"
                         "ds_gws_init v4 offset:5 gds\n"
                         "ds_gws_sema_v offset:4 gds\n"
                         "ds_gws_sema_br v4 offset:4 gds\n"
                         "ds_gws_sema_p offset:4 gds\n"
                         "ds_gws_sema_p offset:4 gds\n"
                         "ds_gws_sema_p offset:4 gds\n"
                         "s_mov_b32 s0, 3\n"
                         "ds_gws_sema_p offset:4 gds\n"
                         "s_mov_b32 s0, 4\n"
                         "ds_gws_sema_p offset:4 gds\n"
                         "s_mov_b32 s0, 5\n"),
              WaveState::ready);
    EXPECT_EQ(runner.s(0), 4u);
    EXPECT_EQ(runner.resume(), WaveState::ready);
    EXPECT_EQ(runner.s(0), 4u);
  }
}

TEST(GlobalWaveSyncOnEachGeneration, ReleasesAllThatWait) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (!has_sync(machine) || test::name_on(processor, "ds_gws_sema_release_all").empty()) continue;
    WaveRunner runner(machine.processor, "", machine.wave_size);
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(2)[lane] = 0;
    ASSERT_EQ(runner.run("s_mov_b32 m0, 0\n"
                         "ds_gws_init v2 offset:7 gds\n"
                         "ds_gws_barrier v2 offset:7 gds\n"  // of no other wave
                         "s_mov_b32 s0, 1\n"
                         "ds_gws_sema_p offset:7 gds\n"
                         "s_mov_b32 s0, 2\n"),
              WaveState::ready);
    EXPECT_EQ(runner.s(0), 1u);
    // Another wave releases it.
    WaveRunner other(machine.processor, "", machine.wave_size);
    machine::Wave& waiting = runner.wave();
    other.wave().vgpr = waiting.vgpr;
    const auto release = test::assemble("s_mov_b32 m0, 0\nds_gws_sema_release_all offset:7 gds\ns_endpgm\n",
                                        machine.processor, machine.wave_size);
    other.wave().pc = reinterpret_cast<uint64_t>(release.data());
    test::note_tested(test::TestedBy::engine, isa::Opcode::ds_gws_sema_release_all,
                      target::find_processor(machine.processor)->generation);
    EXPECT_EQ(runner.engine().run(other.wave(), 1000), WaveState::ended);
    EXPECT_EQ(runner.resume(), WaveState::ended);
    EXPECT_EQ(runner.s(0), 2u);
  }
}

}  // namespace
}  // namespace Atoll

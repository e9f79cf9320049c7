// What an observer is told besides accesses, and that one that wants nothing is told nothing of instructions.
#include "machine/memory/memory.h"
#include "observe/recorder.h"

namespace Atoll::test {
namespace {

TEST(Events, ADispatchFromItsBeginToItsEnd) {
  Recorder recorder{{.code = true, .dispatches = true, .work_groups = true, .instructions = true, .barriers = true}};
  run_observed(recorder, "gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}, "s_barrier\ns_endpgm", 128, 128);
  EXPECT_EQ(recorder.events, (std::vector<std::string>{"code",
                                                       "dispatch",
                                                       "group 0",
                                                       "wave 0",
                                                       "s_barrier",
                                                       "wave 0 arrives -1",
                                                       "wave 0 waits -1",
                                                       "wave 1",
                                                       "s_barrier",
                                                       "wave 1 arrives -1",
                                                       "wave 1 waits -1",
                                                       "wave 0 passes -1",
                                                       "wave 1 passes -1",
                                                       "s_endpgm",
                                                       "wave 1 ends",
                                                       "s_endpgm",
                                                       "wave 0 ends",
                                                       "group 0 ends",
                                                       "dispatch ends",
                                                       "code goes"}));
}

struct ByEngine : testing::TestWithParam<std::string> {};

TEST_P(ByEngine, WhatSynchronisesIsTold) {
  Recorder recorder{{.work_groups = true, .synchronisation = true, .barriers = true}};
  run_observed(recorder, "gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"},
               "v_mov_b32 v1, v0\ns_waitcnt vmcnt(0)\nv_add_u32 v1, v1, v0\ns_barrier\nbuffer_wbinvl1\ns_endpgm", 128,
               128, nullptr, 0, GetParam().c_str());
  EXPECT_EQ(recorder.events,
            (std::vector<std::string>{
                "dispatch",          "group 0",         "wave 0",           "s_waitcnt",        "s_barrier",
                "wave 0 arrives -1", "wave 0 waits -1", "wave 1",           "s_waitcnt",        "s_barrier",
                "wave 1 arrives -1", "wave 1 waits -1", "wave 0 passes -1", "wave 1 passes -1", "buffer_wbinvl1",
                "wave 1 ends",       "buffer_wbinvl1",  "wave 0 ends",      "group 0 ends",     "dispatch ends"}));
}

TEST_P(ByEngine, ASplitBarrier) {
  Recorder recorder{{.barriers = true}};
  run_observed(recorder, "gfx1201", {"next_free_vgpr 4", "next_free_sgpr 8"},
               "s_barrier_signal -1\ns_barrier_wait 0xffff\ns_endpgm", 32, 32, nullptr, 0, GetParam().c_str());
  std::vector<std::string> barriers;
  for (const std::string& event : recorder.events)
    if (event.ends_with("-1")) barriers.push_back(event);
  EXPECT_EQ(barriers, (std::vector<std::string>{"wave 0 arrives -1", "wave 0 waits -1", "wave 0 passes -1"}));
}

// Loops, an access that is told, calls of handlers, a barrier in between: each instruction once and in turn, by its
// place in the code, whichever engine executes it.
TEST_P(ByEngine, PathsAreToldInFull) {
  Recorder recorder{{.accesses = true}, {.paths = true}};
  run_observed(recorder, "gfx900", {"next_free_vgpr 4", "next_free_sgpr 8", "user_sgpr_kernarg_segment_ptr 1"},
               R"(
    s_mov_b32 s4, 0
  loop:
    v_add_u32 v1, v1, v0
    s_add_u32 s4, s4, 1
    v_writelane_b32 v1, s4, s4
    ds_write_b32 v0, v1
    s_cmp_lt_u32 s4, 3
    s_cbranch_scc1 loop
    s_barrier
    v_cmp_gt_u32 vcc, 4, v0
    s_and_saveexec_b64 s[6:7], vcc
    s_cbranch_execz skip
    v_mov_b32 v2, 0x12345678
  skip:
    s_endpgm)",
               64, 64, nullptr, 0, GetParam().c_str());
  ASSERT_FALSE(recorder.path.empty());
  const uint64_t begin = recorder.path.front();
  std::vector<uint64_t> words;
  for (const uint64_t pc : recorder.path) words.push_back((pc - begin) / 4);
  // s_mov; three times the loop's v_add, s_add, v_writelane (two words), ds_write (two), s_cmp, the branch; the rest.
  std::vector<uint64_t> expected{0};
  for (unsigned round = 0; round < 3; ++round) {
    for (uint64_t word = 1; word <= 8; ++word) expected.push_back(word);
  }
  for (uint64_t word = 9; word <= 15; ++word) expected.push_back(word);
  EXPECT_EQ(words, expected);
  // Each wave's number is kept.
  for (size_t i = 0; i < recorder.numbers.size(); ++i) EXPECT_EQ(recorder.numbers[i], i);
}

// As long as a copy fills LDS, every access of it matters.
TEST_P(ByEngine, CodeThatCopiesToLdsTellsOfAllAccesses) {
  Recorder recorder{{}, {.paths = true}};
  machine::Memory memory;
  const uint64_t base = memory.allocate(0x1000, 0, "data").value_or(0);
  ASSERT_NE(base, 0U);
  *reinterpret_cast<uint64_t*>(base) = base;
  run_observed(recorder, "gfx900", {"next_free_vgpr 4", "next_free_sgpr 8", "user_sgpr_kernarg_segment_ptr 1"},
               R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b32 m0, 0
    v_lshlrev_b32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s6, 0x1000
    s_mov_b32 s7, 0x27000
    buffer_load_dword v0, s[4:7], 0 offen lds
    s_waitcnt vmcnt(0)
    ds_read_b32 v1, v0
    s_endpgm)",
               64, 64, reinterpret_cast<const void*>(base), 0, GetParam().c_str());
  unsigned lds = 0;
  for (const RecordedAccess& access : recorder.accesses) lds += access.space == machine::Space::lds ? 1 : 0;
  EXPECT_EQ(lds, 2U);
}

INSTANTIATE_TEST_SUITE_P(Engines, ByEngine, testing::Values("interpreter", "compiled"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST(Events, InstructionsAreToldToThoseWhoWantThem) {
  Recorder recorder{{.accesses = true}};
  run_observed(recorder, "gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}, "v_mov_b32 v1, 0\ns_endpgm", 64, 64);
  EXPECT_TRUE(recorder.events.empty());
  EXPECT_TRUE(recorder.accesses.empty());
}

TEST(Events, TheWorkGroupsOfADispatchEndBeforeIt) {
  Recorder recorder{{.dispatches = true, .work_groups = true}};
  run_observed(recorder, "gfx90a", {"next_free_vgpr 4", "next_free_sgpr 8"}, "s_endpgm", 64 * 20, 64);
  EXPECT_EQ(recorder.events.size(), 20U * 4 + 2);
  EXPECT_EQ(recorder.events.front(), "dispatch");
  EXPECT_EQ(recorder.events.back(), "dispatch ends");
}

}  // namespace
}  // namespace Atoll::test

// What an observer is told besides accesses, and that one that wants nothing is told nothing of instructions.
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

struct ByEngine : testing::TestWithParam<const char*> {};

TEST_P(ByEngine, WhatSynchronisesIsTold) {
  Recorder recorder{{.work_groups = true, .synchronisation = true, .barriers = true}};
  run_observed(recorder, "gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"},
               "v_mov_b32 v1, v0\ns_waitcnt vmcnt(0)\nv_add_u32 v1, v1, v0\ns_barrier\nbuffer_wbinvl1\ns_endpgm", 128,
               128, nullptr, 0, GetParam());
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
               "s_barrier_signal -1\ns_barrier_wait 0xffff\ns_endpgm", 32, 32, nullptr, 0, GetParam());
  std::vector<std::string> barriers;
  for (const std::string& event : recorder.events)
    if (event.ends_with("-1")) barriers.push_back(event);
  EXPECT_EQ(barriers, (std::vector<std::string>{"wave 0 arrives -1", "wave 0 waits -1", "wave 0 passes -1"}));
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

// In which order the waves of a work-group go on after a barrier (Scheduler::run_waves), with both engines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>

#include "engine/compiled/compiled_engine.h"
#include "engine/interpreter/interpreter.h"
#include "machine/fixture.h"
#include "machine/guest_vector.h"
#include "support/parameter_name.h"

namespace Atoll::test {
namespace {

struct Barrier : testing::TestWithParam<std::string> {
  void SetUp() override { setenv("ATOLL_COMPILE", "wait", 1); }
  void TearDown() override { unsetenv("ATOLL_COMPILE"); }
};

INSTANTIATE_TEST_SUITE_P(Engines, Barrier, testing::Values("interpreter", "compiled"), test::NamedByParameter());

/// Runs a work-group of 1,024 work-items and expects that each has stored 7.
void expect_sevens(const std::string& engine_name, const char* gpu_name, const std::string& text) {
  const auto model = target::find_gpu(gpu_name);
  ASSERT_TRUE(model) << model.error().message;
  const auto engine = engine_name == "compiled" ? engine::make_compiled_engine : engine::make_interpreter;
  auto gpu = machine::Gpu::create(*model, engine, {.threads = 1});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto code = load(**gpu, assemble_kernel(gpu_name,
                                                {"next_free_vgpr 8", "next_free_sgpr 16",
                                                 "group_segment_fixed_size 4096", "user_sgpr_kernarg_segment_ptr 1"},
                                                text));
  GuestVector<uint32_t> words(1024);
  std::iota(words.begin(), words.end(), 100);
  const GuestVector<const void*> arguments{words.data()};
  auto packet = packet_for(*code, {1024, 1, 1}, {1024, 1, 1});
  packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
  const auto ran = (*gpu)->run(packet);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(words, GuestVector<uint32_t>(1024, 7));
}

// The first work-item writes a word of LDS, all read it after a barrier, and then each overwrites a word of its own,
// the first one that word: a barrier is missing between. On hardware it does not matter, as the waves read at once and
// what they write has to be loaded first. rocPRIM 7.2's scans hand their work-groups' numbers out like that.
TEST_P(Barrier, WhatTheFirstWorkItemOverwritesSoonAfterItHasBeenReadBefore) {
  expect_sevens(GetParam(), "gfx90a", R"(
    v_and_b32 v0, 0x3ff, v0
    s_load_dwordx2 s[0:1], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 7
    v_mov_b32 v3, 0
    v_cmp_eq_u32 vcc, 0, v0
    s_and_saveexec_b64 s[4:5], vcc
    ds_write_b32 v3, v2
    s_mov_b64 exec, s[4:5]
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v4, v3
    s_waitcnt lgkmcnt(0)
    global_load_dword v5, v1, s[0:1]
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v5
    s_barrier
    global_store_dword v1, v4, s[0:1]
    s_endpgm)");
}

// The same where waves signal and wait one by one. After the first barrier the first wave arrives last at the second,
// which is complete as it comes to wait: the others still have to read first. rocPRIM 7.2's adjacent_find does so.
TEST_P(Barrier, TheWaveThatCompletesASplitBarrierDoesNotOvertakeTheOthers) {
  expect_sevens(GetParam(), "gfx1201", R"(
    v_and_b32 v0, 0x3ff, v0
    s_load_b64 s[0:1], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 7
    v_mov_b32 v3, 0
    s_wait_kmcnt 0x0
    s_barrier_signal -1
    s_barrier_wait 0xffff
    v_cmp_eq_u32 vcc_lo, 0, v0
    s_and_saveexec_b32 s4, vcc_lo
    ds_store_b32 v3, v2
    s_mov_b32 exec_lo, s4
    s_wait_dscnt 0x0
    s_barrier_signal -1
    s_barrier_wait 0xffff
    ds_load_b32 v4, v3
    s_wait_dscnt 0x0
    global_load_b32 v5, v1, s[0:1]
    s_wait_loadcnt 0x0
    ds_store_b32 v1, v5
    s_barrier_signal -1
    s_barrier_wait 0xffff
    global_store_b32 v1, v4, s[0:1]
    s_endpgm)");
}

}  // namespace
}  // namespace Atoll::test

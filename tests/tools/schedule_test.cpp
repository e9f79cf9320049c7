// Deterministic schedules: what a kernel with a race gives by each, and that kernels without one give the same by all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>
#include <string>

#include "support/command.h"

namespace Atoll {
namespace {

class Schedules : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    test::write_file(*directory / "k.cl", R"(
#define ID (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())
// Lacks a barrier between the store and the load of another wave's word.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void exchange(__global int* out) {
  __local volatile int s[256];
  int i = __builtin_amdgcn_workitem_id_x();
  s[i] = i + 1;
  out[ID] = s[(i + 64) % 256];
}
// Has it, and so the same result in any order.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void ordered(__global int* out) {
  __local volatile int s[256];
  int i = __builtin_amdgcn_workitem_id_x();
  s[i] = i + 1;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[ID] = s[(i + 64) % 256];
}
// As a kernel with printf when nobody answers.
__attribute__((noinline)) void __ockl_hostcall_internal(__global volatile int* answer) {
  while (*answer == 0) __builtin_amdgcn_s_sleep(1);
}
__kernel void asks(__global int* out) { __ockl_hostcall_internal(out); }
// Every work-group waits for the one after it.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void chain(__global int* out, __global volatile int* flags) {
  int group = __builtin_amdgcn_workgroup_id_x(), last = 39;
  if (group != last)
    while (__atomic_load_n(&flags[group + 1], __ATOMIC_ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
  out[ID] = group;
  if (__builtin_amdgcn_workitem_id_x() == 0) __atomic_store_n(&flags[group], 1, __ATOMIC_RELEASE);
}
)");
    const auto compiled = test::run_command(fmt::format(
        "for g in gfx90a gfx1100; do clang-19 -target amdgcn-amd-amdhsa -mcpu=$g -nogpulib -O2 -cl-std=CL2.0 "
        "-w {0}/k.cl -o {0}/$g.co 2>&1; done",
        directory->path().string()));
    ASSERT_EQ(compiled.output, "");
  }
  static void TearDownTestSuite() { delete directory; }

  static test::CommandResult launch(const std::string& gpu, const std::string& schedule, const std::string& kernel,
                                    int groups, const std::string& more = "") {
    return test::run_command(fmt::format(
        "{} launch {}/{}.co --gpu {} --schedule {} --kernel {} --grid {} --block 256 --arg buf:{}:i32 {} --print 1:all "
        "2>&1",
        ATOLL_COMMAND, directory->path().string(), gpu, gpu, schedule, kernel, groups * 256, groups * 256, more));
  }
  /// What `--print` shows of values that are a function of their number.
  static std::string shown(int count, int (*value)(int)) {
    std::string text = fmt::format("1: {} x i32\n", count);
    for (int i = 0; i < count; ++i)
      text += (i % 8 == 0 ? fmt::format("{:>8}:", i) : "") + fmt::format(" {}", value(i)) + (i % 8 == 7 ? "\n" : "");
    return text;
  }

  static test::TemporaryDirectory* directory;
};
test::TemporaryDirectory* Schedules::directory = nullptr;

int exchanged(int i) { return (i % 256 + 64) % 256 + 1; }

// On hardware all waves of a work-group have stored by the time at which one of them has its word back from LDS.
TEST_F(Schedules, AFairOneGivesHardwaresResultOfARace) {
  for (const char* gpu : {"gfx90a", "gfx1100"}) {
    const std::string right = shown(512, exchanged);
    EXPECT_EQ(launch(gpu, "fair", "exchange", 2).output, right) << gpu;
    EXPECT_NE(launch(gpu, "fast", "exchange", 2).output, right) << gpu;
  }
}

TEST_F(Schedules, ASeedGivesOneResultOfARace) {
  std::set<std::string> results;
  for (int seed = 1; seed <= 6; ++seed) {
    const std::string first = launch("gfx90a", std::to_string(seed), "exchange", 2).output;
    EXPECT_THAT(first, testing::StartsWith("1: 512 x i32\n"));
    EXPECT_EQ(launch("gfx90a", std::to_string(seed), "exchange", 2).output, first) << seed;
    results.insert(first);
  }
  EXPECT_GT(results.size(), 3U);
}

TEST_F(Schedules, WithoutARaceAllGiveTheSame) {
  for (const char* gpu : {"gfx90a", "gfx1100"})
    for (const char* schedule : {"fast", "fair", "0", "1", "18446744073709551615"})
      EXPECT_EQ(launch(gpu, schedule, "ordered", 3).output, shown(768, exchanged)) << gpu << " " << schedule;
}

// More work-groups than are resident at first.
TEST_F(Schedules, WorkGroupsMayWaitForLaterOnes) {
  const auto group = [](int i) { return i / 256; };
  for (const char* schedule : {"fair", "3"})
    EXPECT_EQ(launch("gfx90a", schedule, "chain", 40, "--arg buf:41:i32").output, shown(40 * 256, group)) << schedule;
}

TEST_F(Schedules, ATimeoutEndsAKernelThatHangs) {
  const auto hung = launch("gfx90a", "fair", "chain", 3, "--arg buf:41:i32 --timeout 0.5");
  EXPECT_EQ(hung.exit_code, 1);
  EXPECT_THAT(hung.output, testing::HasSubstr("chain"));
}

TEST_F(Schedules, ATimeoutSaysThatAKernelWaitsForTheHost) {
  EXPECT_THAT(launch("gfx90a", "fast", "asks", 1, "--timeout 0.5").output,
              testing::HasSubstr("waits for    the host's answer to printf, assert or malloc"));
}

TEST_F(Schedules, FaultsAreReported) {
  const auto fault = launch("gfx90a", "5", "chain", 3, "--arg null");
  EXPECT_EQ(fault.exit_code, 1);
  EXPECT_THAT(fault.output, testing::HasSubstr("kernel 'chain' read from"));
}

TEST_F(Schedules, CheckersSeeTheSame) {
  for (const char* schedule : {"fast", "fair", "7"})
    EXPECT_THAT(launch("gfx90a", schedule, "exchange", 1, "--check=race").output, testing::HasSubstr("race: "))
        << schedule;
}

TEST_F(Schedules, OthersAreRefused) {
  const auto refused = launch("gfx90a", "round", "ordered", 1);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.output, testing::HasSubstr("use fair, fast or a seed"));
  EXPECT_THAT(launch("gfx90a", "fair --engine compiled", "ordered", 1).output,
              testing::HasSubstr("requires the interpreter"));
}

}  // namespace
}  // namespace Atoll

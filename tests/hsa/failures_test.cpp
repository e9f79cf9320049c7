// What happens when the host refuses what the runtime needs: memory, mappings, threads, files, a place for the cache,
// /proc. A whole program (whole_program.cpp) is run in such surroundings: it has to end with right results, or with a
// status.
//
// ATOLL_FAILURES=all has each call of the program's run fail once, and all from each on; without it some do.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "hsa/kernels.h"
#include "support/command.h"

using namespace Atoll::test;

namespace {

/// The time after which a run hangs; each takes a few hundredths of a second.
constexpr const char* limit = "timeout -s KILL 60 ";

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATOLL_SANITIZED
#endif
#endif
#ifdef ATOLL_SANITIZED
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

class HsaFailures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("ATOLL_GPU", "gfx90a", 1);
    directory = new TemporaryDirectory;
    const std::vector<uint8_t> code = compile_kernels(test_kernels);
    std::ofstream(kernels(), std::ios::binary)
        .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  }
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "sanitizers bring a malloc of their own, and need many addresses";
  }
  static void TearDownTestSuite() {
    delete directory;
    directory = nullptr;
  }

  static std::string kernels() { return *directory / "kernels.co"; }
  /// The command that runs the program with variables set, which are its own only.
  static std::string program(const std::string& settings = "") {
    return std::string(limit) + "env " + settings + " " ATOLL_WHOLE_PROGRAM " " + kernels() + " 2>/dev/null";
  }
  /// Runs the program with calls failing; `settings` are variables of failing_calls.cpp.
  static CommandResult run_with(const std::string& settings) {
    return run_command(program("LD_PRELOAD=" ATOLL_FAILING_CALLS " " + settings));
  }
  static bool ends_well(const CommandResult& run) {
    return run.exit_code == 0 &&
           (run.output.find("right") != std::string::npos || run.output.find("status") != std::string::npos);
  }

  static uint64_t count_calls() {
    const std::string report = *directory / "calls";
    const CommandResult run = run_with("FAIL_REPORT=" + report);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.output, "right\n");
    uint64_t calls = 0;
    std::ifstream(report) >> calls;
    return calls;
  }

  /// Has calls fail, `count` of them from each tried number on.
  static void fail_calls(uint64_t tries, const std::string& count) {
    const uint64_t calls = count_calls();
    ASSERT_GT(calls, 100U);
    const char* wish = std::getenv("ATOLL_FAILURES");
    if (wish != nullptr && std::string(wish) == "all") tries = calls;
    uint64_t refused = 0, runs = 0;
    for (uint64_t i = 0; i < tries; ++i) {
      const uint64_t number = 1 + i * calls / tries;
      const CommandResult run = run_with("FAIL_FIRST=" + std::to_string(number) + " FAIL_COUNT=" + count);
      ++runs;
      if (run.output.find("status") != std::string::npos) ++refused;
      EXPECT_TRUE(ends_well(run)) << "call " << number << " of " << calls << ": exit code " << run.exit_code << "\n"
                                  << run.output;
    }
    std::printf("%llu runs, %llu ended by a status\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(refused));
    EXPECT_GT(refused, 0U);
  }

  static inline TemporaryDirectory* directory = nullptr;
};

TEST_F(HsaFailures, AnyCallForMemoryThreadsOrFilesMayFail) { fail_calls(40, "1"); }

TEST_F(HsaFailures, AllCallsForMemoryThreadsOrFilesMayFailFromAnyOnOn) { fail_calls(20, "1000000000"); }

/// Runs the program behind a command in a mount namespace of its own; nothing where the host allows none.
bool can_mount() { return run_command("unshare -Urm true 2>/dev/null").exit_code == 0; }

TEST_F(HsaFailures, AFullDiskForTheCacheChangesNoResult) {
  if (!can_mount()) GTEST_SKIP() << "no user namespaces";
  const std::string cache = *directory / "cache";
  const CommandResult run =
      run_command("unshare -Urm sh -c 'mkdir " + cache + " && mount -t tmpfs -o size=4k,nr_inodes=8 tmpfs " + cache +
                  " && ATOLL_CACHE=" + cache + " " + program() + "'");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "right\n");
}

TEST_F(HsaFailures, WithoutProcProgramsRun) {
  if (!can_mount()) GTEST_SKIP() << "no user namespaces";
  const CommandResult run = run_command("unshare -Urm sh -c 'mount -t tmpfs tmpfs /proc && " + program() + "'");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "right\n");
}

TEST_F(HsaFailures, WithFewDescriptorsProgramsEndWell) {
  for (const int descriptors : {3, 4, 5, 6, 8, 12}) {
    const CommandResult run = run_command("bash -c 'ulimit -n " + std::to_string(descriptors) + "; exec " +
                                          ATOLL_WHOLE_PROGRAM " " + kernels() + "' 2>&1");
    const bool cannot_load = run.output.find("error while loading shared libraries") != std::string::npos;
    EXPECT_TRUE(ends_well(run) || cannot_load) << descriptors << ": " << run.output;
  }
}

TEST_F(HsaFailures, WithLittleAddressSpaceProgramsEndWell) {
  for (const int mebibytes : {256, 512, 1024, 4096, 65536}) {
    const CommandResult run =
        run_command("bash -c 'ulimit -v " + std::to_string(mebibytes * 1024) + "; " + program() + "' 2>&1");
    EXPECT_TRUE(ends_well(run)) << mebibytes << " MiB: " << run.exit_code << " " << run.output;
  }
}

// Below 128 GiB there is no range of addresses for what GPUs may touch, and so nothing to tell by (address_range.h).
TEST_F(HsaFailures, WithoutARangeOfAddressesProgramsAreToldThatNothingIsChecked) {
  const std::string run = std::string(limit) + ATOLL_WHOLE_PROGRAM " " + kernels() + "' 2>&1";
  const auto gibibytes = [](int count) { return std::to_string(count * 1024 * 1024); };
  const CommandResult limited = run_command("bash -c 'ulimit -v " + gibibytes(64) + "; " + run);
  EXPECT_NE(limited.output.find("only few addresses (ulimit -v)"), std::string::npos) << limited.output;
  EXPECT_NE(limited.output.find("right\n"), std::string::npos) << limited.output;
  for (const std::string& most : {gibibytes(512), std::string("unlimited")}) {
    EXPECT_EQ(run_command("bash -c 'ulimit -v " + most + "; " + run).output, "right\n") << most;
  }
}

}  // namespace

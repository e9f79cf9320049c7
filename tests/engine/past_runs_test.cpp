// The record of time spent on code by past runs: it accumulates, for this code only, whatever happens to the file.
#include "engine/compiled/past_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "support/command.h"

namespace Atoll::test {

namespace {

namespace fs = std::filesystem;
using engine::PastRuns;

class PastRunsTest : public testing::Test {
 protected:
  std::string contents() const {
    const std::vector<uint8_t> bytes = read_bytes(path_);
    return {bytes.begin(), bytes.end()};
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "of/some/cache";
};

TEST_F(PastRunsTest, AddUp) {
  EXPECT_EQ(PastRuns(path_).spent(7), 0U);
  EXPECT_FALSE(fs::exists(directory_ / "of"));
  PastRuns(path_).add(7, 1'000);
  PastRuns(path_).add(7 + PastRuns::sets, 5);  // a neighbour
  PastRuns(path_).add(7, 234);
  EXPECT_EQ(PastRuns(path_).spent(7), 1'234U);
  EXPECT_EQ(PastRuns(path_).spent(7 + PastRuns::sets), 5U);
  EXPECT_EQ(PastRuns(path_).spent(7 + 2 * PastRuns::sets), 0U);
  EXPECT_EQ(PastRuns(path_).spent(0), 0U);
  PastRuns(path_).add(7, ~uint64_t{0});
  EXPECT_EQ(PastRuns(path_).spent(7), ~uint64_t{0}) << "they cannot be more";
}

TEST_F(PastRunsTest, CanBeForgotten) {
  const PastRuns runs(path_);
  runs.forget(1);
  EXPECT_FALSE(fs::exists(path_));
  runs.add(1, 10);
  runs.add(2, 20);
  runs.forget(1);
  EXPECT_EQ(runs.spent(1), 0U);
  EXPECT_EQ(runs.spent(2), 20U);
  runs.add(1, 3);
  EXPECT_EQ(runs.spent(1), 3U);
}

TEST_F(PastRunsTest, WithoutAFileThereAreNone) {
  for (const std::string path : {"", "/proc/no/such/place"}) {
    PastRuns(path).add(1, 10);
    PastRuns(path).forget(1);
    EXPECT_EQ(PastRuns(path).spent(1), 0U);
  }
  fs::create_directories(path_);  // a directory in the file's place
  PastRuns(path_).add(1, 10);
  EXPECT_EQ(PastRuns(path_).spent(1), 0U);
}

TEST_F(PastRunsTest, OfADamagedRecordNothingIsKnown) {
  const PastRuns runs(path_);
  runs.add(1, 10);
  runs.add(1 + PastRuns::sets, 20);
  const std::string whole = contents();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x40;
    write_file(path_, damaged);
    const uint64_t first = runs.spent(1), second = runs.spent(1 + PastRuns::sets);
    EXPECT_TRUE(first == 10 || first == 0) << at;
    EXPECT_TRUE(second == 20 || second == 0) << at;
    EXPECT_NE(first + second, 0U) << "one byte is of one record only: " << at;
    runs.add(1, 5);
    EXPECT_EQ(runs.spent(1), first + 5) << at;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file(path_, whole.substr(0, size));
    const uint64_t second = runs.spent(1 + PastRuns::sets);
    EXPECT_TRUE(second == 0 || (second == 20 && size == whole.size())) << size;
  }
}

TEST_F(PastRunsTest, AFileOfAnythingIsNothing) {
  std::mt19937 random(1);
  std::string noise(2 * PastRuns::bytes, 0);
  for (char& byte : noise) byte = static_cast<char>(random());
  write_file(path_ + "-noise", noise);
  const PastRuns runs(path_ + "-noise");
  for (uint64_t code = 0; code < 2 * PastRuns::sets; ++code) EXPECT_EQ(runs.spent(code), 0U);
  runs.add(3, 4);
  EXPECT_EQ(runs.spent(3), 4U);
}

TEST_F(PastRunsTest, TakeLittleRoomAndKeepWhatMostWasSpentOn) {
  const PastRuns runs(path_);
  constexpr uint64_t much = 1'000'000'000, codes = 4 * PastRuns::sets * PastRuns::records_of_a_set;
  runs.add(0, much);
  for (uint64_t code = 1; code < codes; ++code) runs.add(code, 1'000);
  EXPECT_LE(fs::file_size(path_), PastRuns::bytes);
  EXPECT_GT(runs.spent(0), 0U);
  EXPECT_LT(runs.spent(0), much) << "it would stay for ever";
  EXPECT_EQ(runs.spent(codes - 1), 1'000U) << "what runs now has its place";
}

TEST_F(PastRunsTest, WhatNobodyRunsAnyMoreGoesSomeDay) {
  const PastRuns runs(path_);
  runs.add(0, ~uint64_t{0});
  for (uint64_t other = 1; runs.spent(0) != 0; ++other) {
    ASSERT_LT(other, 1'000U);
    runs.add(other * PastRuns::sets, 1'000);
  }
}

TEST_F(PastRunsTest, AreSharedWithoutMixingCodesUp) {
  constexpr unsigned threads = 4, times = 200;
  std::vector<std::thread> all;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    all.emplace_back([this, thread] {
      for (unsigned i = 0; i < times; ++i) {
        PastRuns(path_).add(thread, thread + 1);  // each in a set of its own: exact
        PastRuns(path_).add(PastRuns::sets - 1, 1);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  for (uint64_t thread = 0; thread < threads; ++thread) EXPECT_EQ(PastRuns(path_).spent(thread), times * (thread + 1));
  const uint64_t together = PastRuns(path_).spent(PastRuns::sets - 1);
  EXPECT_LE(together, threads * times);
  EXPECT_GT(together, 0U);
}

}  // namespace

}  // namespace Atoll::test

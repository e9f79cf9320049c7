// observe: where kernels have stored what nobody has written.
#include "observe/shadow/undefined_stores.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace Atoll::observe {
namespace {

class UndefinedStoresTest : public testing::Test {
 protected:
  void store(uint64_t begin, uint64_t end, uint64_t pc) {
    stores_.add(begin, end, pc, [&] { return UndefinedStores::Place{.code = {.pc = pc}, .kernel = "k", .origin = 0}; });
  }
  std::string longest(uint64_t begin, uint64_t end, const std::function<bool(uint64_t)>& is_undefined) const {
    const auto run = stores_.longest(begin, end, is_undefined);
    if (!run) return "none";
    return std::to_string(run->begin) + " to " + std::to_string(run->end) + " at " + std::to_string(run->place.code.pc);
  }
  static bool all(uint64_t) { return true; }

  UndefinedStores stores_;
};

TEST_F(UndefinedStoresTest, StoresOfLanesAreOneRun) {
  for (uint64_t lane = 0; lane < 64; ++lane) store(1000 + 4 * lane, 1004 + 4 * lane, 7);
  EXPECT_EQ(longest(0, 5000, all), "1000 to 1256 at 7");
  EXPECT_EQ(longest(1100, 1200, all), "1100 to 1200 at 7");
}

TEST_F(UndefinedStoresTest, OrderAndInstructionDoNotMatter) {
  for (uint64_t lane = 16; lane-- > 0;) store(1000 + 4 * lane, 1004 + 4 * lane, lane % 2);
  EXPECT_EQ(longest(0, 5000, all), "1000 to 1064 at 0");
}

TEST_F(UndefinedStoresTest, FewDwordsMayBePadding) {
  store(1000, 1028, 7);
  EXPECT_EQ(longest(0, 5000, all), "none");
  store(1028, 1032, 7);
  EXPECT_EQ(longest(0, 5000, all), "1000 to 1032 at 7");
}

TEST_F(UndefinedStoresTest, WhatHasBeenWrittenSinceEndsARun) {
  store(1000, 1200, 7);
  EXPECT_EQ(longest(0, 5000, [](uint64_t address) { return address != 1080; }), "1084 to 1200 at 7");
}

TEST_F(UndefinedStoresTest, LaterStoresAreTold) {
  store(1000, 1200, 7);
  store(1000, 1040, 8);
  EXPECT_EQ(longest(0, 5000, all), "1000 to 1200 at 8");
  EXPECT_EQ(longest(1040, 5000, all), "1040 to 1200 at 7");
}

TEST_F(UndefinedStoresTest, ForgottenMemoryIsCutOut) {
  store(1000, 1200, 7);
  stores_.forget(1040, 1060);
  EXPECT_EQ(longest(0, 5000, all), "1060 to 1200 at 7");
  EXPECT_EQ(longest(0, 1060, all), "1000 to 1040 at 7");
  stores_.forget(0, 5000);
  EXPECT_EQ(longest(0, 5000, all), "none");
}

}  // namespace
}  // namespace Atoll::observe

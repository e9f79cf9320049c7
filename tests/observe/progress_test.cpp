// The line about a kernel that takes long to check.
#include "observe/report/progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/wave/dispatch.h"

namespace Atoll::test {
namespace {

using observe::Progress;

TEST(Progress, ALineOnceInSomeSeconds) {
  std::vector<std::string> reported;
  Progress::Clock::time_point now;
  Progress progress([&](std::string_view text) { reported.emplace_back(text); }, [&] { return now; });
  machine::Dispatch dispatch;
  dispatch.kernel = std::make_shared<machine::Kernel>();
  dispatch.kernel->name = "slow";
  dispatch.launch.work_group_count = 100;
  machine::WorkGroup group;
  group.dispatch = &dispatch;
  progress.dispatch_begins(dispatch);
  for (int i = 0; i < 100; ++i) {
    now += std::chrono::seconds(1);
    progress.work_group_ends(group);
  }
  progress.dispatch_ends(dispatch);
  ASSERT_EQ(reported.size(), 19U);  // not when it is done
  EXPECT_EQ(reported[1], "atoll: checking kernel 'slow': 10 of 100 work-groups in 10 seconds\n");
  progress.work_group_ends(group);
  EXPECT_EQ(reported.size(), 19U);
  EXPECT_FALSE(Progress({}).is_wanted());
}

}  // namespace
}  // namespace Atoll::test

// What threads keep, when they end: programs may launch kernels after that, from destructors of static objects.
#include "observe/race/thread_slots.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace Atoll::test {
namespace {

struct Kept {
  std::shared_ptr<int> value;
};
Kept& kept() { return observe::thread_slot<Kept, 4>(1); }

TEST(ThreadSlots, AreAThreadsOwnAndEndWithIt) {
  const auto value = std::make_shared<int>(1);
  std::thread([&] {
    EXPECT_EQ(kept().value, nullptr);
    kept().value = value;
    EXPECT_EQ(value.use_count(), 2);
    EXPECT_EQ((observe::thread_slot<Kept, 4>(5).value), value);
  }).join();
  EXPECT_EQ(value.use_count(), 1);
}

TEST(ThreadSlots, CanBeUsedWhenAProgramEnds) {
  struct AtEnd {
    ~AtEnd() {
      if (kept().value != nullptr) _exit(2);
      kept().value = std::make_shared<int>(2);
      if (observe::thread_slot<int, 1>(0) != 0 || *kept().value != 2) _exit(3);
    }
  };
  EXPECT_EXIT(
      {
        static AtEnd at_end;
        kept().value = std::make_shared<int>(1);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace Atoll::test

// Keeps a test's thread on one of the host's processors, for tests of where other threads run.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

namespace Atoll::test {

/// Until the end of its life the thread that makes it stays on the processor where it is.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(number), &one);
    EXPECT_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
  }
  ~OnOneProcessor() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;
  bool is_the_only_one() const { return CPU_COUNT(&before_) == 1; }
  const int number = sched_getcpu();

 private:
  cpu_set_t before_{};
};

}  // namespace Atoll::test

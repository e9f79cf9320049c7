// On which processors a worker may wake, as the kernel tells it.
#include "machine/schedule/worker.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <optional>

#include "on_one_processor.h"

namespace Atoll::machine {
namespace {

cpu_set_t allowed(pthread_t thread) {
  cpu_set_t processors;
  EXPECT_EQ(pthread_getaffinity_np(thread, sizeof processors, &processors), 0);
  return processors;
}

cpu_set_t without(cpu_set_t processors, int processor) {
  CPU_CLR(static_cast<size_t>(processor), &processors);
  return processors;
}

bool equal(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b) != 0; }

class WorkerTest : public testing::Test {
 protected:
  ~WorkerTest() override { stop(); }
  void start() {
    worker_.emplace("a worker", [this](Worker& self) {
      std::unique_lock lock(mutex_);
      thread_ = pthread_self();
      while (!stopping_) {
        ++slept_;
        self.sleep(lock);
        woke_on_ = sched_getcpu();
      }
    });
    await([&] { return slept_ == 1; });
  }
  void stop() {
    if (!worker_) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      worker_->wake(any);
    }
    worker_.reset();
  }
  /// Looks without a pause, so that the thread that does is not off its processor.
  template <typename Condition>
  void await(const Condition& condition) {
    for (;;) {
      const std::lock_guard lock(mutex_);
      if (condition()) return;
    }
  }
  void avoid_cpu(int processor) {
    const std::lock_guard lock(mutex_);
    worker_->avoid_cpu(processor);
  }
  void wake() {
    const unsigned before = slept_;
    {
      const std::lock_guard lock(mutex_);
      worker_->wake(any);
    }
    await([&] { return slept_ != before; });
  }

  static constexpr int any = -1;  ///< no processor to be kept off
  const cpu_set_t before_ = allowed(pthread_self());
  const int here_ = sched_getcpu();
  std::mutex mutex_;
  pthread_t thread_{};
  std::atomic<unsigned> slept_ = 0;
  int woke_on_ = -1;
  bool stopping_ = false;
  std::optional<Worker> worker_;
};

TEST_F(WorkerTest, WakesOnAnotherProcessorAndMayThenRunOnAll) {
  if (CPU_COUNT(&before_) == 1) GTEST_SKIP() << "this host has one processor";
  start();
  const test::OnOneProcessor here;
  constexpr int rounds = 20;
  int elsewhere = 0;
  for (int round = 0; round < rounds; ++round) {
    avoid_cpu(here.number);
    EXPECT_TRUE(equal(allowed(thread_), without(before_, here.number)));
    wake();
    EXPECT_TRUE(equal(allowed(thread_), before_));
    if (woke_on_ != here.number) ++elsewhere;
  }
  // Once it is awake, the kernel may move it.
  EXPECT_GE(elsewhere, rounds / 2);
}

TEST_F(WorkerTest, IsKeptOffOneProcessorAtATime) {
  if (CPU_COUNT(&before_) == 1) GTEST_SKIP() << "this host has one processor";
  start();
  int other = 0;
  while (other == here_ || !CPU_ISSET(static_cast<size_t>(other), &before_)) ++other;
  avoid_cpu(other);
  avoid_cpu(here_);
  EXPECT_TRUE(equal(allowed(thread_), without(before_, here_)));
  wake();
  EXPECT_TRUE(equal(allowed(thread_), before_));
}

TEST_F(WorkerTest, RunsWhereItMayIfThatIsOneProcessorOnly) {
  const test::OnOneProcessor here;
  start();  // which it inherits
  const cpu_set_t only = allowed(thread_);
  avoid_cpu(here.number);
  EXPECT_TRUE(equal(allowed(thread_), only));
  wake();
  EXPECT_EQ(woke_on_, here.number);
}

TEST_F(WorkerTest, WhatIsNoProcessorChangesNothing) {
  start();
  avoid_cpu(-1);  // the result of sched_getcpu() on failure
  avoid_cpu(1'000'000);
  EXPECT_TRUE(equal(allowed(thread_), before_));
}

TEST_F(WorkerTest, RestrictionsOfOthersStay) {
  if (CPU_COUNT(&before_) == 1) GTEST_SKIP() << "this host has one processor";
  start();
  const cpu_set_t restricted = without(before_, here_);
  ASSERT_EQ(pthread_setaffinity_np(thread_, sizeof restricted, &restricted), 0);
  avoid_cpu(here_);
  wake();
  EXPECT_TRUE(equal(allowed(thread_), restricted));
}

}  // namespace
}  // namespace Atoll::machine

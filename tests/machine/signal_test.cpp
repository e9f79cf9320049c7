// Signals: arithmetic, and threads that wait for each other.
#include "machine/queue/signal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "machine/queue/signal_watch.h"

namespace Atoll::machine {
namespace {

TEST(Signal, OperationsReturnTheOldValue) {
  aql::Signal signal{};
  store(signal, 12);
  EXPECT_EQ(add(signal, -2), 12);
  EXPECT_EQ(bit_and(signal, 0b0110), 10);
  EXPECT_EQ(bit_or(signal, 0b1000), 2);
  EXPECT_EQ(bit_xor(signal, 0b1001), 10);
  EXPECT_EQ(exchange(signal, -5), 3);
  EXPECT_EQ(compare_exchange(signal, 1, 2), -5);
  EXPECT_EQ(compare_exchange(signal, -5, 2), -5);
  EXPECT_EQ(load(signal), 2);
}

TEST(Signal, ConditionsCompareAsSigned) {
  EXPECT_TRUE(holds(Condition::lt, -1, 0));
  EXPECT_FALSE(holds(Condition::gte, -1, 0));
  EXPECT_TRUE(holds(Condition::gte, 0, 0));
  EXPECT_TRUE(holds(Condition::eq, -7, -7));
  EXPECT_TRUE(holds(Condition::ne, -7, 7));
}

TEST(Signal, AWaitEndsAtItsTimeoutWithTheValueSeen) {
  aql::Signal signal{};
  store(signal, 3);
  const uint64_t start = now_ns();
  EXPECT_EQ(wait(signal, Condition::eq, 4, 2'000'000, false), 3);
  EXPECT_GE(now_ns() - start, 2'000'000u);
  EXPECT_EQ(wait(signal, Condition::eq, 4, 0, true), 3);
}

TEST(Signal, TwoThreadsTakeTurns) {
  constexpr int rounds = 2000;
  aql::Signal ping{}, pong{};
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      wait(ping, Condition::eq, i, UINT64_MAX, i % 2 == 0);
      store(pong, i);
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    store(ping, i);
    EXPECT_EQ(wait(pong, Condition::eq, i, UINT64_MAX, i % 3 == 0), i);
  }
  other.join();
}

TEST(Signal, EveryWaiterWakes) {
  aql::Signal gate{}, arrived{};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      wait(gate, Condition::gte, 1, UINT64_MAX, false);
      add(arrived, 1);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  store(gate, 1);
  EXPECT_EQ(wait(arrived, Condition::eq, 8, UINT64_MAX, false), 8);
  for (std::thread& thread : threads) thread.join();
}

TEST(Signal, AChangeWithoutAWakeIsSeenNevertheless) {  // as kernels make it, with plain atomics
  aql::Signal signal{};
  std::thread kernel([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    __atomic_store_n(&signal.value, 1, __ATOMIC_RELEASE);
  });
  EXPECT_EQ(wait(signal, Condition::eq, 1, UINT64_MAX, false), 1);
  kernel.join();
}

TEST(Signal, WaitAnyTellsWhichOne) {
  aql::Signal first{}, second{};
  const Awaited awaited[] = {{&first, Condition::eq, 5}, {&second, Condition::lt, 0}};
  EXPECT_EQ(wait_any(awaited, 1000, false), -1);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    store(second, -1);
  });
  EXPECT_EQ(wait_any(awaited, UINT64_MAX, false), 1);
  other.join();
  store(first, 5);
  EXPECT_EQ(wait_any(awaited, UINT64_MAX, false), 0);
}

TEST(Signal, WhoWaitsIsWokenByNoOtherSignal) {
  std::vector<aql::Signal> signals(1000);  // more than there are buckets
  EventCount changed;
  std::atomic<unsigned> looks{0};
  const SignalWatch watch(signals[0], changed);
  std::thread waiter([&] {
    const auto ready = [&] { return ++looks, load(signals[0]) != 0; };
    constexpr uint64_t never_ns = uint64_t{3600} * 1'000'000'000;
    EXPECT_TRUE(changed.sleep_until(UINT64_MAX, now_ns(), ready, {.least_ns = never_ns, .max_ns = never_ns}));
  });
  while (looks == 0) std::this_thread::yield();
  for (aql::Signal& other : signals) {
    if (&other != &signals[0]) store(other, 1);
  }
  EXPECT_EQ(looks, 1U);
  store(signals[0], 1);
  waiter.join();
  EXPECT_LE(looks, 3U);
}

TEST(Signal, AnInterruptTellsThoseThatWatchSignalsOfItsEvent) {
  aql::Signal signal{}, other{};
  ASSERT_NE(event_id_of(signal), event_id_of(other));
  for (const uint32_t event : {event_id_of(signal), uint32_t{0}, UINT32_MAX}) {
    std::atomic<unsigned> looks{0};
    std::thread waiter([&] {
      EventCount changed;
      const SignalWatch watch(signal, changed);
      const auto ready = [&] { return ++looks, load(signal) != 0; };
      constexpr uint64_t never_ns = uint64_t{3600} * 1'000'000'000;
      EXPECT_TRUE(changed.sleep_until(UINT64_MAX, now_ns(), ready, {.least_ns = never_ns, .max_ns = never_ns}));
    });
    while (looks == 0) std::this_thread::yield();
    __atomic_store_n(&signal.value, 1, __ATOMIC_SEQ_CST);
    notify_watchers_of_event(event);
    waiter.join();
    store(signal, 0);
  }
}

TEST(Signal, AllOfSeveralAreAwaitedThoughNotAtATime) {
  std::vector<aql::Signal> signals(20);
  std::vector<Awaited> awaited;
  for (const aql::Signal& signal : signals) awaited.push_back({&signal, Condition::ne, 0});
  std::vector<int64_t> values(signals.size());
  EXPECT_FALSE(wait_all(awaited, values, 1000, false));
  std::thread other([&] {
    for (aql::Signal& signal : signals) store(signal, 5);
  });
  EXPECT_TRUE(wait_all(awaited, values, UINT64_MAX, false));
  other.join();
  EXPECT_EQ(values, std::vector<int64_t>(signals.size(), 5));
}

}  // namespace
}  // namespace Atoll::machine

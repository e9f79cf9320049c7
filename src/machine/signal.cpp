// machine: signals, and the one eventcount on which every thread sleeps that waits for one.
//
// A waiter counts itself as a sleeper, reads the epoch, looks at its signals once more and only then sleeps for as
// long as the epoch stays what it was. A waker changes the signal first and looks for sleepers afterwards. One
// of the two therefore always sees the other: the waiter the new value, or the waker the sleeper.
#include "machine/signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace Atoll::machine {

namespace {

std::atomic<uint32_t> epoch{0};
std::atomic<uint32_t> sleepers{0};

/// A kernel that changes a signal without an interrupt wakes nobody: sleepers look again this often.
constexpr uint64_t recheck_ns = 1'000'000;
constexpr uint64_t active_spin_ns = 50'000, blocked_spin_ns = 10'000;

void sleep_on(std::atomic<uint32_t>& word, uint32_t expected, uint64_t ns) {
  const timespec timeout{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}

/// Calls `ready` until it says true or the time is over; returns what it said last.
template <typename Ready>
bool wait_until(uint64_t timeout_ns, bool spin, const Ready& ready) {
  if (ready()) return true;
  if (timeout_ns == 0) return false;
  const uint64_t start = now_ns();
  const uint64_t end = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
  const uint64_t spin_end = std::min(end, start + (spin ? active_spin_ns : blocked_spin_ns));
  while (now_ns() < spin_end) {
    for (unsigned i = 0; i < 16; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
  }
  for (;;) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    const uint32_t seen = epoch.load(std::memory_order_seq_cst);
    const bool now_ready = ready();
    const uint64_t now = now_ns();
    if (!now_ready && now < end) sleep_on(epoch, seen, std::min(recheck_ns, end - now));
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (now_ready || ready()) return true;
    if (now >= end) return false;
  }
}

}  // namespace

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void wake_waiters() {
  // A read-modify-write rather than a load: it orders the signal's change before the look at the sleepers.
  if (sleepers.fetch_add(0, std::memory_order_seq_cst) == 0) return;
  epoch.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &epoch, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void store(aql::Signal& signal, int64_t value) {
  __atomic_store_n(&signal.value, value, __ATOMIC_SEQ_CST);
  wake_waiters();
}

int64_t add(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_add(&signal.value, value, __ATOMIC_SEQ_CST);
  wake_waiters();
  return old;
}

int64_t exchange(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_exchange_n(&signal.value, value, __ATOMIC_SEQ_CST);
  wake_waiters();
  return old;
}

int64_t compare_exchange(aql::Signal& signal, int64_t expected, int64_t value) {
  __atomic_compare_exchange_n(&signal.value, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  wake_waiters();
  return expected;
}

int64_t bit_and(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_and(&signal.value, value, __ATOMIC_SEQ_CST);
  wake_waiters();
  return old;
}

int64_t bit_or(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_or(&signal.value, value, __ATOMIC_SEQ_CST);
  wake_waiters();
  return old;
}

int64_t bit_xor(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_xor(&signal.value, value, __ATOMIC_SEQ_CST);
  wake_waiters();
  return old;
}

int64_t wait(const aql::Signal& signal, Condition condition, int64_t compare, uint64_t timeout_ns, bool spin) {
  int64_t value = 0;
  wait_until(timeout_ns, spin, [&] {
    value = load(signal);
    return holds(condition, value, compare);
  });
  return value;
}

int wait_any(std::span<const Awaited> awaited, uint64_t timeout_ns, bool spin) {
  int found = -1;
  wait_until(timeout_ns, spin, [&] {
    for (size_t i = 0; i < awaited.size(); ++i) {
      if (!holds(awaited[i].condition, load(*awaited[i].signal), awaited[i].compare)) continue;
      found = static_cast<int>(i);
      return true;
    }
    return false;
  });
  return found;
}

}  // namespace Atoll::machine

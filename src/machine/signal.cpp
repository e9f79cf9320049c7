// machine: signals, and the eventcount on which every thread sleeps that waits for one. See signal.h.
#include "machine/signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "machine/event_count.h"

namespace Atoll::machine {

namespace {

EventCount signals_changed;

constexpr uint64_t active_spin_ns = 50'000, blocked_spin_ns = 10'000;

template <typename Ready>
bool wait_for_signals(uint64_t timeout_ns, bool spin, const Ready& ready) {
  const uint64_t now = timeout_ns == 0 ? 0 : now_ns();
  const uint64_t end = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
  return signals_changed.wait_until(end, spin ? active_spin_ns : blocked_spin_ns, ready);
}

}  // namespace

void EventCount::wake() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void EventCount::sleep(uint32_t seen, uint64_t ns) {
  const timespec timeout{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

void wake_waiters() { signals_changed.notify(); }

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
  wait_for_signals(timeout_ns, spin, [&] {
    value = load(signal);
    return holds(condition, value, compare);
  });
  return value;
}

int wait_any(std::span<const Awaited> awaited, uint64_t timeout_ns, bool spin) {
  int found = -1;
  wait_for_signals(timeout_ns, spin, [&] {
    for (size_t i = 0; i < awaited.size(); ++i) {
      if (!holds(awaited[i].condition, load(*awaited[i].signal), awaited[i].compare)) continue;
      found = static_cast<int>(i);
      return true;
    }
    return false;
  });
  return found;
}

bool wait_until(const std::function<bool()>& ready, uint64_t timeout_ns, bool spin) {
  return wait_for_signals(timeout_ns, spin, ready);
}

}  // namespace Atoll::machine

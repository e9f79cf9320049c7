// machine: signals, and how threads wait for them. See signal.h.
#include "machine/queue/signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "machine/queue/signal_watch.h"

namespace Atoll::machine {

namespace {

constexpr uint64_t active_spin_ns = 50'000, blocked_spin_ns = 10'000;

/// Waits for some of `count` signals, of which `signal` gives one by its number; null for one that is awaited no more.
template <typename SignalAt, typename Ready>
bool wait_for_signals(size_t count, const SignalAt& signal, uint64_t timeout_ns, bool spin, const Ready& ready) {
  if (ready()) return true;
  if (timeout_ns == 0) return false;
  uint64_t now = now_ns();
  const uint64_t end = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
  if (spin_until(std::min(end, now + (spin ? active_spin_ns : blocked_spin_ns)), now, ready)) return true;
  EventCount changed;
  constexpr size_t max_inline = 8;
  SignalWatch inline_watches[max_inline];
  const auto more_watches = count > max_inline ? std::make_unique<SignalWatch[]>(count) : nullptr;
  SignalWatch* const watches = more_watches ? more_watches.get() : inline_watches;
  bool any_without_mailbox = false;
  for (size_t i = 0; i < count; ++i) {
    const aql::Signal* each = signal(i);
    if (each == nullptr) continue;
    watches[i].start(*each, changed);
    any_without_mailbox |= each->event_mailbox_ptr == 0;
  }
  return changed.sleep_until(end, now, ready, recheck_of_signals(any_without_mailbox));
}

}  // namespace

Recheck recheck_of_signals(bool any_without_mailbox) {
  return {.least_ns = 1'000'000, .max_ns = any_without_mailbox ? uint64_t{8'000'000} : uint64_t{1'000'000'000}};
}

void EventCount::wake() {
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void EventCount::sleep(uint32_t seen, uint64_t ns) {
  const timespec timeout{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

void store(aql::Signal& signal, int64_t value) {
  __atomic_store_n(&signal.value, value, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
}

int64_t add(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_add(&signal.value, value, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
  return old;
}

int64_t exchange(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_exchange_n(&signal.value, value, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
  return old;
}

int64_t compare_exchange(aql::Signal& signal, int64_t expected, int64_t value) {
  __atomic_compare_exchange_n(&signal.value, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
  return expected;
}

int64_t bit_and(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_and(&signal.value, value, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
  return old;
}

int64_t bit_or(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_or(&signal.value, value, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
  return old;
}

int64_t bit_xor(aql::Signal& signal, int64_t value) {
  const int64_t old = __atomic_fetch_xor(&signal.value, value, __ATOMIC_SEQ_CST);
  notify_watchers(signal);
  return old;
}

int64_t wait(const aql::Signal& signal, Condition condition, int64_t compare, uint64_t timeout_ns, bool spin) {
  int64_t value = 0;
  const auto ready = [&] {
    value = load(signal);
    return holds(condition, value, compare);
  };
  wait_for_signals(1, [&](size_t) { return &signal; }, timeout_ns, spin, ready);
  return value;
}

int wait_any(std::span<const Awaited> awaited, uint64_t timeout_ns, bool spin, int64_t* value) {
  int found = -1;
  const auto ready = [&] {
    for (size_t i = 0; i < awaited.size(); ++i) {
      const int64_t seen = load(*awaited[i].signal);
      if (!holds(awaited[i].condition, seen, awaited[i].compare)) continue;
      if (value != nullptr) *value = seen;
      found = static_cast<int>(i);
      return true;
    }
    return false;
  };
  const auto signal = [&](size_t i) { return awaited[i].signal; };
  wait_for_signals(awaited.size(), signal, timeout_ns, spin, ready);
  return found;
}

bool wait_all(std::span<Awaited> awaited, std::span<int64_t> values, uint64_t timeout_ns, bool spin) {
  const auto ready = [&] {
    bool all = true;
    for (size_t i = 0; i < awaited.size(); ++i) {
      if (awaited[i].signal == nullptr) continue;
      values[i] = load(*awaited[i].signal);
      if (holds(awaited[i].condition, values[i], awaited[i].compare)) {
        awaited[i].signal = nullptr;
      } else {
        all = false;
      }
    }
    return all;
  };
  const auto signal = [&](size_t i) { return awaited[i].signal; };
  return wait_for_signals(awaited.size(), signal, timeout_ns, spin, ready);
}

}  // namespace Atoll::machine

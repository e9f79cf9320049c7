// machine: event count: threads wait for a condition without a lock and without lost wake-ups.
//
// A waiter registers as a sleeper, reads the epoch, and checks its condition once more. It sleeps only as long as
// the epoch is unchanged. The thread that makes the condition true checks for sleepers afterwards. So either the
// waiter sees the new state, or the waker sees the sleeper.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "machine/clock.h"

namespace Atoll::machine {

/// Interval at which a sleeper rechecks its condition without a notification, because some changes are silent: a
/// fraction of the time slept so far, within these limits. Soon changes are thus seen soon, and many long waits cost
/// little.
struct Recheck {
  uint64_t least_ns = 1'000'000, max_ns = 1'000'000;

  uint64_t after(uint64_t slept_ns) const { return std::clamp(slept_ns / 8, least_ns, max_ns); }
};

/// Calls `ready` until it says true or the clock reaches `end_ns`; returns what it said last. `now` is the time, then
/// and on return.
template <typename Ready>
bool spin_until(uint64_t end_ns, uint64_t& now, const Ready& ready) {
  while (now < end_ns) {
    for (unsigned i = 0; i < 16; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
    now = now_ns();
  }
  return false;
}

class EventCount {
 public:
  /// Wakes all sleepers; call after the change. One atomic operation if there are none.
  void notify() {
    // A read-modify-write rather than a load: it keeps the look at the sleepers after the change.
    if (sleepers_.fetch_add(0, std::memory_order_seq_cst) != 0) wake();
  }

  /// Calls `ready` until it says true or the clock reaches `end_ns`; returns what it said last. Spins for `spin_ns`
  /// first, then sleeps.
  template <typename Ready>
  bool wait_until(uint64_t end_ns, uint64_t spin_ns, const Ready& ready, Recheck recheck = {}) {
    if (ready()) return true;
    uint64_t now = now_ns();
    return spin_until(std::min(end_ns, now + spin_ns), now, ready) || sleep_until(end_ns, now, ready, recheck);
  }

  /// As wait_until(), without spinning; `now` is the current time.
  template <typename Ready>
  bool sleep_until(uint64_t end_ns, uint64_t now, const Ready& ready, Recheck recheck = {}) {
    const uint64_t begin = now;
    while (now < end_ns) {
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      const uint32_t seen = epoch_.load(std::memory_order_seq_cst);
      const bool already = ready();
      if (!already) sleep(seen, std::min(recheck.after(now - begin), end_ns - now));
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
      if (already || ready()) return true;
      now = now_ns();
    }
    return ready();
  }

 private:
  void wake();
  void sleep(uint32_t seen, uint64_t ns);

  std::atomic<uint32_t> epoch_{0}, sleepers_{0};
};

}  // namespace Atoll::machine

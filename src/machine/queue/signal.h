// machine: signals: 64-bit values in shared memory that the host and kernels change and wait for.
//
// A kernel changes a signal with ordinary atomics, which the host does not observe. If the signal has an event
// mailbox, the kernel then sends an interrupt (s_sendmsg). Waiting threads spin briefly and then sleep until an
// operation on one of their signals or an interrupt wakes them (signal_watch.h). They poll at intervals for
// changes without a notification.
// Source: HSA runtime specification, "Signals"; amd_signal_t.
#pragma once

#include <cstdint>
#include <span>

#include "machine/clock.h"
#include "machine/queue/aql.h"
#include "machine/queue/event_count.h"

namespace Atoll::machine {

enum class Condition : uint8_t { eq = 0, ne = 1, lt = 2, gte = 3 };  ///< as hsa_signal_condition_t

constexpr bool holds(Condition condition, int64_t value, int64_t compare) {
  switch (condition) {
    case Condition::eq:
      return value == compare;
    case Condition::ne:
      return value != compare;
    case Condition::lt:
      return value < compare;
    case Condition::gte:
      return value >= compare;
  }
  return false;
}

/// Signal values as the HSA calls change them; each wakes the signal's waiters.
inline int64_t load(const aql::Signal& signal) { return __atomic_load_n(&signal.value, __ATOMIC_ACQUIRE); }
void store(aql::Signal& signal, int64_t value);
int64_t add(aql::Signal& signal, int64_t value);  ///< returns the old value
int64_t exchange(aql::Signal& signal, int64_t value);
int64_t compare_exchange(aql::Signal& signal, int64_t expected, int64_t value);
int64_t bit_and(aql::Signal& signal, int64_t value);
int64_t bit_or(aql::Signal& signal, int64_t value);
int64_t bit_xor(aql::Signal& signal, int64_t value);

/// Waits until the condition holds or `timeout_ns` (UINT64_MAX: for ever) has passed; returns the last value seen.
int64_t wait(const aql::Signal& signal, Condition condition, int64_t compare, uint64_t timeout_ns, bool spin);

struct Awaited {
  const aql::Signal* signal;
  Condition condition;
  int64_t compare;
};
/// Index of a signal whose condition holds, or -1 after the timeout; and the value with which it does.
int wait_any(std::span<const Awaited> awaited, uint64_t timeout_ns, bool spin, int64_t* value = nullptr);

/// Waits until each condition has held once, not necessarily all at a time; false after the timeout. Gives the values
/// seen last; an entry whose signal is null, as those are left whose conditions have held, is not waited for.
bool wait_all(std::span<Awaited> awaited, std::span<int64_t> values, uint64_t timeout_ns, bool spin);

/// Polling interval for signals without notification. Kernels send an interrupt after changing a signal with an event
/// mailbox; changes by other processes, or to other signals, are silent.
Recheck recheck_of_signals(bool any_without_mailbox);

}  // namespace Atoll::machine

// machine: signals: 64-bit values in shared memory that the host and kernels change and wait for.
//
// A kernel changes a signal with ordinary atomics, unseen by the host; it then says so with s_sendmsg (an
// interrupt) when the signal has an event mailbox. Waiting threads spin for a moment and then sleep until
// some signal operation or interrupt wakes them, looking again every millisecond for kernels that send none.
// Source: HSA runtime specification, "Signals"; amd_signal_t.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "machine/aql.h"
#include "machine/clock.h"

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

/// Wakes every thread that sleeps in wait_*: call after changing a signal's value (and on s_sendmsg interrupts).
/// Costs one atomic load when nobody sleeps.
void wake_waiters();

/// Signal values as the HSA calls change them; each wakes waiters.
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
/// Index of a signal whose condition holds, or -1 after the timeout.
int wait_any(std::span<const Awaited> awaited, uint64_t timeout_ns, bool spin);

/// Waits until `ready`, which looks at signals and at whatever else is told by wake_waiters(), says true; false after
/// the timeout.
bool wait_until(const std::function<bool()>& ready, uint64_t timeout_ns, bool spin);

}  // namespace Atoll::machine

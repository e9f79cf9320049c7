// machine: notification of changes of signals.
//
// Signals hash into buckets by their addresses. A thread that sleeps until a signal changes is in the list of the
// signal's bucket. A thread that changes a signal inspects that list, by one atomic operation if it is empty, and
// wakes only the sleepers of that signal. So the cost of either does not depend on how many threads wait for other
// signals. A bucket's number is also the event that a kernel's interrupt names.
#pragma once

#include <cstdint>

#include "machine/queue/aql.h"
#include "machine/queue/event_count.h"

namespace Atoll::machine {

/// Notifies an event count of each change of a signal. The signal is known by its address and not looked at.
class SignalWatch {
 public:
  SignalWatch() = default;
  SignalWatch(const aql::Signal& signal, EventCount& reported) { start(signal, reported); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() { stop(); }

  /// Watches this signal instead of the previous one. Earlier changes are not notified.
  void start(const aql::Signal& signal, EventCount& reported);
  void stop();

 private:
  friend class WatchBucket;

  const aql::Signal* signal_ = nullptr;  ///< null: none
  EventCount* reported_ = nullptr;
  SignalWatch *next_ = nullptr, *previous_ = nullptr;  ///< in the bucket
};

/// Notifies the watchers of a signal; call after changing it.
void notify_watchers(const aql::Signal& signal);

/// Returns a value for a signal's `event_id`; never 0.
uint32_t event_id_of(const aql::Signal& signal);
/// Handles a kernel's interrupt after it changed a signal with an event mailbox. It contains the signal's event ID;
/// unknown values notify all watchers.
void notify_watchers_of_event(uint32_t event_id);

/// Clears the watchers in the child of a fork, which has none of the watching threads.
void forget_watches();

}  // namespace Atoll::machine

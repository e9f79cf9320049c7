// hsa: functions that a thread of the runtime calls when a signal's condition comes to hold
// (hsa_amd_signal_async_handler), or just soon (hsa_amd_async_function).
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "hsa/queue/signal.h"
#include "machine/queue/event_count.h"
#include "machine/queue/signal_watch.h"

namespace Atoll::hsa {

class AsyncEvents {
 public:
  AsyncEvents() = default;
  AsyncEvents(const AsyncEvents&) = delete;
  AsyncEvents& operator=(const AsyncEvents&) = delete;
  ~AsyncEvents();  ///< pending handlers are dropped

  /// A handler that returns true stays; one that returns false is done. Keeps the signal alive meanwhile.
  hsa_status_t add(Signal& signal, hsa_signal_condition_t condition, int64_t compare, hsa_amd_signal_handler handler,
                   void* argument);
  hsa_status_t call(void (*function)(void*), void* argument);
  /// Returns when no handler runs and none is due, or after a second: one may wait for what the caller holds. Not for
  /// callbacks themselves.
  void drain();
  /// From here on no handler is begun. What they would look at may go away while the runtime is shut down.
  void stop() { stopping_ = true; }
  /// Stops, and returns when the handler that runs has returned.
  void join();

 private:
  struct Handler {
    Signal* signal;
    hsa_signal_condition_t condition;
    int64_t compare;
    hsa_amd_signal_handler function;
    void* argument;
    machine::SignalWatch watch{};  ///< notifies `changed_`

    bool is_due() const {
      return signal->destroyed || machine::holds(condition_of(condition), machine::load(signal->abi), compare);
    }
  };
  struct Call {
    void (*function)(void*);
    void* argument;
  };
  // Lists, of which parts go from one to another without memory being asked for.
  using Handlers = std::list<Handler>;
  using Calls = std::list<Call>;

  void start();   ///< with mutex_ held: makes the thread when there is none
  void report();  ///< the thread that there is something new
  void loop();
  void run_satisfied();

  std::mutex mutex_;  ///< guards new_handlers_, calls_, and what drain() waits for
  Handlers new_handlers_;
  Calls calls_;
  uint64_t rounds_begun_ = 0, rounds_done_ = 0;  ///< of looking at all signals
  std::condition_variable round_done_;
  Handlers handlers_;  ///< the thread's own
  machine::EventCount changed_;
  std::atomic<bool> has_news_{false}, stopping_{false};
  std::thread thread_;
};

}  // namespace Atoll::hsa

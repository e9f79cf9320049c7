// hsa: functions that a thread of the runtime calls when a signal's condition comes to hold
// (hsa_amd_signal_async_handler), or just soon (hsa_amd_async_function).
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "hsa/signal.h"

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
  };
  struct Call {
    void (*function)(void*);
    void* argument;
  };

  bool start();  ///< with mutex_ held: makes the thread when there is none
  void loop();
  void run_satisfied();

  std::mutex mutex_;  ///< guards new_handlers_, calls_, and what drain() waits for
  std::vector<Handler> new_handlers_;
  std::vector<Call> calls_;
  uint64_t rounds_begun_ = 0, rounds_done_ = 0;  ///< of looking at all signals
  std::condition_variable round_done_;
  std::vector<Handler> handlers_;  ///< the thread's own
  Signal* wake_ = nullptr;         ///< not zero: there is something new, or an end
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace Atoll::hsa

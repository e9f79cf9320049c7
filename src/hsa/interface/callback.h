// hsa: callbacks of the program on runtime threads: handlers of signals, queue errors and faults.
//
// They may call the runtime like any other code, except to wait for runtime threads to end: hsa_shut_down then
// continues in a separate thread, and hsa_init does not wait for it (runtime.cpp).
#pragma once

namespace Atoll::hsa {

/// Marks this thread as a runtime thread inside a callback.
class InCallback {
 public:
  InCallback() { ++depth; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;
  ~InCallback() { --depth; }

  static bool is_this_thread() { return depth != 0; }

 private:
  static inline constinit thread_local unsigned depth = 0;
};

}  // namespace Atoll::hsa

// hsa: functions of the program's that threads of the runtime call: handlers of signals, of queue errors, of faults.
//
// They may call in like any other code. Only what waits for the runtime's threads to end cannot be done on one of them:
// hsa_shut_down goes on in a thread of its own then, and hsa_init does not wait for that (runtime.cpp).
#pragma once

namespace Atoll::hsa {

/// While it lives, this thread is one of the runtime's and calls a function of the program's.
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

// machine: a thread of the scheduler's own (scheduler.h), and on which of the host's processors it wakes.
//
// It is woken by a thread that goes on working, and is of use on another processor only. Linux wakes a thread on the
// processor where it ran last, if that is idle, or on its waker's. A virtual machine's processor that has been idle for
// some time counts as taken away by the host (vcpu_is_preempted()), and not as idle: then both threads may share one
// processor until the kernel balances its load, some milliseconds later, when the work is done. So the waker keeps the
// thread off its own processor, only for the waking: once awake, the thread may run wherever it might before.
//
// Each thread has a condition variable of its own. With one for all, every thread that wakes takes the mutex after the
// one before it, and the waker has changed the affinity of all of them before the first can begin.
#pragma once

#include <sched.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace Atoll::machine {

class Worker {
 public:
  /// Starts the thread, which is named `name` and runs `life`.
  Worker(const char* name, std::function<void(Worker&)> life);
  ~Worker() { thread_.join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Called by the thread itself: sleeps until wake(), or for no reason. `lock` holds the mutex of the scheduler, and
  /// is free while the thread gets its processors back.
  void sleep(std::unique_lock<std::mutex>& lock);

  /// Called with that mutex held: wakes the thread, on another processor than `processor` if it may run on any other.
  void wake(int processor);

  /// Called with that mutex held: if the thread sleeps, it is to wake on another processor than this one, if it may run
  /// on any other.
  void avoid_cpu(int processor);

 private:
  static constexpr int none = -1;

  std::condition_variable woken_;
  bool asleep_ = false;
  int kept_off_ = none;  ///< a processor
  cpu_set_t allowed_{};  ///< the processors that it may run on, but for that
  std::thread thread_;   ///< last: it uses the rest
};

}  // namespace Atoll::machine

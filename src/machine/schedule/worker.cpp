// machine: a thread of the scheduler's own. See worker.h.
#include "machine/schedule/worker.h"

#include <pthread.h>

#include <utility>

namespace Atoll::machine {

Worker::Worker(const char* name, std::function<void(Worker&)> life)
    : thread_([this, run = std::move(life)] { run(*this); }) {
  pthread_setname_np(thread_.native_handle(), name);
}

void Worker::sleep(std::unique_lock<std::mutex>& lock) {
  asleep_ = true;
  woken_.wait(lock);
  asleep_ = false;
  if (std::exchange(kept_off_, none) == none) return;
  lock.unlock();
  pthread_setaffinity_np(pthread_self(), sizeof allowed_, &allowed_);
  lock.lock();
}

void Worker::wake(int processor) {
  avoid_cpu(processor);
  woken_.notify_one();
}

void Worker::avoid_cpu(int processor) {
  if (!asleep_ || kept_off_ == processor || processor < 0 || processor >= CPU_SETSIZE) return;
  const pthread_t thread = thread_.native_handle();
  // Read again each time, because the thread's affinity may have been changed since (taskset).
  if (kept_off_ == none && pthread_getaffinity_np(thread, sizeof allowed_, &allowed_) != 0) return;
  cpu_set_t others = allowed_;
  CPU_CLR(static_cast<size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0 || pthread_setaffinity_np(thread, sizeof others, &others) != 0) return;
  kept_off_ = processor;
}

}  // namespace Atoll::machine

// machine: the buckets of watched signals. See signal_watch.h.
#include "machine/queue/signal_watch.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace Atoll::machine {

/// Signals whose addresses hash alike, each on cache lines of its own.
class alignas(128) WatchBucket {
 public:
  void add(SignalWatch& watch) {
    const std::lock_guard lock(mutex_);
    watch.next_ = first_;
    watch.previous_ = nullptr;
    if (first_ != nullptr) first_->previous_ = &watch;
    first_ = &watch;
    watches_.fetch_add(1, std::memory_order_seq_cst);
  }

  void remove(SignalWatch& watch) {
    const std::lock_guard lock(mutex_);
    (watch.previous_ != nullptr ? watch.previous_->next_ : first_) = watch.next_;
    if (watch.next_ != nullptr) watch.next_->previous_ = watch.previous_;
    watches_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Notifies the watchers of a signal, or all if it is null.
  void report(const aql::Signal* signal) {
    // As in EventCount::notify(), the look-up of watchers is ordered after the change. A later watcher reads the signal
    // itself afterwards.
    if (watches_.fetch_add(0, std::memory_order_seq_cst) == 0) return;
    const std::lock_guard lock(mutex_);  // keeps the event counts alive
    for (SignalWatch* watch = first_; watch != nullptr; watch = watch->next_) {
      if (signal == nullptr || watch->signal_ == signal) watch->reported_->notify();
    }
  }

 private:
  std::mutex mutex_;
  std::atomic<uint32_t> watches_{0};
  SignalWatch* first_ = nullptr;
};

namespace {

/// Kernels send the low 8 bits of an event's number, and 0 is none.
constexpr size_t bucket_count = 255;
constinit WatchBucket buckets[bucket_count];

size_t bucket_number(const aql::Signal& signal) {
  return reinterpret_cast<uintptr_t>(&signal) / sizeof(aql::Signal) % bucket_count;
}

}  // namespace

void SignalWatch::start(const aql::Signal& signal, EventCount& reported) {
  stop();
  signal_ = &signal;
  reported_ = &reported;
  buckets[bucket_number(signal)].add(*this);
}

void SignalWatch::stop() {
  if (signal_ == nullptr) return;
  buckets[bucket_number(*signal_)].remove(*this);
  signal_ = nullptr;
}

void notify_watchers(const aql::Signal& signal) { buckets[bucket_number(signal)].report(&signal); }

uint32_t event_id_of(const aql::Signal& signal) { return static_cast<uint32_t>(bucket_number(signal)) + 1; }

void notify_watchers_of_event(uint32_t event_id) {
  if (event_id != 0 && event_id <= bucket_count) {
    buckets[event_id - 1].report(nullptr);
    return;
  }
  for (WatchBucket& bucket : buckets) bucket.report(nullptr);
}

void forget_watches() {
  for (WatchBucket& bucket : buckets) std::construct_at(&bucket);
}

}  // namespace Atoll::machine

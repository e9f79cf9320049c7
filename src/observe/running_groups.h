// observe: what a checker keeps of each work-group that runs, to be found by the thread that runs it without a lock
// most of the time.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "machine/wave.h"
#include "observe/epoch.h"
#include "observe/thread_slots.h"

namespace Atoll::observe {

template <typename State>
class RunningGroups {
 public:
  void add(const machine::WorkGroup& group, std::unique_ptr<State> state) {
    const std::unique_lock lock(mutex_);
    groups_[&group] = std::move(state);
    epoch_.store(next_epoch(), std::memory_order_release);
  }
  void erase(const machine::WorkGroup& group) {
    const std::unique_lock lock(mutex_);
    groups_.erase(&group);
    epoch_.store(next_epoch(), std::memory_order_release);
  }
  /// Null where there is none. Good until the work-group ends.
  State* find(const machine::WorkGroup* group) const {
    struct Last {
      uint64_t epoch = 0;
      const machine::WorkGroup* group = nullptr;
      State* state = nullptr;
    };
    auto& last = thread_slot<Last, 1>(0);
    const uint64_t epoch = epoch_.load(std::memory_order_acquire);
    if (last.epoch == epoch && last.group == group) return last.state;
    const std::shared_lock lock(mutex_);
    const auto at = groups_.find(group);
    State* state = at == groups_.end() ? nullptr : at->second.get();
    last = {.epoch = epoch_.load(std::memory_order_relaxed), .group = group, .state = state};
    return state;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<const machine::WorkGroup*, std::unique_ptr<State>> groups_;
  std::atomic<uint64_t> epoch_{next_epoch()};  ///< another one whenever the groups have changed
};

}  // namespace Atoll::observe

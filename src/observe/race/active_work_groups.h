// observe: what a checker keeps of each work-group that runs, to be found by the thread that runs it without a lock
// most of the time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "machine/wave/wave.h"
#include "observe/race/generation_number.h"
#include "observe/race/thread_slots.h"

namespace Atoll::observe {

template <typename State>
class ActiveWorkGroups {
 public:
  void add(const machine::WorkGroup& group, std::unique_ptr<State> state) {
    Shard& shard = shard_of(&group);
    const std::unique_lock lock(shard.mutex);
    shard.groups[&group] = std::move(state);
    shard.epoch.store(next_epoch(), std::memory_order_release);
  }
  /// What was kept of it; null: nothing.
  std::unique_ptr<State> erase(const machine::WorkGroup& group) {
    Shard& shard = shard_of(&group);
    const std::unique_lock lock(shard.mutex);
    const auto at = shard.groups.find(&group);
    if (at == shard.groups.end()) return nullptr;
    std::unique_ptr<State> state = std::move(at->second);
    shard.groups.erase(at);
    shard.epoch.store(next_epoch(), std::memory_order_release);
    return state;
  }
  /// Null where there is none. Good until the work-group ends.
  State* find(const machine::WorkGroup* group) const {
    struct Last {
      uint64_t epoch = 0;
      const machine::WorkGroup* group = nullptr;
      State* state = nullptr;
    };
    auto& last = thread_slot<Last, 1>(0);
    Shard& shard = shard_of(group);
    const uint64_t epoch = shard.epoch.load(std::memory_order_acquire);
    if (last.epoch == epoch && last.group == group) return last.state;
    const std::shared_lock lock(shard.mutex);
    const auto at = shard.groups.find(group);
    State* state = at == shard.groups.end() ? nullptr : at->second.get();
    last = {.epoch = shard.epoch.load(std::memory_order_relaxed), .group = group, .state = state};
    return state;
  }

 private:
  /// In parts by their addresses, so that threads whose work-groups begin and end don't make those of others look
  /// again.
  struct alignas(64) Shard {
    std::shared_mutex mutex;
    std::map<const machine::WorkGroup*, std::unique_ptr<State>> groups;
    std::atomic<uint64_t> epoch{next_epoch()};  ///< another one whenever the groups have changed
  };
  static constexpr unsigned shard_bits = 5;

  Shard& shard_of(const machine::WorkGroup* group) const {
    constexpr uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
    return shards_[reinterpret_cast<uintptr_t>(group) * golden_ratio >> (64 - shard_bits)];
  }

  mutable std::array<Shard, 1u << shard_bits> shards_;
};

}  // namespace Atoll::observe

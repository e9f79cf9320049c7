// machine: clusters of work-groups (GFX12.5), which run at the same time and have a barrier of their own (user guide,
// "Execution Barriers").
//
// A kernel says how many work-groups a cluster has (".cluster_dims" of its metadata), and the grid is divided into such
// clusters. Work-groups of a cluster are numbered one after the other, so that threads begin them together; those that
// wait at the cluster's barrier are set aside until the others have come (scheduler.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace Atoll::machine {

/// How a grid is divided into clusters.
struct Clusters {
  std::array<uint32_t, 3> size{1, 1, 1};   ///< work-groups of a cluster
  std::array<uint32_t, 3> count{1, 1, 1};  ///< clusters of the grid

  uint32_t work_groups() const { return size[0] * size[1] * size[2]; }
  uint64_t all() const { return uint64_t{count[0]} * count[1] * count[2]; }
};

/// Work-groups of a cluster, at most: a number in it has 4 bits.
constexpr uint32_t max_work_groups_of_cluster = 16;

/// The barrier of a cluster of work-groups (GFX12.5), in which each of them arrives by one of its waves; host threads
/// share it. A work-group that has ended is not waited for.
class ClusterBarrier {
 public:
  struct State {
    uint32_t arrived = 0, expected = 0, phase = 0;
  };

  void begin(uint32_t work_groups) { store({.expected = work_groups}); }
  State state() const { return unpack(word_.load(std::memory_order_acquire)); }
  /// True: it is the first to arrive in this phase.
  bool arrive() {
    return change([](State& state) { ++state.arrived; }).arrived == 0;
  }
  /// A work-group has ended.
  void drop() {
    change([](State& state) { --state.expected; });
  }

 private:
  static uint64_t pack(const State& state) {
    return state.arrived | state.expected << 16 | uint64_t{state.phase} << 32;
  }
  static State unpack(uint64_t word) {
    return {static_cast<uint16_t>(word), static_cast<uint16_t>(word >> 16), static_cast<uint32_t>(word >> 32)};
  }
  void store(const State& state) { word_.store(pack(state), std::memory_order_release); }

  /// Changes the state, and begins the next phase if all have arrived; what it was before.
  template <typename Change>
  State change(Change change) {
    uint64_t before = word_.load(std::memory_order_relaxed);
    for (;;) {
      State state = unpack(before);
      change(state);
      if (state.arrived != 0 && state.arrived >= state.expected) {
        state.arrived = 0;
        ++state.phase;
      }
      if (word_.compare_exchange_weak(before, pack(state), std::memory_order_acq_rel)) return unpack(before);
    }
  }

  std::atomic<uint64_t> word_{0};
};

}  // namespace Atoll::machine

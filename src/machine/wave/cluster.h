// machine: clusters of work-groups (GFX12.5), which run concurrently and have a barrier (user guide, "Execution
// Barriers").
//
// A kernel's metadata gives the cluster size (".cluster_dims"), and the grid is divided into clusters. Work-groups of a
// cluster have consecutive numbers, so that threads start them together. Those that wait at the cluster barrier are
// preempted until the others arrive (scheduler.h).
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

/// Maximum cluster size: the work-group's number in it has 4 bits.
constexpr uint32_t max_work_groups_of_cluster = 16;

/// The barrier of a cluster, shared by host threads. One wave per work-group arrives. Ended work-groups are not waited
/// for.
class ClusterBarrier {
 public:
  struct State {
    uint32_t arrived = 0, expected = 0, phase = 0;
  };

  void begin(uint32_t work_groups) { store({.expected = work_groups}); }
  State state() const { return unpack(word_.load(std::memory_order_acquire)); }
  /// Arrives; returns true if it is the first in this phase.
  bool arrive() {
    return change([](State& state) { ++state.arrived; }).arrived == 0;
  }
  /// Removes an ended work-group.
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

  /// Changes the state, starts the next phase if all have arrived, and returns the previous state.
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

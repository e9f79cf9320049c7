// observe: the race checker's happens-before relation.
//
// Holds the clocks of running waves and work-groups, the order of dispatches and copies, and the release clocks of
// synchronisation variables. Events advance it: dispatches, barriers, waits for counters, cache invalidations, signals.
// Accesses query it (ordered()), and acquire and release through it (shadow_accesses.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "machine/observer.h"
#include "observe/order/cache_hierarchy.h"
#include "observe/race/access_history.h"
#include "observe/race/active_work_groups.h"
#include "observe/race/generation_number.h"
#include "observe/race/race_copies.h"
#include "observe/race/race_tasks.h"
#include "observe/race/race_waves.h"
#include "observe/race/run_order.h"
#include "observe/race/vector_clock.h"

namespace Atoll::observe {

/// Clocks of a wave and its work-group; null if the wave is not checked.
struct Clocks {
  GroupClocks* group = nullptr;
  WaveClock* wave = nullptr;
};

class HappensBefore {
 public:
  /// `cells` and `copies` are cleared when everything before is ordered before all later runs.
  HappensBefore(AccessHistory& cells, CopyHistory& copies) : cells_(cells), copies_(copies) {}

  Clocks clocks_of(const machine::Wave& wave) const {
    GroupClocks* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size() || group->waves[wave.index].task == 0) return {};
    return {group, &group->waves[wave.index]};
  }
  const Task& task(uint32_t number) const { return tasks_[number]; }
  RunOrder& runs() { return order_; }
  const RunOrder& runs() const { return order_; }

  /// Returns whether an earlier access happens before the wave's next one.
  bool ordered(const GroupClocks& group, WaveClock& wave, Moment when) const {
    return when.task == 0 || wave.knows(when) || ordered_by_others(group, wave, when);
  }
  /// Returns whether an access happens before a copy.
  bool ordered_before_copy(uint32_t copy, Moment when) const;

  // Events.
  void dispatch_begins(const machine::Dispatch& dispatch);
  /// Calls `before_release(number)` before later runs can be ordered after the dispatch.
  void dispatch_ends(const machine::Dispatch& dispatch, const std::function<void(uint32_t)>& before_release);
  void work_group_begins(const machine::WorkGroup& group);
  void work_group_ends(const machine::WorkGroup& group);
  void wave_ends(const machine::Wave& wave);
  void instruction(const machine::Wave& wave, const isa::Instruction& instruction);
  void barrier(const machine::Wave& wave, const machine::BarrierEvent& event);
  void barrier_packet(const machine::BarrierPacketEvent& packet);
  void signal_seen(uint64_t signal);
  /// Returns the number of the copy's run; 0: out of numbers.
  uint32_t copy_starts(uint64_t copy, std::span<const uint64_t> signals);

  // Acquires and releases by accesses.
  /// Joins a clock into the wave's.
  void know(WaveClock& clock, VectorClock all);
  /// Records the wave's clock at its current time.
  void remember(const WaveClock& clock) { memories_.remember(clock); }
  /// Acquires the pending clocks.
  void invalidate(WaveClock& clock);
  void acquire_near(const GroupClocks& group, WaveClock& clock, const VectorClock& released);
  void acquire_in_order(const GroupClocks& group, WaveClock& clock, const VectorClock& released);
  VectorClock released_by(Moment when, bool in_order);

 private:
  bool ordered_by_others(const GroupClocks& group, const WaveClock& wave, Moment when) const;
  bool comes_before_one_of(uint32_t run, std::span<const Moment> waves) const;
  void begins(RunOrder::Begun begun);
  void add_writers(uint64_t signal, std::vector<uint32_t>& runs);
  void invalidate_near(const GroupClocks& group, WaveClock& clock);
  template <typename Visit>
  void for_each_pending(const Pending& pending, const Visit& visit);
  void global_sync(const machine::Wave& wave, WaveClock& clock, const isa::Instruction& instruction);
  void passes_global_sync(WaveClock& clock);
  void meet_in_cluster(const machine::ClusterBarrier& barrier, machine::BarrierEvent::Kind kind, WaveClock& clock);

  struct Spare {
    uint64_t owner = 0;  ///< `number_` of the object that the clocks were made for
    std::unique_ptr<GroupClocks> clocks;
  };
  std::unique_ptr<GroupClocks> spare_clocks();

  const uint64_t number_ = next_epoch();
  AccessHistory& cells_;
  CopyHistory& copies_;
  GrowingTable<Task> tasks_;
  RunOrder order_;
  ActiveWorkGroups<GroupClocks> groups_;
  std::mutex dispatches_mutex_;
  struct Running {
    uint32_t number = 0;
    bool is_in_order = false, shares_caches = false;  ///< as in GroupClocks
    const CacheHierarchy* caches = nullptr;
  };
  std::map<const machine::Dispatch*, Running> dispatches_;
  /// by dispatch: clocks of other dispatches' waves, acquired by its ended waves
  std::map<uint32_t, VectorClock> learnt_;

  std::mutex clusters_mutex_;
  std::map<const machine::ClusterBarrier*, GroupClocks::Arrived> at_cluster_barriers_;

  Memories memories_;
};

}  // namespace Atoll::observe

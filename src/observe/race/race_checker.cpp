// observe: checks each access against shadow cells, maintains the clocks of waves, and reports races.
#include "observe/race/race_checker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hazards/counters.h"
#include "isa/table.h"
#include "machine/gpu.h"
#include "machine/loader.h"
#include "machine/queue/signal.h"
#include "machine/wave/barrier.h"
#include "machine/wave/dispatch.h"
#include "memory_model/generation.h"
#include "observe/order/cache_hierarchy.h"
#include "observe/race/access_history.h"
#include "observe/race/access_pieces.h"
#include "observe/race/active_work_groups.h"
#include "observe/race/generation_number.h"
#include "observe/race/lane_races.h"
#include "observe/race/race_copies.h"
#include "observe/race/race_tasks.h"
#include "observe/race/race_waves.h"
#include "observe/race/requested_copies.h"
#include "observe/race/run_order.h"
#include "observe/race/spin_loops.h"
#include "observe/race/thread_slots.h"
#include "observe/race/vector_clock.h"
#include "observe/report/host_stack.h"
#include "observe/report/place.h"
#include "observe/shadow/stored_value.h"
#include "support/demangle.h"

namespace Atoll::observe {

namespace {

using machine::AccessEvent;
using machine::BarrierEvent;
using machine::Space;

constexpr const char* checker = race_checker;
constexpr const char* advice_for_copies =
    "let the one wait for the other: the same stream, an event, or hipStreamSynchronize() between them";

/// An accessing instruction, with the first kernel that executed it.
struct Site {
  uint64_t pc = 0;
  std::shared_ptr<const machine::Kernel> kernel;
  const machine::Gpu* gpu = nullptr;
  unsigned wave_size = 0;
  uint32_t bytes = 0;
  const char* verb = "";
  bool spins = false;  ///< spin_loops.h
};

/// Returns the pseudo-address that represents a whole-GPU barrier as a synchronisation variable.
uint64_t global_sync_place(const machine::Wave& wave, const isa::Instruction& instruction) {
  const uint64_t gpu = reinterpret_cast<uintptr_t>(wave.work_group->dispatch->gpu) >> 4 & 0xFFFF'FFFF;
  const uint64_t resource = ((wave.scalar[isa::scalar::m0] >> 16) + static_cast<uint32_t>(instruction.offset)) & 63;
  return uint64_t{1} << 63 | gpu << 16 | resource << 3;
}

/// True for loads that may be atomic by their cache policy, from work-group scope on.
bool may_be_atomic_load(const isa::Instruction& instruction) {
  return instruction.glc || instruction.scc || instruction.scope != 0;
}

/// Returns the lanes from `first` on that change bytes in [begin, end), which their elements cover without gaps. A
/// store of the value already in memory changes nothing.
uint64_t changing_lanes(const machine::Wave& wave, const AccessEvent& access, unsigned first, uint64_t begin,
                        uint64_t end) {
  uint64_t changing = 0;
  const unsigned last = first + lanes_in(access.pattern.follows, first);
  for (unsigned lane = first; lane <= last && access.addresses[lane] < end; ++lane) {
    const uint64_t element = access.addresses[lane];
    const uint64_t from = std::max(begin, element) - element, to = std::min(end - element, uint64_t{access.bytes});
    const auto value = stored_value(wave, access, lane);
    if (!value || !holds(wave, access, lane, *value, from, to)) changing |= uint64_t{1} << lane;
  }
  return changing;
}

class RaceChecker final : public Checker {
 public:
  struct Pass;

  explicit RaceChecker(Findings& findings) : findings_(findings) {}

  machine::EventMask watched() const override {
    return {.dispatches = true,
            .work_groups = true,
            .synchronisation = true,
            .accesses = true,
            .barriers = true,
            .memory = true,
            .order = true};
  }

  void dispatch_begins(const machine::Dispatch& dispatch) override;
  void dispatch_ends(const machine::Dispatch& dispatch) override;
  void work_group_begins(const machine::WorkGroup& group) override;
  void work_group_ends(const machine::WorkGroup& group) override;
  void wave_ends(const machine::Wave& wave) override;
  void instruction(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) override;
  void access(const machine::Wave& wave, const AccessEvent& access) override;
  void barrier(const machine::Wave& wave, const BarrierEvent& event) override;
  void allocated(const machine::MemoryEvent& memory) override;
  void copying(const machine::CopyEvent& copy) override { asked_.add(copy); }
  void copied(const machine::CopyEvent& copy) override;
  void queue_made(uint64_t queue) override { order_.queue_made(queue); }
  void doorbell(uint64_t queue, uint64_t packets) override { order_.doorbell(queue, packets); }
  void barrier_packet(const machine::BarrierPacketEvent& packet) override;
  void signal_seen(uint64_t signal) override;
  void signal_changes(uint64_t signal, bool replaces) override { order_.signal_changes(signal, replaces); }
  void signal_shown(uint64_t signal) override { order_.signal_shown(signal); }
  void copy_submitted(uint64_t copy) override { order_.copy_submitted(copy); }
  void copy_starts(uint64_t copy, std::span<const uint64_t> signals) override;
  void copy_ends(uint64_t copy, uint64_t completion_signal) override;
  void finish() override { report_doubts(every_dispatch); }

 private:
  static constexpr uint32_t every_dispatch = 0;

  /// Clocks of a wave and its work-group; null if the wave is not checked.
  struct Clocks {
    GroupClocks* group = nullptr;
    WaveClock* wave = nullptr;
  };
  Clocks clocks_of(const machine::Wave& wave) const {
    GroupClocks* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size() || group->waves[wave.index].task == 0) return {};
    return {group, &group->waves[wave.index]};
  }
  bool ordered(const GroupClocks& group, WaveClock& wave, Moment when) const {
    return when.task == 0 || wave.knows(when) || ordered_by_others(group, wave, when);
  }
  bool ordered_by_others(const GroupClocks& group, const WaveClock& wave, Moment when) const;
  bool comes_before_one_of(uint32_t run, std::span<const Moment> waves) const;
  bool ordered_before_copy(uint32_t copy, Moment when) const;
  void begins(RunOrder::Begun begun);
  void add_writers(uint64_t signal, std::vector<uint32_t>& runs);

  const GroupClocks::RecentSite& site_of(const machine::Wave& wave, const AccessEvent& access, GroupClocks& group);
  [[gnu::noinline]] void access_cell(Pass& pass, uint64_t address, uint32_t dwords, Cell& cell, const Mark& mark);
  void acquire_cell(Pass& pass, Cell& cell);
  size_t access_block(Pass& pass, CellArena& arena, CellBlock& block, uint64_t address, std::optional<unsigned> spread);
  bool pass_global(GroupClocks& group, WaveClock& clock, const AccessEvent& access,
                   const GroupClocks::RecentSite& site);
  LdsPass pass_lds(GroupClocks& group, WaveClock& clock, const AccessEvent& access,
                   const GroupClocks::RecentSite& site);
  [[gnu::noinline]] void access_closely(const machine::Wave& wave, const AccessEvent& access, GroupClocks& group,
                                        WaveClock& clock, const GroupClocks::RecentSite& site);
  void access_lds(Pass& pass);
  void access_lds_cells(Pass& pass);
  void access_global(Pass& pass);
  void acquire_near(const GroupClocks& group, WaveClock& clock, const VectorClock& released);
  void acquire_in_order(const GroupClocks& group, WaveClock& clock, const VectorClock& released);
  void know(WaveClock& clock, VectorClock all);
  void invalidate(WaveClock& clock);
  void invalidate_near(const GroupClocks& group, WaveClock& clock);
  template <typename Visit>
  void for_each_pending(const Pending& pending, const Visit& visit);
  void global_sync(const machine::Wave& wave, WaveClock& clock, const isa::Instruction& instruction);
  void passes_global_sync(WaveClock& clock);
  void meet_in_cluster(const machine::ClusterBarrier& barrier, BarrierEvent::Kind kind, WaveClock& clock);
  VectorClock released_by(Moment when, bool in_order);

  void check_copies(const machine::Wave& wave, const AccessEvent& access, GroupClocks& group);
  void check_copy(const CopyAccess& copy);
  void report_copy(const CopyAccess& copy, uint64_t address, std::string_view other, NamedStack earlier);
  NamedStack site_of(const Mark& mark);
  Finding finding_for(const machine::Wave& wave, const WaveClock& clock, const Later& later, std::string_view kind);
  void report(const machine::Wave& wave, const Later& later);
  void report_incomplete(const machine::Wave& wave, const Later& later);
  void add_doubt(const machine::Wave& wave, const Pass& pass);
  void note_retry(WaveClock& clock, uint32_t load_site);
  void report_doubts(uint32_t dispatch);
  void end_interval(WaveClock& clock) {
    clock.since_barrier = clock.time;
    clock.loads_of_atomics.clear();
    clock.incomplete.clear();
  }

  struct Spare {
    uint64_t checker = 0;  ///< number of the checker
    std::unique_ptr<GroupClocks> clocks;
  };
  std::unique_ptr<GroupClocks> spare_clocks();

  Findings& findings_;
  const uint64_t number_ = next_epoch();
  AccessHistory history_;
  GrowingTable<Task> tasks_;
  RunOrder order_;
  CopyHistory copies_;

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

  RequestedCopies asked_;

  /// Deferred reports of running dispatches, by the later and the earlier instruction.
  struct DeferredReport {
    Finding finding;
    uint32_t dispatch = 0, load_site = 0;
  };
  std::mutex doubts_mutex_;
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, DeferredReport> doubts_;  ///< by dispatch, PC and site
  /// PCs of loads that are followed by an atomic on the same location
  std::set<uint32_t> retried_;

  std::mutex clusters_mutex_;
  std::map<const machine::ClusterBarrier*, GroupClocks::Arrived> at_cluster_barriers_;

  Memories memories_;

  mutable std::mutex sites_mutex_;
  std::map<std::pair<uint64_t, const char*>, uint32_t> site_numbers_;
  std::deque<Site> sites_{1};
};

// --- Dispatches and waves ------------------------------------------------------------------------------------------

/// Called with the dispatches' lock held, so that no other dispatch accesses the cells cleared here.
void RaceChecker::begins(RunOrder::Begun begun) {
  if (!begun.is_fresh) return;
  history_.clear();
  copies_.clear();
  memories_.forget([](uint32_t) { return true; });
  tasks_.recycle();
}

void RaceChecker::dispatch_begins(const machine::Dispatch& dispatch) {
  const std::lock_guard lock(dispatches_mutex_);
  const RunOrder::Begun begun = order_.dispatch_begins(dispatch);
  begins(begun);
  const memory_model::Generation& generation = memory_model::generation_of(dispatch.gpu->processor());
  const memory_model::ScopeRule* const rule =
      generation.rule(memory_model::Scope::workgroup, placement_of(dispatch.gpu->processor(), dispatch.launch));
  dispatches_[&dispatch] = {.number = begun.number,
                            .is_in_order = rule == nullptr || !rule->release_waits,
                            .shares_caches = rule == nullptr || rule->invalidate.empty(),
                            .caches = &hierarchy_of(dispatch.gpu->processor())};
}

void RaceChecker::dispatch_ends(const machine::Dispatch& dispatch) {
  uint32_t number = 0;
  VectorClock learnt;
  {
    const std::lock_guard lock(dispatches_mutex_);
    const auto at = dispatches_.find(&dispatch);
    if (at == dispatches_.end()) return;
    number = at->second.number;
    dispatches_.erase(at);
    if (const auto of_waves = learnt_.find(number); of_waves != learnt_.end()) {
      learnt = std::move(of_waves->second);
      learnt_.erase(of_waves);
    }
  }
  if (dispatch.launch.clusters) {
    const std::lock_guard lock(clusters_mutex_);
    const machine::ClusterBarrier* first = dispatch.cluster_barriers.get();
    at_cluster_barriers_.erase(at_cluster_barriers_.lower_bound(first),
                               at_cluster_barriers_.lower_bound(first + dispatch.launch.clusters->all()));
  }
  if (number == 0) return;
  report_doubts(number);
  order_.dispatch_ends(dispatch, number, learnt);
  memories_.forget([&](uint32_t task) { return tasks_[task].dispatch == number; });
}

void RaceChecker::work_group_begins(const machine::WorkGroup& group) {
  std::unique_ptr<GroupClocks> clocks = spare_clocks();
  const auto count = static_cast<uint32_t>(group.waves.size());
  {
    const std::lock_guard lock(dispatches_mutex_);
    const auto dispatch = dispatches_.find(group.dispatch);
    const Running running = dispatch == dispatches_.end() ? Running{} : dispatch->second;
    clocks->dispatch = running.number;
    clocks->is_in_order = running.is_in_order;
    clocks->shares_caches = running.shares_caches;
    clocks->is_clustered = group.cluster != nullptr;
    clocks->caches = running.caches;
  }
  clocks->first_task = clocks->dispatch == 0 ? 0 : tasks_.add(count);
  clocks->waves.resize(count);
  for (WaveClock& wave : clocks->waves) wave.begin(clocks->nothing);
  if (clocks->first_task != 0) {
    for (uint32_t i = 0; i < count; ++i) {
      Task& task = tasks_[clocks->first_task + i];
      task = {.dispatch = clocks->dispatch, .wave = i};
      std::ranges::copy(group.id, task.work_group);
      clocks->waves[i].task = clocks->first_task + i;
      // Ticks first: waves that synchronise with this one are also ordered after what precedes its dispatch.
      if (order_.any_unordered()) clocks->waves[i].pass_time();
    }
  }
  clocks->lds.begin(group.lds_bytes, clocks->first_task, count);
  clocks->lds_releases.begin(clocks->first_task, count);
  clocks->limits.resize(count);
  groups_.add(group, std::move(clocks));
}

void RaceChecker::work_group_ends(const machine::WorkGroup& group) {
  Spare& spare = thread_slot<Spare, 1>(0);
  spare.checker = number_;
  spare.clocks = groups_.erase(group);
  if (spare.clocks != nullptr) spare.clocks->reuse();
}

/// Returns recycled per-work-group clocks from this thread's cache, or allocates new ones.
std::unique_ptr<GroupClocks> RaceChecker::spare_clocks() {
  Spare& spare = thread_slot<Spare, 1>(0);
  if (spare.clocks == nullptr || spare.checker != number_) return std::make_unique<GroupClocks>();
  return std::move(spare.clocks);
}

void RaceChecker::wave_ends(const machine::Wave& wave) {
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  group->ended.learn(*clock, clock->time);
  if (!order_.any_unordered()) return;
  // Runs ordered after this dispatch inherit what its waves acquired from other dispatches: caches are invalidated
  // between dispatches.
  invalidate(*clock);
  VectorClock others;
  for (const Moment& moment : clock->known->moments()) {
    if (tasks_[moment.task].dispatch != group->dispatch) others.learn(moment);
  }
  if (others.empty()) return;
  const std::lock_guard lock(dispatches_mutex_);
  learnt_[group->dispatch].learn(others);
}

// --- Happens-before -------------------------------------------------------------------------------------------------

/// Checks orderings that are not in the wave's own clock.
bool RaceChecker::ordered_by_others(const GroupClocks& group, const WaveClock& wave, Moment when) const {
  const uint32_t dispatch = tasks_[when.task].dispatch;
  if (dispatch == group.dispatch) return false;
  if (order_.comes_before(dispatch, group.dispatch)) return true;
  if (!order_.any_unordered()) return false;
  const VectorClock& before = order_.waves_known(group.dispatch);
  return before.of(when.task) >= when.time || comes_before_one_of(dispatch, before.moments()) ||
         comes_before_one_of(dispatch, wave.known->moments());
}

/// Returns whether a run is ordered before the dispatch of one of those waves; their clocks are inherited.
bool RaceChecker::comes_before_one_of(uint32_t run, std::span<const Moment> waves) const {
  uint32_t last = 0;
  return std::ranges::any_of(waves, [&](const Moment& moment) {
    const uint32_t dispatch = tasks_[moment.task].dispatch;
    if (dispatch == last || dispatch == run) return false;
    last = dispatch;
    return order_.comes_before(run, dispatch);
  });
}

bool RaceChecker::ordered_before_copy(uint32_t copy, Moment when) const {
  if (when.task == 0) return true;
  const uint32_t dispatch = tasks_[when.task].dispatch;
  if (order_.comes_before(dispatch, copy)) return true;
  const VectorClock& before = order_.waves_known(copy);
  return before.of(when.task) >= when.time || comes_before_one_of(dispatch, before.moments());
}

/// Adds the dispatches that changed a signal's value themselves, by atomics or stores.
void RaceChecker::add_writers(uint64_t signal, std::vector<uint32_t>& runs) {
  const uint64_t value = signal + offsetof(machine::aql::Signal, value), page = AccessHistory::page_of(value);
  const auto add = [&](uint32_t task) {
    if (task != 0 && tasks_[task].dispatch != 0) runs.push_back(tasks_[task].dispatch);
  };
  AccessHistory::Part& part = history_.part(page);
  const std::lock_guard lock(part.mutex);
  if (const auto at = part.atomics.find(value); at != part.atomics.end() && !at->second.empty()) {
    for (const Moment& moment : at->second.clock().moments()) add(moment.task);
  }
  if (AccessHistory::Blocks* const blocks = part.find(page)) {
    const auto first = static_cast<uint32_t>(value % CellBlock::bytes);
    (*blocks)[value % AccessHistory::page_bytes / CellBlock::bytes].visit(
        part.arena(), first, first + 8, 0, [&](const Cell& cell, uint32_t, uint32_t) { add(cell.write.when.task); });
  }
}

void RaceChecker::signal_seen(uint64_t signal) {
  std::vector<uint32_t> writers;
  add_writers(signal, writers);
  order_.signal_seen(signal, writers);
}

void RaceChecker::barrier_packet(const machine::BarrierPacketEvent& packet) {
  std::vector<uint32_t> writers;
  for (const uint64_t signal : packet.signals) add_writers(signal, writers);
  order_.barrier_packet(packet, writers);
}

/// A cluster barrier, with all phases joined: waves that pass it acquire the clocks of all waves that arrived.
void RaceChecker::meet_in_cluster(const machine::ClusterBarrier& barrier, BarrierEvent::Kind kind, WaveClock& clock) {
  const std::lock_guard lock(clusters_mutex_);
  GroupClocks::Arrived& arrived = at_cluster_barriers_[&barrier];
  if (kind == BarrierEvent::Kind::arrives) {
    arrived.learn(clock, clock.done());
  } else if (kind == BarrierEvent::Kind::passes) {
    clock.learn(arrived.clock);
    clock.pending.add(arrived.pending);
    memories_.remember(clock);
  }
}

void RaceChecker::barrier(const machine::Wave& wave, const BarrierEvent& event) {
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  if (clock->global_sync) passes_global_sync(*clock);
  if (event.number == machine::cluster_barrier) {
    if (event.kind == BarrierEvent::Kind::passes) end_interval(*clock);
    meet_in_cluster(*wave.work_group->cluster, event.kind, *clock);
    return;
  }
  const bool is_named = event.number > 0;
  if (event.kind == BarrierEvent::Kind::arrives) {
    (is_named ? group->arrived_at_named[event.number] : group->arrived[wave.barrier_phase])
        .learn(*clock, clock->done());
  } else if (event.kind == BarrierEvent::Kind::passes) {
    if (is_named) {
      const GroupClocks::Arrived& arrived = group->arrived_at_named[event.number];
      clock->learn(arrived.clock);
      clock->pending.add(arrived.pending);
    } else {
      // All waves that wait for this phase get the same clock.
      GroupClocks::Complete& complete = group->complete[wave.barrier_phase];
      if (!complete.known) {
        GroupClocks::Arrived all = std::move(group->arrived[wave.barrier_phase]);
        all.clock.learn(group->ended.clock);
        all.pending.add(group->ended.pending);
        complete = {std::make_shared<const VectorClock>(std::move(all.clock)), std::move(all.pending)};
        group->arrived.erase(wave.barrier_phase);
        while (group->complete.size() > 2) group->complete.erase(group->complete.begin());
      }
      clock->know(complete.known);
      if (!complete.pending.empty()) clock->pending = complete.pending;
    }
    memories_.remember(*clock);
    end_interval(*clock);
  }
}

/// Ticks the clock if needed, so that later accesses are distinguished from those that a store or atomic releases.
void RaceChecker::instruction(const machine::Wave& wave, uint64_t, const isa::Instruction& instruction) {
  if (const auto waits = hazards::counter_waits(instruction)) {
    WaveClock* clock = clocks_of(wave).wave;
    if (clock == nullptr) return;
    if (clock->global_sync) passes_global_sync(*clock);
    const bool had_any = clock->loads_in_flight || clock->stores_in_flight;
    if (const uint32_t left = waits->of(memory_model::Counter::lds); left != hazards::CounterWaits::any)
      clock->wait_for_lds(left);
    if (waits->of(memory_model::Counter::load) == 0) clock->loads_in_flight = false;
    if (waits->of(memory_model::Counter::store) == 0) clock->stores_in_flight = false;
    if (had_any && !clock->loads_in_flight && !clock->stores_in_flight) clock->pass_time();
  } else if (hazards::invalidates_caches(instruction.opcode)) {
    if (const auto [group, clock] = clocks_of(wave); clock != nullptr) {
      const Invalidates reach = invalidates(*group->caches, instruction);
      if (reach == Invalidates::for_agent || (reach == Invalidates::for_group && group->is_clustered)) {
        invalidate(*clock);
        clock->loads_since_invalidation = 0;
      } else if (reach == Invalidates::for_group && !group->shares_caches) {
        invalidate_near(*group, *clock);
      }
    }
  } else if (instruction.encoding == isa::Encoding::ds && isa::row(instruction.opcode).has(isa::flag::gws)) {
    if (WaveClock* clock = clocks_of(wave).wave) global_sync(wave, *clock, instruction);
  }
}

/// Calls `visit` with the clocks that a wave has read but not yet acquired.
template <typename Visit>
void RaceChecker::for_each_pending(const Pending& pending, const Visit& visit) {
  visit(pending.clock);
  for (const uint64_t address : pending.places) {
    AccessHistory::Part& part = history_.part(AccessHistory::page_of(address));
    const std::lock_guard lock(part.mutex);
    const auto place = part.atomics.find(address);
    if (place != part.atomics.end() && !place->second.empty()) visit(place->second.clock());
  }
}

/// Joins a clock into the wave's.
void RaceChecker::know(WaveClock& clock, VectorClock all) {
  clock.know(std::make_shared<const VectorClock>(std::move(all)));
  memories_.remember(clock);
}

/// Acquires the pending clocks.
void RaceChecker::invalidate(WaveClock& clock) {
  if (clock.pending.empty()) return;
  VectorClock all = *clock.known;
  for_each_pending(clock.pending, [&](const VectorClock& released) { all.learn(released); });
  clock.pending.clear();
  know(clock, std::move(all));
}

/// Acquires the pending clocks of its own work-group.
void RaceChecker::invalidate_near(const GroupClocks& group, WaveClock& clock) {
  if (clock.pending.empty()) return;
  VectorClock all = *clock.known;
  for_each_pending(clock.pending,
                   [&](const VectorClock& released) { all.learn_of(released, group.first_task, group.end_task()); });
  know(clock, std::move(all));
}

/// A wave that waits at a grid barrier polls it repeatedly. It acquires as soon as it passes, which the next wait or
/// barrier shows: device libraries invalidate no caches afterwards.
void RaceChecker::global_sync(const machine::Wave& wave, WaveClock& clock, const isa::Instruction& instruction) {
  const uint64_t address = global_sync_place(wave, instruction);
  clock.global_sync = address;
  if (wave.global_sync != 0) return;
  AccessHistory::Part& part = history_.part(AccessHistory::page_of(address));
  const std::lock_guard lock(part.mutex);
  part.atomics[address].learn(clock.released(), clock.task);
}

void RaceChecker::passes_global_sync(WaveClock& clock) {
  const uint64_t address = *std::exchange(clock.global_sync, std::nullopt);
  VectorClock all = *clock.known;
  AccessHistory::Part& part = history_.part(AccessHistory::page_of(address));
  {
    const std::lock_guard lock(part.mutex);
    const Place& place = part.atomics[address];
    if (place.empty()) return;
    all.learn(place.clock());
  }
  know(clock, std::move(all));
}

/// Acquires a release by a wave of the same work-group; the location is also pending.
void RaceChecker::acquire_near(const GroupClocks& group, WaveClock& clock, const VectorClock& released) {
  if (!group.shares_caches) return;
  if (!clock.known->lacks(released, group.first_task, group.end_task(), clock.task)) return;
  VectorClock all = *clock.known;
  all.learn_of(released, group.first_task, group.end_task());
  know(clock, std::move(all));
}

/// Acquires a release from waves that see each other's accesses in order.
void RaceChecker::acquire_in_order(const GroupClocks& group, WaveClock& clock, const VectorClock& released) {
  for (const Moment& moment : released.moments()) {
    if (moment.task != clock.task && clock.known->of(moment.task) < moment.time) clock.learns_incomplete(moment);
  }
  acquire_near(group, clock, released);
}

/// Returns the clock that an ordinary store releases if it turns out to be atomic. `in_order`: includes all that its
/// wave did before, complete or not.
VectorClock RaceChecker::released_by(Moment when, bool in_order) {
  VectorClock clock;
  if (const Knowledge known = memories_.at(when)) clock = *known;
  clock.learn({when.task, in_order ? when.time - 1 : WaveClock::completed(when.time)});
  return clock;
}

// --- Accesses -----------------------------------------------------------------------------------------------------

const GroupClocks::RecentSite& RaceChecker::site_of(const machine::Wave& wave, const AccessEvent& access,
                                                    GroupClocks& group) {
  const char* verb = verb_of(access);
  GroupClocks::RecentSite& recent = group.recent_sites[access.pc / 4 % group.recent_sites.size()];
  if (recent.pc == access.pc && recent.verb == verb) return recent;
  const std::lock_guard lock(sites_mutex_);
  uint32_t& number = site_numbers_[{access.pc, verb}];
  if (number == 0 && sites_.size() < Mark::sites) {
    number = static_cast<uint32_t>(sites_.size());
    const machine::Gpu& gpu = *wave.work_group->dispatch->gpu;
    Site& site = sites_.emplace_back();
    site = {.pc = access.pc,
            .kernel = wave.work_group->dispatch->kernel,
            .gpu = &gpu,
            .wave_size = wave.wave_size,
            .bytes = access.bytes,
            .verb = verb};
    const std::shared_ptr<const machine::LoadedCode> code = access.reads ? gpu.code_at(access.pc) : nullptr;
    if (code) {
      const std::span bytes(reinterpret_cast<const uint8_t*>(code->base()), code->size());
      site.spins = spins(bytes, access.pc - code->base(), gpu.processor(), wave.wave_size);
    }
  }
  recent = {.pc = access.pc, .verb = verb, .site = number, .spins = number != 0 && sites_[number].spins};
  return recent;
}

/// The progress of an access through its shadow cells, piece by piece.
struct RaceChecker::Pass {
  Pass(const machine::Wave& wave_, const AccessEvent& access_, GroupClocks& group_, WaveClock& clock_,
       const GroupClocks::RecentSite& site)
      : wave(wave_),
        access(access_),
        group(group_),
        clock(clock_),
        mark{.when = {clock_.task, clock_.time}, .site = site.site},
        spins(site.spins) {}

  void begin_piece(unsigned lane, uint64_t first, uint64_t past_last, std::optional<unsigned> spread) {
    begin = at = first;
    end = past_last;
    mark.lane = lane;
    mark.spread = spread.value_or(0);
  }
  uint64_t block() const { return at / CellBlock::bytes * CellBlock::bytes; }
  bool is_load() const { return access.reads && !access.writes; }

  const machine::Wave& wave;
  const AccessEvent& access;
  GroupClocks& group;
  WaveClock& clock;
  Mark mark;  ///< access record of the piece's first byte
  const bool spins;
  const AccessHistory::Part* part = nullptr;  ///< shard of the memory; null: LDS
  uint64_t begin = 0, at = 0, end = 0;        ///< bounds of the piece, and the current position
  Conflict conflict;
  Conflict incomplete;  ///< a conflict that is not a race on this GPU: WaveClock::incomplete
  Doubt doubt;
  /// An atomic with a result acquires. One without cannot observe what precedes it.
  const bool returns = access.is_atomic && access.reads && access.instruction.destinations != 0;
  /// True for a load that acquires.
  const bool acquires =
      is_load() && (spins || (access.space == Space::global && may_be_atomic_load(access.instruction)));
  /// True if the access is certainly not atomic.
  const bool is_plain = !access.is_atomic && !acquires && !(access.writes && access.instruction.scope != 0);
};

/// A load that waits for an ordinary store acquires what it released: the store counts as atomic.
void RaceChecker::acquire_cell(Pass& pass, Cell& cell) {
  const Moment when = cell.write.when;
  const bool is_near = when.task >= pass.group.first_task && when.task < pass.group.end_task();
  const bool in_lds = pass.access.space == Space::lds;
  const VectorClock released = released_by(when, in_lds || (is_near && pass.group.is_in_order));
  if (in_lds) {  // LDS is not cached
    pass.clock.learn(released);
    memories_.remember(pass.clock);
  } else {
    if (is_near && pass.group.is_in_order) {
      acquire_in_order(pass.group, pass.clock, released);
    } else {
      acquire_near(pass.group, pass.clock, released);
    }
    pass.clock.pending.clock.learn(released);
  }
  cell.is_atomic = true;
}

/// Returns a wave of the work-group that accessed the location by an atomic and is not in this wave's clock. The cell
/// has only the last one, which may be this wave.
std::optional<Moment> unknown_atomic(const RaceChecker::Pass& pass, uint64_t address) {
  const auto unknown_of = [&](const VectorClock& released) -> std::optional<Moment> {
    for (const Moment& moment : released.moments()) {
      const bool is_near = moment.task >= pass.group.first_task && moment.task < pass.group.end_task();
      if (is_near && moment.task != pass.clock.task && pass.clock.known->of(moment.task) < moment.time) return moment;
    }
    return std::nullopt;
  };
  if (pass.part == nullptr) {
    const std::span<const uint32_t> times = pass.group.lds_releases.times(address);
    const LdsLimits& limits = pass.group.limits_of(pass.clock);
    // Knowing a release implies the releasing wave's clock for the work-group.
    bool all_known = times.size() <= limits.size();
    for (uint32_t wave = 0; all_known && wave < times.size(); ++wave) {
      all_known = PackedMark::of({pass.group.first_task + wave, times[wave]}, 0) <= limits[wave];
    }
    return all_known ? std::nullopt : unknown_of(pass.group.lds_releases.clock(address));
  }
  const auto at = pass.part->atomics.find(address);
  return at == pass.part->atomics.end() || at->second.empty() ? std::nullopt : unknown_of(at->second.clock());
}

/// `dwords`: number of dwords that share the cell; 0: the cell of one byte.
void RaceChecker::access_cell(Pass& pass, uint64_t address, uint32_t dwords, Cell& cell, const Mark& mark) {
  const AccessEvent& access = pass.access;
  WaveClock& clock = pass.clock;
  const GroupClocks& group = pass.group;
  const unsigned lane = mark.lane, count = std::max(1u, dwords * 4 / access.bytes);
  const bool is_plain_store = access.writes && !access.is_atomic;
  const auto add_to = [&](Conflict& conflict, const Mark& other, bool other_writes) {
    unsigned conflicting_lane = lane, conflicting_lanes = count;
    Mark other_mark = other;
    if (is_plain_store) {
      const uint64_t end = address + std::max(1u, dwords * 4);
      const uint64_t changing = changing_lanes(pass.wave, access, lane, address, end);
      if (changing == 0) return;
      conflicting_lane = static_cast<unsigned>(std::countr_zero(changing));
      conflicting_lanes = static_cast<unsigned>(std::popcount(changing));
      other_mark = other.at((conflicting_lane - lane) * access.bytes / 4);
    }
    if (conflict.count == 0) {
      conflict = {conflicting_lane, other_mark, other_writes, access.addresses[conflicting_lane], 0};
    }
    conflict.count += conflicting_lanes;
  };
  const auto doubt = [&](uint32_t load_site, const Mark& other, bool other_writes) {
    if (pass.doubt.conflict.count == 0) pass.doubt.load_site = load_site;
    add_to(pass.doubt.conflict, other, other_writes);
  };
  const bool write_is_ordered = ordered(group, clock, cell.write.when);
  // Atomic use of a location is forgotten after the dispatch.
  if (cell.is_atomic && write_is_ordered && cell.write.when.task != 0 &&
      tasks_[cell.write.when.task].dispatch != group.dispatch) {
    cell.is_atomic = false;
  }
  if (pass.acquires) {
    if (!write_is_ordered && (!cell.is_atomic || cell.is_stored)) acquire_cell(pass, cell);
    return;
  }
  // Stores to atomically accessed locations may be atomic; the encoding does not distinguish them.
  const bool may_be_atomic = access.is_atomic || (access.writes && (cell.is_atomic || access.instruction.scope != 0));
  if (!write_is_ordered && !(may_be_atomic && cell.is_atomic)) {
    if (access.is_atomic && pass.spins && cell.is_stored) {
      acquire_cell(pass, cell);
      cell.plain_write = {};
    } else if (pass.is_load() && cell.is_atomic && ordered(group, clock, cell.plain_write.when)) {
      doubt(mark.site, cell.write, true);
      constexpr size_t most = 64;
      if (clock.loads_of_atomics.size() < most) {
        clock.loads_of_atomics.push_back({mark.site, access.space, lane, access.addresses[lane]});
      }
    } else {
      add_to(pass.conflict, cell.write, true);
    }
  } else if (access.is_atomic && !ordered(group, clock, cell.plain_write.when)) {
    add_to(pass.conflict, cell.plain_write, true);
  } else if (pass.is_load() && cell.is_atomic && cell.write.when.task == clock.task) {
    if (const auto other = unknown_atomic(pass, address)) {
      Mark mark_of_other = cell.write;
      mark_of_other.when = *other;
      doubt(mark.site, mark_of_other, true);
    }
  }
  if (!clock.incomplete.empty() && !access.is_atomic && !cell.is_atomic) {
    if (clock.knows_incomplete(cell.write.when)) add_to(pass.incomplete, cell.write, true);
    for (const Mark& read : cell.reads) {
      if (access.writes && clock.knows_incomplete(read.when)) add_to(pass.incomplete, read, false);
    }
  }
  if (access.writes) {
    for (const Mark& read : cell.reads) {
      if (access.is_atomic && read.when.task == clock.task) {
        if (read.when.time >= clock.since_barrier && read.lane == mark.lane) note_retry(clock, read.site);
      } else if (!ordered(group, clock, read.when)) {
        access.is_atomic ? doubt(read.site, read, false) : add_to(pass.conflict, read, false);
      }
    }
    cell.write = mark;
    cell.is_stored = !access.is_atomic;
    if (!may_be_atomic) cell.plain_write = mark;
    cell.is_atomic |= access.is_atomic;
  } else {
    cell.add_read(mark);
  }
}

/// Common case: no atomics, and all earlier accesses are known from cached answers. Returns false, without any effect,
/// if the slow path is needed.
bool passes(WaveClock& clock, Cell& cell, const Mark& mark, bool writes) {
  if (cell.is_atomic || !clock.incomplete.empty() || !clock.knows_at_once(cell.write.when)) return false;
  if (!writes) {
    cell.add_read(mark);
    return true;
  }
  if (!clock.knows_at_once(cell.reads[0].when) || !clock.knows_at_once(cell.reads[1].when)) return false;
  cell.write = cell.plain_write = mark;
  cell.is_stored = true;
  return true;
}

/// The rest of the piece, as far as it is in the block at an address. How many bytes of the host's that takes.
size_t RaceChecker::access_block(Pass& pass, CellArena& arena, CellBlock& block, uint64_t address,
                                 std::optional<unsigned> spread) {
  const auto first = static_cast<uint32_t>(pass.at - address);
  const auto end = static_cast<uint32_t>(std::min<uint64_t>(pass.end - address, CellBlock::bytes));
  pass.at = address + end;
  return block.visit(arena, first, end, spread,
                     [&](Cell& cell, uint32_t offset, uint32_t dwords) __attribute__((always_inline)) {
                       const Mark own = mark_at(pass.mark, spread, address + offset - pass.begin);
                       if (pass.is_plain && passes(pass.clock, cell, own, pass.access.writes)) return;
                       access_cell(pass, address + offset, dwords, cell, own);
                     });
}

/// Checks an ordinary access to LDS on the fast path.
LdsPass RaceChecker::pass_lds(GroupClocks& group, WaveClock& clock, const AccessEvent& access,
                              const GroupClocks::RecentSite& site) {
  const bool may_be_atomic = access.writes ? access.instruction.scope != 0 || !group.lds_releases.empty() : site.spins;
  if (access.is_atomic || may_be_atomic || !clock.incomplete.empty()) return {};
  Mark mark{.when = {clock.task, clock.time}};
  mark.site = site.site;
  return group.lds.pass(access, group.limits_of(clock), mark);
}

void RaceChecker::access_lds(Pass& pass) {
  const AccessEvent& access = pass.access;
  GroupClocks& group = pass.group;
  WaveClock& clock = pass.clock;
  LdsPass result;
  if (access.is_atomic) result = group.lds.pass_atomic(access, group.limits_of(clock), pass.mark, clock.since_barrier);
  if (!result.passes) access_lds_cells(pass);
  // LDS completes a wave's accesses in order and is not cached. An atomic, or a store to an atomically accessed
  // location, therefore releases all earlier accesses; a load that waits for it acquires.
  const bool acquires = pass.returns || pass.acquires;
  if (!access.is_atomic && (group.lds_releases.empty() || !(acquires || access.writes))) return;
  const uint64_t size = group.lds.bytes();
  if (acquires) {
    VectorClock all = *clock.known;
    // Lanes of one instruction release at the same time, so each clock is joined once.
    std::vector<uint32_t> learnt;
    for_each_address(access, [&](uint64_t address) {
      if (address >= size) return;
      const std::span<const uint32_t> times = group.lds_releases.times(address);
      if (times.empty() || std::ranges::equal(times, learnt)) return;
      all.learn(group.lds_releases.clock(address));
      learnt.assign(times.begin(), times.end());
    });
    know(clock, std::move(all));
  }
  if (!access.writes) return;
  const uint32_t wave = clock.task - group.first_task;
  uint32_t time = 0;
  for_each_address(access, [&](uint64_t address) {
    if (address >= size || (!access.is_atomic && !group.lds_releases.has(address))) return;
    if (time == 0) {
      clock.pass_time();
      time = WaveClock::completed(clock.time);
      group.lds_releases.knows(wave, time, clock.known);
    }
    group.lds_releases.release(address, wave, time, acquires);
  });
}

void RaceChecker::access_lds_cells(Pass& pass) {
  const uint64_t size = pass.group.lds.bytes();
  for_each_piece(pass.access, [&](unsigned lane, uint64_t begin, uint64_t end, std::optional<unsigned> spread) {
    if (begin >= size) return;
    pass.begin_piece(lane, begin, std::min(end, size), spread);
    pass.group.lds.visit(static_cast<uint32_t>(begin), static_cast<uint32_t>(pass.end),
                         [&](Cell& cell, uint32_t offset, uint32_t dwords) {
                           const Mark own = mark_at(pass.mark, spread, offset - begin);
                           if (pass.is_plain && passes(pass.clock, cell, own, pass.access.writes)) return;
                           access_cell(pass, offset, dwords, cell, own);
                         });
  });
}

/// Fast path of an ordinary access to memory: everything before it is known, and no atomic has accessed the cells.
/// Returns false if the slow path is needed; the access can then be repeated.
bool RaceChecker::pass_global(GroupClocks& group, WaveClock& clock, const AccessEvent& access,
                              const GroupClocks::RecentSite& site) {
  const bool may_be_atomic = access.writes ? access.instruction.scope != 0 : may_be_atomic_load(access.instruction);
  if (access.is_atomic || site.spins || may_be_atomic || !clock.incomplete.empty()) return false;
  if (!group.copies.empty() || group.copies_version != copies_.version()) return false;
  Mark mark{.when = {clock.task, clock.time}};
  mark.site = site.site;
  bool is_known = true;
  AccessHistory::Part* part = nullptr;
  AccessHistory::Blocks* blocks = nullptr;
  uint64_t page = UINT64_MAX;
  std::unique_lock<SpinLock> lock;
  const auto turn_to = [&](uint64_t number) {
    if (number == page) return;
    page = number;
    lock = {};
    part = &history_.part(number);
    lock = std::unique_lock(part->mutex);
    blocks = &part->page(number);
    is_known = !access.writes || part->atomics.empty();
  };
  const auto pass_piece = [&](unsigned lane, uint64_t begin, uint64_t end, std::optional<unsigned> spread) {
    mark.lane = lane;
    mark.spread = spread.value_or(0);
    for (uint64_t at = begin; is_known && at < end;) {
      turn_to(AccessHistory::page_of(at));
      if (!is_known) return;
      const uint64_t block = at / CellBlock::bytes * CellBlock::bytes;
      const uint64_t until = std::min(end, block + CellBlock::bytes);
      part->bytes += (*blocks)[at % AccessHistory::page_bytes / CellBlock::bytes].visit(
          part->arena(), static_cast<uint32_t>(at - block), static_cast<uint32_t>(until - block), spread,
          [&](Cell& cell, uint32_t offset, uint32_t) {
            if (is_known) is_known = passes(clock, cell, mark_at(mark, spread, block + offset - begin), access.writes);
          });
      at = until;
    }
  };
  // Lanes at consecutive addresses usually form one piece.
  const std::optional<unsigned> spread = spread_of(access);
  if (spread && access.pattern.follows == (access.lanes & (access.lanes - 1)) && access.pattern.begin % 4 == 0) {
    pass_piece(static_cast<unsigned>(std::countr_zero(access.lanes)), access.pattern.begin, access.pattern.end, spread);
  } else {
    for_each_piece(access, pass_piece);
  }
  if (!is_known) return false;
  if (access.writes) {
    clock.stores_in_flight = true;
  } else {
    if (clock.has_fresh_caches()) ++clock.loads_since_invalidation;
    if (!access.is_scalar) clock.loads_in_flight = true;
  }
  return true;
}

void RaceChecker::access_global(Pass& pass) {
  const AccessEvent& access = pass.access;
  GroupClocks& group = pass.group;
  WaveClock& clock = pass.clock;
  AccessHistory::Part* part = nullptr;
  AccessHistory::Blocks* page = nullptr;
  uint64_t page_number = UINT64_MAX;
  std::unique_lock<SpinLock> lock;
  bool has_atomics = false;
  const auto turn_to = [&](uint64_t address) {
    const uint64_t number = AccessHistory::page_of(address);
    if (number == page_number) return;
    lock = {};
    part = &history_.part(number);
    lock = std::unique_lock(part->mutex);
    page = &part->page(number);
    page_number = number;
    has_atomics |= !part->atomics.empty();
  };
  for_each_piece(access, [&](unsigned lane, uint64_t begin, uint64_t end, std::optional<unsigned> spread) {
    pass.begin_piece(lane, begin, end, spread);
    while (pass.at < pass.end) {
      turn_to(pass.at);
      pass.part = part;
      CellBlock& block = (*page)[pass.at % AccessHistory::page_bytes / CellBlock::bytes];
      part->bytes += access_block(pass, part->arena(), block, pass.block(), spread);
    }
  });
  // A read-modify-write atomic acquires earlier releases of its location, and releases. So does a store or load of an
  // atomically accessed location, as far as the encoding distinguishes them.
  const bool acquires = pass.returns || pass.acquires;
  if (access.is_atomic || (has_atomics && (acquires || access.writes))) {
    const Knowledge released = clock.released();
    for_each_address(access, [&](uint64_t address) {
      turn_to(address);
      if (!access.is_atomic && part->atomics.empty()) return;
      auto at = part->atomics.find(address);
      if (at == part->atomics.end()) {
        if (!access.is_atomic) return;
        at = part->atomics.try_emplace(address).first;
      }
      Place& place = at->second;
      if (acquires) {
        if (!place.empty()) acquire_near(group, clock, place.clock());
        clock.pending.add(address);
      }
      if (access.writes) place.learn(released, clock.task);
      if (!group.is_in_order || group.waves.size() == 1) return;
      VectorClock& in_order = group.released_in_order[address];
      if (acquires && !in_order.empty()) acquire_in_order(group, clock, in_order);
      if (access.writes) {
        in_order.learn_of(*clock.known, group.first_task, group.end_task());
        in_order.learn({clock.task, clock.time - 1});  // access() has already counted the write itself
      }
    });
  }
  lock = {};
  if (acquires) {
    if (clock.has_fresh_caches()) invalidate(clock);
  } else if (pass.is_load() && clock.has_fresh_caches()) {
    ++clock.loads_since_invalidation;
  }
  if (access.reads && !access.is_scalar) clock.loads_in_flight = true;
  if (access.writes) clock.stores_in_flight = true;
}

void RaceChecker::access(const machine::Wave& wave, const AccessEvent& access) {
  if (access.space == Space::scratch) return;
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  if (access.writes) clock->pass_store();
  const GroupClocks::RecentSite& site = site_of(wave, access, *group);
  if (access.space == Space::lds) {
    // Copies from memory use other counters.
    const isa::Encoding encoding = access.instruction.encoding;
    if (encoding == isa::Encoding::ds || encoding == isa::Encoding::flat) clock->begin_lds_access(access.writes);
  }
  LdsPass ordinary;
  if (access.space == Space::global) {
    ordinary.passes = ordinary.overlaps = pass_global(*group, *clock, access, site);
  } else {
    ordinary = pass_lds(*group, *clock, access, site);
  }
  if (ordinary.passes) {
    if (access.writes && ordinary.overlaps && std::popcount(access.lanes) > 1) check_lanes(findings_, wave, access);
    return;
  }
  access_closely(wave, access, *group, *clock, site);
}

/// Checks an access on the slow path.
void RaceChecker::access_closely(const machine::Wave& wave, const AccessEvent& access, GroupClocks& group,
                                 WaveClock& clock, const GroupClocks::RecentSite& site) {
  Pass pass(wave, access, group, clock, site);
  if (access.space == Space::lds) {
    access_lds(pass);
  } else {
    access_global(pass);
    check_copies(wave, access, group);
  }
  if (access.is_atomic && !clock.loads_of_atomics.empty()) {
    for (const WaveClock::Load& load : clock.loads_of_atomics) {
      const bool is_same = load.space == access.space && (access.lanes >> load.lane & 1) != 0 &&
                           access.addresses[load.lane] == load.address;
      if (is_same) note_retry(clock, load.site);
    }
  }
  if (pass.doubt.conflict.count != 0) add_doubt(wave, pass);
  if (pass.conflict.count != 0) {
    report(wave, {access.pc, access.space, access.bytes, verb_of(access), pass.conflict});
  }
  if (pass.incomplete.count != 0) {
    report_incomplete(wave, {access.pc, access.space, access.bytes, verb_of(access), pass.incomplete});
  }
  if (access.writes && !access.is_atomic && std::popcount(access.lanes) > 1) check_lanes(findings_, wave, access);
}

/// Records that a lane performs an atomic on a location it loaded, in the same interval between barriers.
void RaceChecker::note_retry(WaveClock& clock, uint32_t load_site) {
  if (clock.last_retried == load_site) return;
  clock.last_retried = load_site;
  const std::lock_guard lock(doubts_mutex_);
  retried_.insert(load_site);
}

void RaceChecker::add_doubt(const machine::Wave& wave, const Pass& pass) {
  const AccessEvent& access = pass.access;
  const Conflict& conflict = pass.doubt.conflict;
  const std::lock_guard lock(doubts_mutex_);
  if (retried_.contains(pass.doubt.load_site)) return;
  const auto [at, is_new] = doubts_.try_emplace({pass.group.dispatch, access.pc, uint32_t{conflict.other.site}});
  DeferredReport& later = at->second;
  if (is_new) {
    later.dispatch = pass.group.dispatch;
    later.load_site = pass.doubt.load_site;
    later.finding = finding_for(wave, pass.clock, {access.pc, access.space, access.bytes, verb_of(access), conflict},
                                access.space == Space::lds ? "lds" : "global");
  } else {
    later.finding.count += conflict.count;
  }
}

/// Reports the deferred reports of an ending dispatch, or all.
void RaceChecker::report_doubts(uint32_t dispatch) {
  std::vector<Finding> reported;
  {
    const std::lock_guard lock(doubts_mutex_);
    for (auto at = doubts_.begin(); at != doubts_.end();) {
      DeferredReport& later = at->second;
      const bool is_over = dispatch == every_dispatch || later.dispatch == dispatch;
      if (is_over && !retried_.contains(later.load_site)) reported.push_back(std::move(later.finding));
      at = is_over ? doubts_.erase(at) : std::next(at);
    }
  }
  for (Finding& finding : reported) {
    const uint64_t pc = finding.pc;
    if (!findings_.known(checker, finding.kind, pc, finding.count)) findings_.add(pc, std::move(finding));
  }
}

// --- Copies -------------------------------------------------------------------------------------------------------

void RaceChecker::allocated(const machine::MemoryEvent& memory) {
  history_.forget(memory.address, memory.address + memory.size);
  copies_.forget(memory.address, memory.address + memory.size);
}

/// The copy that the calling thread executes; 0: none, so the copy is a synchronous one by the host.
static thread_local uint32_t copy_in_flight = 0;

void RaceChecker::copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
  const std::lock_guard lock(dispatches_mutex_);
  const RunOrder::Begun begun = order_.copy_starts(copy, signals);
  begins(begun);
  copy_in_flight = begun.number;
}

void RaceChecker::copy_ends(uint64_t, uint64_t completion_signal) {
  if (const uint32_t number = std::exchange(copy_in_flight, 0); number != 0)
    order_.copy_ends(number, completion_signal);
}

void RaceChecker::copied(const machine::CopyEvent& copy) {
  const uint32_t run = copy_in_flight != 0 ? copy_in_flight : order_.host_copies();
  if (run == 0 || copy.bytes == 0) return;
  CopyAccess access{.run = run, .function = std::string(copy.function), .asked = asked_.find(copy)};
  for (const bool writes : {false, true}) {
    access.begin = writes ? copy.destination : copy.source;
    if (access.begin == 0) continue;
    access.end = access.begin + copy.bytes;
    access.writes = writes;
    check_copy(access);
    copies_.add(access);
  }
}

/// Checks a copy against accesses of kernels and other copies.
void RaceChecker::check_copy(const CopyAccess& copy) {
  std::optional<Conflict> conflict;
  for (uint64_t at = copy.begin; at < copy.end && !conflict;) {
    const uint64_t page = AccessHistory::page_of(at), end = std::min(copy.end, (page + 1) * AccessHistory::page_bytes);
    AccessHistory::Part& part = history_.part(page);
    const std::lock_guard lock(part.mutex);
    AccessHistory::Blocks* const blocks = part.find(page);
    for (; at < end && blocks != nullptr;) {
      const uint64_t block = at / CellBlock::bytes * CellBlock::bytes, until = std::min(end, block + CellBlock::bytes);
      part.bytes += (*blocks)[block % AccessHistory::page_bytes / CellBlock::bytes].visit(
          part.arena(), static_cast<uint32_t>(at - block), static_cast<uint32_t>(until - block), 0,
          [&](const Cell& cell, uint32_t offset, uint32_t) {
            if (conflict) return;
            if (!ordered_before_copy(copy.run, cell.write.when)) {
              conflict = {.other = cell.write, .other_writes = true, .address = block + offset, .count = 1};
            } else if (copy.writes) {
              for (const Mark& read : cell.reads) {
                if (conflict || ordered_before_copy(copy.run, read.when)) continue;
                conflict = {.other = read, .other_writes = false, .address = block + offset, .count = 1};
              }
            }
          });
      at = until;
    }
    at = end;
  }
  if (conflict) {
    return report_copy(copy, conflict->address, conflict->other_writes ? "a kernel has written" : "a kernel has read",
                       site_of(conflict->other));
  }
  const auto others = copies_.all([&](const CopyAccess& other) {
    return other.run != copy.run && (other.writes || copy.writes) && other.begin < copy.end && copy.begin < other.end &&
           !order_.comes_before(other.run, copy.run);
  });
  if (others.empty()) return;
  const CopyAccess& other = *others.front();
  report_copy(copy, std::max(copy.begin, other.begin),
              other.writes ? "another copy has written" : "another copy has read",
              {.title = "the other copy", .frames = lines_of(other.asked, other.function)});
}

/// Checks an access against completed copies that are not ordered before its dispatch.
void RaceChecker::check_copies(const machine::Wave& wave, const AccessEvent& access, GroupClocks& group) {
  if (const uint64_t version = copies_.version(); version != group.copies_version) {
    group.copies = copies_.all([&](const CopyAccess& copy) { return !order_.comes_before(copy.run, group.dispatch); });
    group.copies_version = version;
  }
  for (const auto& copy : group.copies) {
    if (!copy->writes && !access.writes) continue;
    for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const uint64_t address = access.addresses[lane];
      if (address >= copy->end || address + access.bytes <= copy->begin) continue;
      Later later{access.pc, access.space, access.bytes, verb_of(access), {}, copy};
      later.conflict = {.lane = lane, .other_writes = copy->writes, .address = address, .count = 1};
      report(wave, later);
      break;
    }
  }
}

void RaceChecker::report_copy(const CopyAccess& copy, uint64_t address, std::string_view other, NamedStack earlier) {
  const std::string kind = "copy";
  if (findings_.known(checker, kind, copy.asked.hash(), 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  finding.message = fmt::format("{} {} memory that {}, and nothing orders the two", copy.function,
                                copy.writes ? "writes" : "reads", other);
  finding.address = fmt::format("{:#x}", address);
  if (std::vector<std::string> lines = lines_of(copy.asked, copy.function); !lines.empty()) {
    finding.stacks.push_back({"copied", std::move(lines)});
  }
  finding.stacks.push_back(std::move(earlier));
  finding.advice = advice_for_copies;
  findings_.add(copy.asked.hash(), std::move(finding));
}

// --- Reports ------------------------------------------------------------------------------------------------------

/// Describes where an earlier access was made.
NamedStack RaceChecker::site_of(const Mark& mark) {
  const Task& task = tasks_[mark.when.task];
  Site site;
  {
    const std::lock_guard lock(sites_mutex_);
    site = sites_[mark.site];
  }
  const std::string access = fmt::format("{} {} bytes", site.verb, site.bytes);
  const std::string wave = fmt::format("kernel '{}', work-group ({}, {}, {}), wave {}, lane {}",
                                       site.kernel ? support::demangled(site.kernel->name) : "", task.work_group[0],
                                       task.work_group[1], task.work_group[2], task.wave, uint32_t{mark.lane});
  NamedStack earlier{.title = "the other access"};
  if (site.gpu != nullptr) earlier.code = machine::code_address(*site.gpu, site.pc, site.wave_size);
  earlier.describe = [access, wave](const debug_info::CodePlace& place) {
    const std::string where = source_of(place);
    std::vector<std::string> frames{access + (where.empty() ? "" : ", ") + where};
    if (!place.instruction.empty()) frames.push_back(place.instruction);
    frames.push_back(wave);
    return frames;
  };
  return earlier;
}

void RaceChecker::report(const machine::Wave& wave, const Later& later) {
  const std::string kind = later.copy ? "copy" : later.space == Space::lds ? "lds" : "global";
  if (findings_.known(checker, kind, later.pc, later.conflict.count)) return;
  const WaveClock* const clock = clocks_of(wave).wave;
  if (clock != nullptr) findings_.add(later.pc, finding_for(wave, *clock, later, kind));
}

/// Reports an unordered access that is not a race on this GPU but may be one on others. Here a work-group release and
/// acquire are no instructions, so it is unknown whether the source has them: a note.
void RaceChecker::report_incomplete(const machine::Wave& wave, const Later& later) {
  const std::string kind = "not-portable";
  if (findings_.known(checker, kind, later.pc, later.conflict.count)) return;
  const WaveClock* const clock = clocks_of(wave).wave;
  if (clock == nullptr) return;
  Finding note = finding_for(wave, *clock, later, kind);
  note.is_note = true;
  note.message = fmt::format(
      "kernel '{}' {} {} bytes of memory that another wave of its work-group {}: in order here, as waves of a "
      "work-group see each other's accesses on this GPU, but not from GFX10 on in WGP mode",
      note.kernel, later.verb, later.bytes, later.conflict.other_writes ? "has written" : "has read");
  note.advice =
      "check that the source has a work-group release before the synchronisation and an acquire after it; the code for "
      "this GPU is the same without them. With code for gfx1030, --gpu gfx1030 checks it";
  findings_.add(later.pc, std::move(note));
}

Finding RaceChecker::finding_for(const machine::Wave& wave, const WaveClock& clock, const Later& later,
                                 std::string_view kind) {
  const Conflict& conflict = later.conflict;
  const bool in_lds = later.space == Space::lds;
  const Task& own = tasks_[clock.task];
  const Task& other = tasks_[conflict.other.when.task];
  const bool same_dispatch = !later.copy && own.dispatch == other.dispatch;
  const bool same_group = same_dispatch && std::ranges::equal(own.work_group, other.work_group);
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, later.pc, conflict.lane);
  const std::string whose = later.copy      ? later.copy->function
                            : same_group    ? "another wave of its work-group"
                            : same_dispatch ? "a wave of another work-group"
                                            : "a wave of another dispatch";
  finding.message =
      fmt::format("kernel '{}' {} {} bytes of {} that {} {}, and nothing orders the two", finding.kernel, later.verb,
                  later.bytes, in_lds ? "LDS" : "memory", whose, conflict.other_writes ? "has written" : "has read");
  finding.address = in_lds ? fmt::format("LDS + {:#x}", conflict.address) : fmt::format("{:#x}", conflict.address);
  if (later.copy) {
    finding.stacks.push_back({"copied", lines_of(later.copy->asked, later.copy->function)});
  } else {
    finding.stacks.push_back(site_of(conflict.other));
  }
  finding.advice =
      same_group && !in_lds
          ? "put a barrier between them (__syncthreads(), barrier()), which all waves of the work-group reach"
      : same_group    ? "put a barrier between them (__syncthreads(), barrier()), which all waves of the work-group "
                        "reach; in assembly, wait for LDS before it"
      : same_dispatch ? "no barrier reaches other work-groups: use atomics with release and acquire, or a second kernel"
      : later.copy    ? advice_for_copies
                      : "let the one dispatch wait for the other: the same stream, an event, or a barrier packet";
  finding.count = conflict.count;
  return finding;
}

}  // namespace

std::unique_ptr<Checker> make_race_checker(Findings& findings) { return std::make_unique<RaceChecker>(findings); }

}  // namespace Atoll::observe

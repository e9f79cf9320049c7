// observe: advances the clocks of waves at dispatches, barriers, waits, cache invalidations and signals.
#include "observe/race/happens_before.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hazards/counters.h"
#include "isa/table.h"
#include "machine/gpu.h"
#include "machine/queue/signal.h"
#include "machine/wave/barrier.h"
#include "machine/wave/dispatch.h"
#include "memory_model/generation.h"
#include "observe/race/thread_slots.h"

namespace Atoll::observe {

namespace {

/// Returns the pseudo-address that represents a whole-GPU barrier as a synchronisation variable.
uint64_t global_sync_place(const machine::Wave& wave, const isa::Instruction& instruction) {
  const uint64_t gpu = reinterpret_cast<uintptr_t>(wave.work_group->dispatch->gpu) >> 4 & 0xFFFF'FFFF;
  const uint64_t resource = ((wave.scalar[isa::scalar::m0] >> 16) + static_cast<uint32_t>(instruction.offset)) & 63;
  return uint64_t{1} << 63 | gpu << 16 | resource << 3;
}

}  // namespace

/// Called with the dispatches' lock held, so that no other dispatch accesses the cells cleared here.
void HappensBefore::begins(RunOrder::Begun begun) {
  if (!begun.is_fresh) return;
  cells_.clear();
  copies_.clear();
  memories_.forget([](uint32_t) { return true; });
  tasks_.recycle();
}

void HappensBefore::dispatch_begins(const machine::Dispatch& dispatch) {
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

void HappensBefore::dispatch_ends(const machine::Dispatch& dispatch,
                                  const std::function<void(uint32_t)>& before_release) {
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
  before_release(number);
  order_.dispatch_ends(dispatch, number, learnt);
  memories_.forget([&](uint32_t task) { return tasks_[task].dispatch == number; });
}

void HappensBefore::work_group_begins(const machine::WorkGroup& group) {
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

void HappensBefore::work_group_ends(const machine::WorkGroup& group) {
  Spare& spare = thread_slot<Spare, 1>(0);
  spare.owner = number_;
  spare.clocks = groups_.erase(group);
  if (spare.clocks != nullptr) spare.clocks->reuse();
}

/// Returns recycled per-work-group clocks from this thread's cache, or allocates new ones.
std::unique_ptr<GroupClocks> HappensBefore::spare_clocks() {
  Spare& spare = thread_slot<Spare, 1>(0);
  if (spare.clocks == nullptr || spare.owner != number_) return std::make_unique<GroupClocks>();
  return std::move(spare.clocks);
}

void HappensBefore::wave_ends(const machine::Wave& wave) {
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

/// Checks orderings that are not in the wave's own clock.
bool HappensBefore::ordered_by_others(const GroupClocks& group, const WaveClock& wave, Moment when) const {
  const uint32_t dispatch = tasks_[when.task].dispatch;
  if (dispatch == group.dispatch) return false;
  if (order_.comes_before(dispatch, group.dispatch)) return true;
  if (!order_.any_unordered()) return false;
  const VectorClock& before = order_.waves_known(group.dispatch);
  return before.of(when.task) >= when.time || comes_before_one_of(dispatch, before.moments()) ||
         comes_before_one_of(dispatch, wave.known->moments());
}

/// Returns whether a run is ordered before the dispatch of one of those waves; their clocks are inherited.
bool HappensBefore::comes_before_one_of(uint32_t run, std::span<const Moment> waves) const {
  uint32_t last = 0;
  return std::ranges::any_of(waves, [&](const Moment& moment) {
    const uint32_t dispatch = tasks_[moment.task].dispatch;
    if (dispatch == last || dispatch == run) return false;
    last = dispatch;
    return order_.comes_before(run, dispatch);
  });
}

bool HappensBefore::ordered_before_copy(uint32_t copy, Moment when) const {
  if (when.task == 0) return true;
  const uint32_t dispatch = tasks_[when.task].dispatch;
  if (order_.comes_before(dispatch, copy)) return true;
  const VectorClock& before = order_.waves_known(copy);
  return before.of(when.task) >= when.time || comes_before_one_of(dispatch, before.moments());
}

/// Adds the dispatches that changed a signal's value themselves, by atomics or stores.
void HappensBefore::add_writers(uint64_t signal, std::vector<uint32_t>& runs) {
  const uint64_t value = signal + offsetof(machine::aql::Signal, value), page = AccessHistory::page_of(value);
  const auto add = [&](uint32_t task) {
    if (task != 0 && tasks_[task].dispatch != 0) runs.push_back(tasks_[task].dispatch);
  };
  AccessHistory::Part& part = cells_.part(page);
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

void HappensBefore::signal_seen(uint64_t signal) {
  std::vector<uint32_t> writers;
  add_writers(signal, writers);
  order_.signal_seen(signal, writers);
}

void HappensBefore::barrier_packet(const machine::BarrierPacketEvent& packet) {
  std::vector<uint32_t> writers;
  for (const uint64_t signal : packet.signals) add_writers(signal, writers);
  order_.barrier_packet(packet, writers);
}

/// A cluster barrier, with all phases joined: waves that pass it acquire the clocks of all waves that arrived.
void HappensBefore::meet_in_cluster(const machine::ClusterBarrier& barrier, machine::BarrierEvent::Kind kind,
                                    WaveClock& clock) {
  const std::lock_guard lock(clusters_mutex_);
  GroupClocks::Arrived& arrived = at_cluster_barriers_[&barrier];
  if (kind == machine::BarrierEvent::Kind::arrives) {
    arrived.learn(clock, clock.done());
  } else if (kind == machine::BarrierEvent::Kind::passes) {
    clock.learn(arrived.clock);
    clock.pending.add(arrived.pending);
    memories_.remember(clock);
  }
}

void HappensBefore::barrier(const machine::Wave& wave, const machine::BarrierEvent& event) {
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  if (clock->global_sync) passes_global_sync(*clock);
  if (event.number == machine::cluster_barrier) {
    if (event.kind == machine::BarrierEvent::Kind::passes) clock->end_interval();
    meet_in_cluster(*wave.work_group->cluster, event.kind, *clock);
    return;
  }
  const bool is_named = event.number > 0;
  if (event.kind == machine::BarrierEvent::Kind::arrives) {
    (is_named ? group->arrived_at_named[event.number] : group->arrived[wave.barrier_phase])
        .learn(*clock, clock->done());
  } else if (event.kind == machine::BarrierEvent::Kind::passes) {
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
    clock->end_interval();
  }
}

/// Ticks the clock if needed, so that later accesses are distinguished from those that a store or atomic releases.
void HappensBefore::instruction(const machine::Wave& wave, const isa::Instruction& instruction) {
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
void HappensBefore::for_each_pending(const Pending& pending, const Visit& visit) {
  visit(pending.clock);
  for (const uint64_t address : pending.places) {
    AccessHistory::Part& part = cells_.part(AccessHistory::page_of(address));
    const std::lock_guard lock(part.mutex);
    const auto place = part.atomics.find(address);
    if (place != part.atomics.end() && !place->second.empty()) visit(place->second.clock());
  }
}

/// Joins a clock into the wave's.
void HappensBefore::know(WaveClock& clock, VectorClock all) {
  clock.know(std::make_shared<const VectorClock>(std::move(all)));
  memories_.remember(clock);
}

/// Acquires the pending clocks.
void HappensBefore::invalidate(WaveClock& clock) {
  if (clock.pending.empty()) return;
  VectorClock all = *clock.known;
  for_each_pending(clock.pending, [&](const VectorClock& released) { all.learn(released); });
  clock.pending.clear();
  know(clock, std::move(all));
}

/// Acquires the pending clocks of its own work-group.
void HappensBefore::invalidate_near(const GroupClocks& group, WaveClock& clock) {
  if (clock.pending.empty()) return;
  VectorClock all = *clock.known;
  for_each_pending(clock.pending,
                   [&](const VectorClock& released) { all.learn_of(released, group.first_task, group.end_task()); });
  know(clock, std::move(all));
}

/// A wave that waits at a grid barrier polls it repeatedly. It acquires as soon as it passes, which the next wait or
/// barrier shows: device libraries invalidate no caches afterwards.
void HappensBefore::global_sync(const machine::Wave& wave, WaveClock& clock, const isa::Instruction& instruction) {
  const uint64_t address = global_sync_place(wave, instruction);
  clock.global_sync = address;
  if (wave.global_sync != 0) return;
  AccessHistory::Part& part = cells_.part(AccessHistory::page_of(address));
  const std::lock_guard lock(part.mutex);
  part.atomics[address].learn(clock.released(), clock.task);
}

void HappensBefore::passes_global_sync(WaveClock& clock) {
  const uint64_t address = *std::exchange(clock.global_sync, std::nullopt);
  VectorClock all = *clock.known;
  AccessHistory::Part& part = cells_.part(AccessHistory::page_of(address));
  {
    const std::lock_guard lock(part.mutex);
    const Place& place = part.atomics[address];
    if (place.empty()) return;
    all.learn(place.clock());
  }
  know(clock, std::move(all));
}

/// Acquires a release by a wave of the same work-group; the location is also pending.
void HappensBefore::acquire_near(const GroupClocks& group, WaveClock& clock, const VectorClock& released) {
  if (!group.shares_caches) return;
  if (!clock.known->lacks(released, group.first_task, group.end_task(), clock.task)) return;
  VectorClock all = *clock.known;
  all.learn_of(released, group.first_task, group.end_task());
  know(clock, std::move(all));
}

/// Acquires a release from waves that see each other's accesses in order.
void HappensBefore::acquire_in_order(const GroupClocks& group, WaveClock& clock, const VectorClock& released) {
  for (const Moment& moment : released.moments()) {
    if (moment.task != clock.task && clock.known->of(moment.task) < moment.time) clock.learns_incomplete(moment);
  }
  acquire_near(group, clock, released);
}

/// Returns the clock that an ordinary store releases if it turns out to be atomic. `in_order`: includes all that its
/// wave did before, complete or not.
VectorClock HappensBefore::released_by(Moment when, bool in_order) {
  VectorClock clock;
  if (const Knowledge known = memories_.at(when)) clock = *known;
  clock.learn({when.task, in_order ? when.time - 1 : WaveClock::completed(when.time)});
  return clock;
}

uint32_t HappensBefore::copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
  const std::lock_guard lock(dispatches_mutex_);
  const RunOrder::Begun begun = order_.copy_starts(copy, signals);
  begins(begun);
  return begun.number;
}

}  // namespace Atoll::observe

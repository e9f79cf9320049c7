// machine: runs the waves of a slice's work-groups in rounds, by the engine.
//
// This file is the seam between the scheduler, which handles work-groups, and the waves of the instruction set. It is
// the only code of the scheduler that reads a Wave.
#include "machine/schedule/time_slice.h"

#include <algorithm>
#include <new>
#include <utility>

#include "machine/clock.h"
#include "machine/gpu.h"
#include "machine/observer.h"
#include "machine/report/core_dump.h"
#include "machine/report/fault_guard.h"
#include "machine/report/fault_report.h"
#include "machine/wave/barrier.h"
#include "machine/wave/resident_group.h"
#include "machine/wave_control.h"

namespace Atoll::machine {

namespace {

/// How long a wave runs before the next has its slice, as instructions at the rate of those before it: to begin with as
/// many as take the interpreter that long. Also how often to look at the clock, which takes as long as a short wave; a
/// wave that begins to run counts as some more instructions.
constexpr uint64_t wave_run_ns = 25'000, largest_budget = 32'768, wave_overhead = 16;
/// Budget of a wave that seems to wait: enough to detect whether it still does. Waves that wait for each other's
/// work-groups would otherwise spend most of the time polling. In a dispatch in which waves waited recently, the
/// others get small budgets until they are known not to wait: as many instructions as they have run so far,
/// within these limits.
constexpr uint64_t waiting_budget = 256, suspicion_budget = 1024;

/// Returns a fingerprint of all state visible in scalar registers. A wave that repeatedly returns with the same one is
/// in a loop that waits for memory. (Or counts in vector registers only; misjudging that is cheap.)
uint64_t fingerprint(const Wave& wave) {
  // Several sums side by side: one multiplication need not wait for the one before.
  uint64_t sums[4] = {wave.pc >> 10};
  static_assert(isa::scalar::count % std::size(sums) == 0);
  for (unsigned i = 0; i < isa::scalar::count; i += std::size(sums)) {
    for (unsigned j = 0; j < std::size(sums); ++j) {
      sums[j] = (sums[j] ^ wave.scalar[i + j]) * 0x9E37'79B9'7F4A'7C15;
    }
  }
  uint64_t sum = 0;
  for (const uint64_t each : sums) sum = (sum ^ each) * 0x9E37'79B9'7F4A'7C15;
  return sum;
}

}  // namespace

void Scheduler::TimeSlice::begin_round() {
  next_wave = 0;
  wave = resident->group.waves.data();
  all_wait = all_seem_to_wait = true;
}

void Scheduler::TimeSlice::begin_taken() {
  resident->begin(taken);
  ++taken;
  is_half_way = true;
  is_resumed = has_progressed = false;
  begin_round();
}

void Scheduler::TimeSlice::begin_all_waves() {
  while (resident->group.waves_begun < resident->group.waves.size()) resident->begin_wave();
}

size_t Scheduler::TimeSlice::wave_count() const { return resident->group.waves.size(); }

void Scheduler::TimeSlice::count_group() {
  is_half_way = false;
  if (resident->group.cluster != nullptr) resident->group.cluster->drop();
  ++ended;
  waves += resident->group.waves.size();
  instructions += resident->instructions;
}

/// The waves that may follow one of the slice's, in the work-groups that it has taken.
struct Scheduler::SliceSeries : WaveBatch {
  explicit SliceSeries(TimeSlice& of) : slice(of) {
    begin_work_group = [](WaveBatch& series) { return static_cast<SliceSeries&>(series).next(); };
    slice.resident->describe(*this);
  }
  bool next() {
    if (slice.taken == slice.taken_end || slice.dispatch->progress.cancelled.load(std::memory_order_relaxed))
      return false;
    slice.count_group();
    slice.resident->begin_in_series(slice.taken, *this);
    ++slice.taken;
    slice.is_half_way = true;
    return true;
  }

  TimeSlice& slice;
};

static WaveControl* control_of(const Dispatch& dispatch) {
  return dispatch.observer != nullptr ? dispatch.observer->wave_control() : nullptr;
}

/// A wave has come back from the engine: what that means, for the observer.
static void report_stop(Observer& observer, const Wave& wave) {
  using enum BarrierEvent::Kind;
  if (wave.state == WaveState::ended) return observer.wave_ends(wave);
  if (wave.state == WaveState::at_barrier) observer.barrier(wave, {arrives, work_group_barrier});
  observer.barrier(wave, {waits, work_group_barrier});
  if (wave.state == WaveState::waits_at_barrier && wave.work_group->barrier.phase != wave.barrier_phase) {
    observer.barrier(wave, {passes, work_group_barrier});
  }
}

void set_host_fault(Engine& engine, Wave& wave, HostFault host) {
  engine.retrace_fault(wave, host);
  if (wave.state == WaveState::faulted) return;
  wave.state = WaveState::faulted;
  wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::memory,
                                             .pc = wave.pc,
                                             .address = host.address,
                                             .address_known = host.address_known,
                                             .is_write = host.is_write});
}

/// Reports a completed barrier phase, whose waiting waves are about to continue.
static void report_release(Observer& observer, const WorkGroup& group) {
  for (uint32_t i = 0; i < group.waves_begun; ++i) {
    const Wave& wave = group.waves[i];
    const bool waits = wave.state == WaveState::at_barrier || wave.state == WaveState::waits_at_barrier;
    if (waits && group.barrier.phase != wave.barrier_phase) {
      observer.barrier(wave, {BarrierEvent::Kind::passes, work_group_barrier});
    }
  }
}

/// Runs the slice's work-group until it ends or has to be preempted, and as many others after it as it has taken,
/// as long as they end.
Scheduler::Outcome Scheduler::run(TimeSlice& slice) {
  try {
    return run_until_preempted(slice);
  } catch (const std::bad_alloc&) {
    run_out_of_memory(slice);
    return Outcome::ended;
  }
}

/// The host is out of memory for the slice: ends its dispatch. Allocates nothing.
void Scheduler::run_out_of_memory(TimeSlice& slice) {
  cancel(*slice.dispatch, {support::ErrorKind::out_of_resources, "out of memory"});  // short: kept in the string itself
  if (slice.is_half_way) abandon(slice);
}

Scheduler::Outcome Scheduler::run_until_preempted(TimeSlice& slice) {
  const Dispatch& dispatch = *slice.dispatch;
  for (;;) {
    HostFault host;
    Stop stop = Stop::fault;
    if (!guarded(host, [&] { stop = run_waves(slice); })) set_host_fault(dispatch.gpu->engine(), *slice.wave, host);
    if (stop == Stop::ended) return Outcome::ended;
    const bool waits = stop == Stop::round_over && slice.all_seem_to_wait;
    const bool goes_on = stop == Stop::poll || waits ? poll(slice) : stop != Stop::fault;
    if (!goes_on) fault(*slice.wave);
    if (!goes_on || dispatch.progress.cancelled.load(std::memory_order_relaxed)) {
      abandon(slice);
      return Outcome::ended;
    }
    if (stop == Stop::poll) {
      // Waiting waves may wait for a work-group that this thread has taken.
      const bool some_wait = dispatch.progress.preemption_count.load(std::memory_order_relaxed) != 0;
      if (slice.now >= slice.end || some_wait) release_claimed(slice);
      continue;
    }
    if (!waits) slice.has_progressed = true;
    if (slice.all_wait) return Outcome::waiting;
    if (slice.all_seem_to_wait) return Outcome::seems_to_wait;
    if (slice.now >= slice.end) return Outcome::slice_over;
    slice.begin_round();
  }
}

/// Which wave runs as that number of a round. Wave 0 is the last one as soon as all have begun: what the first
/// work-item writes for its work-group after a barrier often overwrites what the others read there, with no barrier
/// between. On hardware the waves read together and a memory access keeps the first from writing for hundreds of
/// cycles, so that such programs run (rocPRIM 7.2's scans, ordered_block_id::get()); here a wave may run on for long.
static size_t wave_in_round(const WorkGroup& group, size_t number) {
  const size_t count = group.waves.size();
  if (group.waves_begun < count) return number;
  return number + 1 < count ? number + 1 : 0;
}

/// Goes on with the slice's round of waves, and with the work-groups that it has taken when one has ended. Runs inside
/// guarded(): nothing here may hold a lock or own anything while a wave runs.
Scheduler::Stop Scheduler::run_waves(TimeSlice& slice) {
  const Dispatch& dispatch = *slice.dispatch;
  Engine& engine = dispatch.gpu->engine();
  ResidentGroup& resident = *slice.resident;
  WorkGroup& group = resident.group;
  WaveControl* const control = control_of(dispatch);
  for (;;) {
    while (slice.next_wave < group.waves.size()) {
      if (dispatch.progress.cancelled.load(std::memory_order_relaxed)) return Stop::cancelled;
      const size_t number = slice.next_wave++;
      const size_t index = slice.order != nullptr ? slice.order[number] : wave_in_round(group, number);
      Wave& next = group.waves[index];
      const bool begins = index == group.waves_begun;
      if (begins) {
        resident.begin_wave();
      } else if (next.state != WaveState::ready) {
        continue;
      }
      if (control != nullptr && !control->before_run(next)) continue;
      slice.wave = &next;
      const uint64_t before = next.instructions;
      const uint32_t phase = group.barrier.phase;
      const uint64_t budget = slice.budgets != nullptr ? slice.budgets[index] : budget_of(slice, next);
      if (budget == 0) continue;
      const bool is_first = begins && index == 0 && resident.is_series();
      const WaveState state = is_first ? run_batch(slice, budget) : engine.run(next, budget);
      Wave& wave = *slice.wave;
      if (control != nullptr) control->after_run(wave);
      const uint64_t ran = wave.instructions - before;
      slice.clock += ran + wave_overhead;
      if (state == WaveState::ready) {
        // A wave that comes back ready before its budget is used up has said that it waits.
        if (ran >= budget) {
          slice.all_wait = false;
          const uint64_t now = fingerprint(wave);
          wave.seems_to_wait = std::exchange(wave.fingerprint, now) == now;
          if (wave.seems_to_wait) {
            slice.saw_waiting = true;
            if (!dispatch.progress.suspects_blocked.load(std::memory_order_relaxed))
              slice.dispatch->progress.suspects_blocked.store(true);
          } else {
            slice.all_seem_to_wait = false;
          }
        }
      } else {
        slice.all_wait = slice.all_seem_to_wait = false;
        if (state == WaveState::faulted) return Stop::fault;
        if (dispatch.observer != nullptr) report_stop(*dispatch.observer, wave);
        stop_at_barrier(wave);
        if (state == WaveState::ended) {
          --group.waves_running;
          resident.instructions.add(wave);
          resident.end_wave(wave);
          complete_barrier(group);
        }
      }
      if (group.barrier.phase != phase) {
        if (dispatch.observer != nullptr) report_release(*dispatch.observer, group);
        release_from_barrier(group);
      }
      if (slice.clock >= slice.poll_at) return Stop::poll;
    }
    if (group.waves_running != 0) {
      // Where nothing is to decide, the next round begins at once: leaving guarded() and entering it anew takes as long
      // as a wave that runs from one barrier to the next.
      if (slice.all_wait || slice.all_seem_to_wait || slice.now >= slice.end) return Stop::round_over;
      slice.has_progressed = true;
      slice.begin_round();
      continue;
    }
    if (dispatch.observer != nullptr) dispatch.observer->work_group_ends(group);
    slice.count_group();
    if (slice.taken == slice.taken_end) return Stop::ended;
    slice.begin_taken();
  }
}

/// Instructions that a wave may run before the next has its slice.
uint64_t Scheduler::budget_of(const TimeSlice& slice, const Wave& wave) {
  if (wave.seems_to_wait) return waiting_budget;
  if (!slice.dispatch->progress.suspects_blocked.load(std::memory_order_relaxed)) return slice.budget;
  return std::clamp(wave.instructions, waiting_budget, suspicion_budget);
}

/// Runs the work-group's first wave, which has just begun, and as many as follow it at once. The slice's wave is then
/// the last of them.
WaveState Scheduler::run_batch(TimeSlice& slice, uint64_t budget) {
  SliceSeries series(slice);
  const uint64_t waves_before = slice.waves;
  const WaveState state = slice.dispatch->gpu->engine().run_batch(*slice.wave, budget, series);
  slice.wave = &slice.resident->settle(*slice.wave);
  slice.next_wave = slice.wave->index + size_t{1};
  slice.clock += (slice.waves - waves_before + slice.wave->index) * wave_overhead;
  return state;
}

/// The dispatch is cancelled: the slice's work-group has ended half-way.
void Scheduler::abandon(TimeSlice& slice) {
  const WorkGroup& group = slice.resident->group;
  if (Dispatch& dispatch = *slice.dispatch; dispatch.progress.dump_core) {
    const std::lock_guard lock(dispatch.progress.mutex);
    if (dispatch.progress.fault) dispatch.progress.stopped.push_back(save(group));
  }
  for (uint32_t i = 0; i < group.waves_begun; ++i) {
    if (group.waves[i].state != WaveState::ended) slice.instructions.add(group.waves[i]);
  }
  if (group.dispatch != nullptr && group.dispatch->observer != nullptr) {
    if (WaveControl* const control = control_of(*group.dispatch)) control->forget(group);
    group.dispatch->observer->work_group_ends(group);
  }
  slice.count_group();
}

/// Between two runs of a wave: what time is it, do others have to help, must the dispatch stop? If so, false, with
/// the reason as the wave's fault.
bool Scheduler::poll(TimeSlice& slice) {
  Dispatch& dispatch = *slice.dispatch;
  slice.now = now_ns();
  slice.budget = std::clamp(slice.clock * wave_run_ns / std::max<uint64_t>(1, slice.now - slice.start), least_budget,
                            largest_budget);
  slice.poll_at = slice.budgets != nullptr ? UINT64_MAX : slice.clock + slice.budget;
  const bool more = slice.taken != slice.taken_end || dispatch.has_unbegun();
  if (slice.now >= slice.offer_at) {
    if (!workers_.empty() && slice.more_to_begin && slice.more_to_begin()) {
      offer(slice.dispatch);
      slice.end = slice.now;
    } else if (more) {
      offer(slice.dispatch);
    }
    slice.offer_at = slice.now + offer_after_ns;
  }
  const WaveControl* const control = control_of(dispatch);
  const bool late =
      slice.now >= dispatch.progress.deadline_ns && (control == nullptr || !control->has_stopped(dispatch));
  const bool interrupted =
      dispatch.progress.interrupts->load(std::memory_order_relaxed) != dispatch.progress.interrupts_seen;
  if (!late && !interrupted) return true;
  // The very last wave may have ended just now; then there is nothing to stop.
  if (slice.resident->group.waves_running == 0 && !more) return true;
  // The wave that ran last may have ended; one that has not is what the dispatch waits for.
  WorkGroup& group = slice.resident->group;
  for (uint32_t i = 0; i < group.waves_begun && slice.wave->state == WaveState::ended; ++i) {
    if (group.waves[i].state != WaveState::ended) slice.wave = &group.waves[i];
  }
  slice.wave->fault = std::make_unique<Fault>(
      Fault{.kind = interrupted ? Fault::Kind::interrupted : Fault::Kind::timeout, .pc = slice.wave->pc});
  return false;
}

void Scheduler::fault(Wave& wave) {
  Dispatch& dispatch = *wave.work_group->dispatch;
  FaultReport report = report_fault(wave);
  support::Error error{report.error_kind(), report.to_string()};
  cancel(dispatch, std::move(error), std::move(report));
}

}  // namespace Atoll::machine

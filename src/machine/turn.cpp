// machine: runs the waves of a turn's work-groups. See turn.h.
#include "machine/turn.h"

#include <algorithm>
#include <utility>

#include "machine/barrier.h"
#include "machine/clock.h"
#include "machine/fault_guard.h"
#include "machine/fault_report.h"

namespace Atoll::machine {

namespace {

/// How long a wave runs before the next has its turn, as instructions at the rate of those before it: to begin with as
/// many as take the interpreter that long. Also how often to look at the clock, which takes as long as a short wave; a
/// wave that begins to run counts as some more instructions.
constexpr uint64_t wave_run_ns = 25'000, largest_budget = 32'768, wave_overhead = 16;
/// What a wave may run that seems to wait: enough to see whether it still does. Waves that wait for each other's
/// work-groups would otherwise spend most of the time looking. In a dispatch in which some were seen to wait lately,
/// the others run little until it is known that they don't: as many instructions as they have run so far, within these
/// limits.
constexpr uint64_t waiting_budget = 256, wary_budget = 1024;

/// A figure that changes when anything does that a scalar register tells: a wave that comes back with the same one time
/// and again goes round in a loop that waits for memory to change. (Or in one that counts in vector registers alone;
/// to take that for waiting costs little.)
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

/// The waves that may follow one of the turn's, in the work-groups that the turn has taken.
struct Scheduler::TurnSeries : WaveSeries {
  explicit TurnSeries(Turn& of) : turn(of) {
    begin_work_group = [](WaveSeries& series) { return static_cast<TurnSeries&>(series).next(); };
    turn.resident->describe(*this);
  }
  bool next() {
    if (turn.taken == turn.taken_end || turn.dispatch->cancelled.load(std::memory_order_relaxed)) return false;
    turn.count_group();
    turn.resident->begin_in_series(turn.taken++, *this);
    return true;
  }

  Turn& turn;
};

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

/// Runs the turn's work-group until it ends or has to be set aside, and as many others after it as the turn has taken,
/// as long as they end.
Scheduler::Outcome Scheduler::run(Turn& turn) {
  const Dispatch& dispatch = *turn.dispatch;
  for (;;) {
    HostFault host;
    Stop stop = Stop::fault;
    if (!guarded(host, [&] { stop = run_waves(turn); })) set_host_fault(engine_, *turn.wave, host);
    if (stop == Stop::ended) return Outcome::ended;
    const bool waits = stop == Stop::round_over && turn.all_seem_to_wait;
    const bool goes_on = stop == Stop::look || waits ? look_around(turn) : stop != Stop::fault;
    if (!goes_on) fault(*turn.wave);
    if (!goes_on || dispatch.cancelled.load(std::memory_order_relaxed)) {
      abandon(turn);
      return Outcome::ended;
    }
    if (stop == Stop::look) {
      // Those that wait may wait for what this thread has taken.
      const bool some_wait = dispatch.set_aside_count.load(std::memory_order_relaxed) != 0;
      if (turn.now >= turn.slice_end || some_wait) give_back_taken(turn);
      continue;
    }
    if (!waits) turn.has_progressed = true;
    if (turn.all_wait) return Outcome::waiting;
    if (turn.all_seem_to_wait) return Outcome::seems_to_wait;
    if (turn.now >= turn.slice_end) return Outcome::slice_over;
    turn.begin_round();
  }
}

/// Which wave has the turn of that number in a round. Wave 0 is the last one as soon as all have begun: what the first
/// work-item writes for its work-group after a barrier often overwrites what the others read there, with no barrier
/// between. On hardware the waves read together and a memory access keeps the first from writing for hundreds of
/// cycles, so that such programs run (rocPRIM 7.2's scans, ordered_block_id::get()); here a wave may run on for long.
static size_t wave_in_turn(const WorkGroup& group, size_t turn) {
  const size_t count = group.waves.size();
  if (group.waves_begun < count) return turn;
  return turn + 1 < count ? turn + 1 : 0;
}

/// Goes on with the turn's round of waves, and with the work-groups that it has taken when one has ended. Runs inside
/// guarded(): nothing here may hold a lock or own anything while a wave runs.
Scheduler::Stop Scheduler::run_waves(Turn& turn) {
  const Dispatch& dispatch = *turn.dispatch;
  ResidentGroup& resident = *turn.resident;
  WorkGroup& group = resident.group;
  for (;;) {
    while (turn.next_wave < group.waves.size()) {
      if (dispatch.cancelled.load(std::memory_order_relaxed)) return Stop::cancelled;
      const size_t index = wave_in_turn(group, turn.next_wave++);
      Wave& next = group.waves[index];
      const bool begins = index == group.waves_begun;
      if (begins) {
        resident.begin_wave();
      } else if (next.state != WaveState::ready) {
        continue;
      }
      turn.wave = &next;
      const uint64_t before = next.instructions;
      const uint32_t phase = group.barrier.phase;
      const uint64_t budget = budget_of(turn, next);
      const bool is_first = begins && index == 0 && resident.is_series();
      const WaveState state = is_first ? run_series(turn, budget) : engine_.run(next, budget);
      Wave& wave = *turn.wave;
      const uint64_t ran = wave.instructions - before;
      turn.clock += ran + wave_overhead;
      if (state == WaveState::ready) {
        // A wave that comes back ready before its budget is used up has said that it waits.
        if (ran >= budget) {
          turn.all_wait = false;
          const uint64_t now = fingerprint(wave);
          wave.seems_to_wait = std::exchange(wave.fingerprint, now) == now;
          if (wave.seems_to_wait) {
            turn.saw_waiting = true;
            if (!dispatch.is_wary.load(std::memory_order_relaxed)) turn.dispatch->is_wary.store(true);
          } else {
            turn.all_seem_to_wait = false;
          }
        }
      } else {
        turn.all_wait = turn.all_seem_to_wait = false;
        if (state == WaveState::faulted) return Stop::fault;
        if (state == WaveState::at_barrier) {
          arrive_at_barrier(wave);
        } else if (state == WaveState::ended) {
          --group.waves_running;
          resident.instructions.add(wave);
          resident.end_wave(wave);
          complete_barrier(group);
        }
      }
      if (group.barrier.phase != phase) release_from_barrier(group);
      if (turn.clock >= turn.look_at) return Stop::look;
    }
    if (group.waves_running != 0) return Stop::round_over;
    turn.count_group();
    if (turn.taken == turn.taken_end) return Stop::ended;
    turn.begin_taken();
  }
}

/// Instructions that a wave may run before the next has its turn.
uint64_t Scheduler::budget_of(const Turn& turn, const Wave& wave) {
  if (wave.seems_to_wait) return waiting_budget;
  if (!turn.dispatch->is_wary.load(std::memory_order_relaxed)) return turn.budget;
  return std::clamp(wave.instructions, waiting_budget, wary_budget);
}

/// Runs the work-group's first wave, which has just begun, and as many as follow it at once. The turn's wave is then
/// the last of them.
WaveState Scheduler::run_series(Turn& turn, uint64_t budget) {
  TurnSeries series(turn);
  const uint64_t waves_before = turn.waves;
  const WaveState state = engine_.run_series(*turn.wave, budget, series);
  turn.wave = &turn.resident->settle(*turn.wave);
  turn.next_wave = turn.wave->index + size_t{1};
  turn.clock += (turn.waves - waves_before + turn.wave->index) * wave_overhead;
  return state;
}

/// The dispatch is cancelled: the turn's work-group has ended half-way.
void Scheduler::abandon(Turn& turn) {
  const WorkGroup& group = turn.resident->group;
  for (uint32_t i = 0; i < group.waves_begun; ++i) {
    if (group.waves[i].state != WaveState::ended) turn.instructions.add(group.waves[i]);
  }
  turn.count_group();
}

/// Between two runs of a wave: what time is it, do others have to help, must the dispatch stop? If so, false, with
/// the reason as the wave's fault.
bool Scheduler::look_around(Turn& turn) {
  Dispatch& dispatch = *turn.dispatch;
  turn.now = now_ns();
  turn.budget =
      std::clamp(turn.clock * wave_run_ns / std::max<uint64_t>(1, turn.now - turn.start), least_budget, largest_budget);
  turn.look_at = turn.clock + turn.budget;
  const bool more = turn.taken != turn.taken_end || dispatch.has_unbegun();
  if (turn.now >= turn.offer_at) {
    if (!workers_.empty() && turn.more_to_begin && turn.more_to_begin()) {
      offer(turn.dispatch);
      turn.slice_end = turn.now;
    } else if (more) {
      offer(turn.dispatch);
    }
    turn.offer_at = turn.now + offer_after_ns;
  }
  const bool late = turn.now >= dispatch.deadline_ns;
  const bool interrupted = interrupts_.load(std::memory_order_relaxed) != dispatch.interrupts_seen;
  if (!late && !interrupted) return true;
  // The very last wave may have ended just now; then there is nothing to stop.
  if (turn.resident->group.waves_running == 0 && !more) return true;
  turn.wave->fault = std::make_unique<Fault>(
      Fault{.kind = interrupted ? Fault::Kind::interrupted : Fault::Kind::timeout, .pc = turn.wave->pc});
  return false;
}

void Scheduler::fault(Wave& wave) {
  Dispatch& dispatch = *wave.work_group->dispatch;
  FaultReport report = report_fault(wave);
  support::Error error{report.error_kind(), report.to_string()};
  cancel(dispatch, std::move(error), std::move(report));
}

}  // namespace Atoll::machine

// machine: runs work-groups on host threads. See scheduler.h.
#include "machine/scheduler.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "machine/fault_guard.h"
#include "machine/fault_report.h"
#include "machine/gpu.h"
#include "machine/signal.h"

namespace Atoll::machine {

namespace {

/// Instructions that a wave runs before the next has its turn: some 50 us.
constexpr uint64_t wave_budget = 1024;
/// How long a work-group keeps a thread while others wait.
constexpr uint64_t slice_ns = 1'000'000;
/// How long a dispatch runs before other threads are woken for it, which costs as much as it can save by then.
constexpr uint64_t offer_after_ns = 25'000;
/// How long the launching thread spins for the others' last work-groups before it sleeps.
constexpr uint64_t spin_for_done_ns = 20'000;

/// Work-groups that only seem to wait let a new one begin each, up to so many; see Scheduler::set_aside.
constexpr size_t trusted_waiters = 64;

/// A figure that changes when anything does that a scalar register tells: a wave that comes back with the same one time
/// and again goes round in a loop that waits for memory to change. (Or in one that counts in vector registers alone;
/// to take that for waiting costs little.)
uint64_t fingerprint(const Wave& wave) {
  uint64_t sum = wave.pc >> 10;
  for (const uint32_t word : wave.scalar) sum = (sum ^ word) * 0x9E37'79B9'7F4A'7C15;
  return sum;
}

}  // namespace

StateMemory::~StateMemory() {
  if (address_ != 0) static_cast<void>(memory_.free(address_));
}

support::Result<uint8_t*> StateMemory::reserve(uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > size_) {
    if (address_ != 0) static_cast<void>(memory_.free(std::exchange(address_, 0)));
    size_ = 0;
    auto grown = memory_.allocate(bytes, 0, "the state of a work-group", 0, Memory::Pages::small);
    if (!grown) return std::unexpected(grown.error());
    address_ = *grown;
    size_ = bytes;
  }
  return reinterpret_cast<uint8_t*>(address_);
}

support::Result<WorkGroupStorage> ResidentGroup::storage_for(const Dispatch& dispatch) {
  const auto rows = registers.reserve(rows_needed(dispatch) * sizeof(Row));
  if (!rows) return std::unexpected(rows.error());
  const auto local = lds.reserve(dispatch.lds_bytes);
  if (!local) return std::unexpected(local.error());
  const auto stack = scratch.reserve(uint64_t{dispatch.scratch_bytes_per_wave} * waves_needed(dispatch));
  if (!stack) return std::unexpected(stack.error());
  return WorkGroupStorage{.rows = reinterpret_cast<Row*>(*rows), .lds = *local, .scratch = *stack};
}

/// What one thread does for one dispatch in one go.
struct Scheduler::Turn {
  const std::shared_ptr<Dispatch>& dispatch;
  uint64_t slice_end, offer_at, now;
  uint64_t ended = 0, waves = 0, instructions = 0;  ///< of work-groups that ended, not yet counted in the dispatch
  std::unique_ptr<ResidentGroup> storage{};         ///< of one that ended, for the next
};

Scheduler::Scheduler(Engine& engine, unsigned threads, const std::atomic<uint64_t>& interrupts)
    : engine_(engine), threads_(std::max(1u, threads)), interrupts_(interrupts) {
  for (unsigned i = 1; i < threads_; ++i) {
    workers_.emplace_back([this] { work(); });
    pthread_setname_np(workers_.back().native_handle(), "atoll-cu");
  }
}

Scheduler::~Scheduler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_wanted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool Scheduler::work_on(const std::shared_ptr<Dispatch>& dispatch) {
  Dispatch& d = *dispatch;
  const uint64_t start = now_ns();
  Turn turn{.dispatch = dispatch, .slice_end = start + slice_ns, .offer_at = start + offer_after_ns, .now = start};
  bool any = false;
  size_t waiting_in_a_row = 0;
  while (turn.now < turn.slice_end) {
    std::unique_ptr<ResidentGroup> group = next_group(d, turn);
    if (group == nullptr) break;
    any = true;
    const Outcome outcome = run(group->group, turn);
    if (outcome == Outcome::ended) {
      ++turn.ended;
      turn.waves += group->group.waves.size();
      for (const Wave& wave : group->group.waves) turn.instructions += wave.instructions;
      turn.storage = std::move(group);
      waiting_in_a_row = 0;
      continue;
    }
    set_aside(d, std::move(group), outcome);
    waiting_in_a_row = outcome == Outcome::slice_over ? 0 : waiting_in_a_row + 1;
    if (waiting_in_a_row > d.set_aside_count.load(std::memory_order_relaxed)) {
      sched_yield();  // everybody waits: perhaps for a host thread that has no processor
      waiting_in_a_row = 0;
    }
  }
  if (turn.storage) give_back(std::move(turn.storage));
  count_ended(d, turn);
  return any;
}

void Scheduler::finish(const std::shared_ptr<Dispatch>& dispatch) {
  Dispatch& d = *dispatch;
  const auto done = [&] { return d.done.load(std::memory_order_acquire); };
  while (!done()) {
    if (work_on(dispatch)) continue;
    dispatch_done_.wait_until(UINT64_MAX, spin_for_done_ns,
                              [&] { return done() || d.set_aside_count.load(std::memory_order_relaxed) != 0; });
  }
}

void Scheduler::work() {
  while (const std::shared_ptr<Dispatch> dispatch = next_offered()) work_on(dispatch);
}

void Scheduler::offer(const std::shared_ptr<Dispatch>& dispatch) {
  if (workers_.empty() || dispatch->offered.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (dispatch->offered.exchange(true)) return;
  offered_.push_back(dispatch);
  if (idle_ != 0) work_wanted_.notify_all();
}

/// The next offered dispatch that has a work-group to run, in turn; null when the scheduler stops.
std::shared_ptr<Dispatch> Scheduler::next_offered() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stopping_) return nullptr;
    for (size_t i = 0; i < offered_.size(); ++i) {
      const size_t index = (next_turn_ + i) % offered_.size();
      const std::shared_ptr<Dispatch>& candidate = offered_[index];
      if (candidate->next_work_group.load(std::memory_order_relaxed) >= candidate->work_group_count &&
          candidate->set_aside_count.load(std::memory_order_relaxed) == 0) {
        continue;
      }
      next_turn_ = index + 1;
      return candidate;
    }
    ++idle_;
    work_wanted_.wait(lock);
    --idle_;
  }
}

/// Takes the work-group that has waited longest, if any was set aside.
std::unique_ptr<ResidentGroup> Scheduler::resume(Dispatch& dispatch) {
  if (dispatch.set_aside.empty()) return nullptr;
  std::unique_ptr<ResidentGroup> group = std::move(dispatch.set_aside.front());
  dispatch.set_aside.pop_front();
  dispatch.set_aside_count.store(dispatch.set_aside.size(), std::memory_order_relaxed);
  ++dispatch.resumed_since_begin;
  return group;
}

std::unique_ptr<ResidentGroup> Scheduler::next_group(Dispatch& dispatch, Turn& turn) {
  const bool none_left = dispatch.next_work_group.load(std::memory_order_relaxed) >= dispatch.work_group_count;
  if (dispatch.set_aside_count.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard lock(dispatch.mutex);
    const size_t waiting = dispatch.set_aside.size();
    const bool may_begin = (dispatch.begin_credit != 0 || dispatch.resumed_since_begin >= waiting) &&
                           waiting < dispatch.max_resident && !none_left;
    if (!may_begin) {
      if (auto group = resume(dispatch)) return group;
    } else {
      if (dispatch.begin_credit != 0) --dispatch.begin_credit;
      dispatch.resumed_since_begin = 0;
    }
  }
  if (none_left) return nullptr;
  const uint64_t index = dispatch.next_work_group.fetch_add(1, std::memory_order_relaxed);
  if (index >= dispatch.work_group_count) return nullptr;
  return begin(dispatch, index, turn);
}

std::unique_ptr<ResidentGroup> Scheduler::begin(Dispatch& dispatch, uint64_t index, Turn& turn) {
  std::unique_ptr<ResidentGroup> group = turn.storage ? std::move(turn.storage) : take_storage();
  const auto storage = group->storage_for(dispatch);
  if (!storage) {
    group->group.waves.clear();  // nothing to run: it counts as ended
    cancel(dispatch, storage.error());
    return group;
  }
  HostFault host;
  if (!guarded(host, [&] { begin_work_group(group->group, dispatch, index, *storage); })) {
    group->group.waves.clear();
    cancel(dispatch, {support::ErrorKind::memory_fault,
                      fmt::format("kernel '{}': its arguments at {:#x}, which it has preloaded, are not mapped",
                                  dispatch.kernel->name, dispatch.packet.kernarg_address)});
  }
  return group;
}

/// Runs a work-group until it ends or has to be set aside.
Scheduler::Outcome Scheduler::run(WorkGroup& group, Turn& turn) {
  Dispatch& dispatch = *turn.dispatch;
  for (;;) {
    bool all_wait = true, all_seem_to_wait = true;
    for (Wave& wave : group.waves) {
      if (wave.state != WaveState::ready) continue;
      if (dispatch.cancelled.load(std::memory_order_relaxed)) return Outcome::ended;
      const uint64_t before = wave.instructions;
      run_wave(wave);
      // A wave that comes back ready before its budget is used up has said that it waits.
      if (wave.state != WaveState::ready || wave.instructions - before >= wave_budget) {
        all_wait = false;
        const uint64_t now = fingerprint(wave);
        if (wave.state != WaveState::ready || now != wave.fingerprint) all_seem_to_wait = false;
        wave.fingerprint = now;
      }
      if (wave.state == WaveState::at_barrier) ++group.waves_at_barrier;
      if (wave.state == WaveState::ended) --group.waves_running;
      if (wave.state == WaveState::faulted || !look_around(wave, turn)) {
        fault(wave);
        return Outcome::ended;
      }
      if (group.waves_at_barrier != 0 && group.waves_at_barrier == group.waves_running) {
        group.waves_at_barrier = 0;
        for (Wave& other : group.waves) {
          if (other.state == WaveState::at_barrier) other.state = WaveState::ready;
        }
      }
    }
    if (group.waves_running == 0 || dispatch.cancelled.load(std::memory_order_relaxed)) return Outcome::ended;
    if (all_wait) return Outcome::waiting;
    if (all_seem_to_wait) return Outcome::seems_to_wait;
    if (turn.now >= turn.slice_end) return Outcome::slice_over;
  }
}

void Scheduler::run_wave(Wave& wave) {
  HostFault host;
  if (guarded(host, [&] { engine_.run(wave, wave_budget); })) return;
  wave.state = WaveState::faulted;
  wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::memory,
                                             .pc = wave.pc,
                                             .address = host.address,
                                             .address_known = host.address_known,
                                             .is_write = host.is_write});
}

/// Between two runs of a wave: what time is it, do others have to help, must the dispatch stop? If so, false, with
/// the reason as the wave's fault.
bool Scheduler::look_around(Wave& wave, Turn& turn) {
  Dispatch& dispatch = *turn.dispatch;
  turn.now = now_ns();
  if (turn.now >= turn.offer_at) {
    turn.offer_at = UINT64_MAX;
    if (dispatch.next_work_group.load(std::memory_order_relaxed) < dispatch.work_group_count) offer(turn.dispatch);
  }
  const bool late = turn.now >= dispatch.deadline_ns;
  const bool interrupted = interrupts_.load(std::memory_order_relaxed) != dispatch.interrupts_seen;
  if (!late && !interrupted) return true;
  // The very last wave may have ended just now; then there is nothing to stop.
  if (wave.work_group->waves_running == 0 && dispatch.next_work_group.load() >= dispatch.work_group_count) return true;
  wave.fault = std::make_unique<Fault>(
      Fault{.kind = interrupted ? Fault::Kind::interrupted : Fault::Kind::timeout, .pc = wave.pc});
  return false;
}

void Scheduler::fault(Wave& wave) {
  Dispatch& dispatch = *wave.work_group->dispatch;
  FaultReport report = report_fault(wave);
  support::Error error{report.error_kind(), report.to_string()};
  cancel(dispatch, std::move(error), std::move(report));
}

void Scheduler::cancel(Dispatch& dispatch, support::Error error, std::optional<FaultReport> fault) {
  {
    const std::lock_guard lock(dispatch.mutex);
    if (!dispatch.error) {
      dispatch.error = std::move(error);
      dispatch.fault = std::move(fault);
    }
  }
  if (dispatch.cancelled.exchange(true)) return;
  // Nobody begins those that have not begun, so they are ended here.
  const uint64_t begun =
      std::min(dispatch.next_work_group.exchange(dispatch.work_group_count), dispatch.work_group_count);
  const uint64_t unbegun = dispatch.work_group_count - begun;
  if (unbegun != 0 && dispatch.work_groups_left.fetch_sub(unbegun) == unbegun) complete(dispatch);
}

void Scheduler::set_aside(Dispatch& dispatch, std::unique_ptr<ResidentGroup> group, Outcome why) {
  {
    const std::lock_guard lock(dispatch.mutex);
    dispatch.set_aside.push_back(std::move(group));
    dispatch.set_aside_count.store(dispatch.set_aside.size(), std::memory_order_relaxed);
    if (why == Outcome::waiting || (why == Outcome::seems_to_wait && dispatch.set_aside.size() < trusted_waiters)) {
      ++dispatch.begin_credit;
    }
  }
  if (!dispatch.offered.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (idle_ != 0) work_wanted_.notify_one();
}

void Scheduler::count_ended(Dispatch& dispatch, Turn& turn) {
  if (turn.ended == 0) return;
  dispatch.waves.fetch_add(turn.waves, std::memory_order_relaxed);
  dispatch.wave_instructions.fetch_add(turn.instructions, std::memory_order_relaxed);
  if (dispatch.work_groups_left.fetch_sub(turn.ended, std::memory_order_acq_rel) == turn.ended) complete(dispatch);
}

void Scheduler::complete(Dispatch& dispatch) {
  dispatch.end_ns = now_ns();
  {
    KernelStatistics& statistics = dispatch.kernel->statistics;
    const std::lock_guard lock(dispatch.kernel->mutex);
    ++statistics.calls;
    statistics.work_groups += dispatch.work_group_count;
    statistics.waves += dispatch.waves.load(std::memory_order_relaxed);
    statistics.wave_instructions += dispatch.wave_instructions.load(std::memory_order_relaxed);
    statistics.seconds += static_cast<double>(dispatch.end_ns - dispatch.start_ns) * 1e-9;
  }
  if (dispatch.offered.load()) {
    const std::lock_guard lock(mutex_);
    std::erase_if(offered_, [&](const std::shared_ptr<Dispatch>& other) { return other.get() == &dispatch; });
  }
  if (dispatch.on_done) dispatch.on_done(dispatch);
  dispatch.done.store(true, std::memory_order_release);
  dispatch_done_.notify();
}

std::unique_ptr<ResidentGroup> Scheduler::take_storage() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_groups_.empty()) {
      std::unique_ptr<ResidentGroup> group = std::move(free_groups_.back());
      free_groups_.pop_back();
      return group;
    }
  }
  return std::make_unique<ResidentGroup>(memory_);
}

void Scheduler::give_back(std::unique_ptr<ResidentGroup> group) {
  const std::lock_guard lock(mutex_);
  // Enough for every thread; what a crowd of waiting work-groups needed beyond that is freed.
  if (free_groups_.size() < 2 * size_t{threads_} + 4) free_groups_.push_back(std::move(group));
}

}  // namespace Atoll::machine

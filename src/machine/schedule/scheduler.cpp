// machine: which work-group a thread runs next, and how long. See scheduler.h; wave/wave_rounds.cpp runs
// its waves.
#include "machine/schedule/scheduler.h"

#include <sched.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "machine/gpu.h"
#include "machine/host.h"
#include "machine/observer.h"
#include "machine/report/core_dump.h"
#include "machine/report/fault_report.h"
#include "machine/report/process_record.h"
#include "machine/report/statistics.h"
#include "machine/schedule/time_slice.h"

namespace Atoll::machine {

namespace {

/// How long a work-group keeps a thread while others wait.
constexpr uint64_t slice_ns = 1'000'000;
/// How much work a thread takes at once. Neighbouring work-groups mostly use neighbouring memory, and what a thread's
/// code and its processor fetch ahead for the next one would be fetched away from another thread that runs it: so a
/// batch is long against what lies ahead, up to a whole slice, and the last ones are only so short that the threads end
/// at about the same time. Work-groups of a kernel that wait for those before them are taken few at a time, as they
/// would wait long.
constexpr uint64_t largest_batch_ns = slice_ns, smallest_batch_ns = 2'000, waiting_batch_ns = 4'000;
/// How long a thread without work looks for some before it sleeps: to wake it takes as long.
constexpr uint64_t spin_for_work_ns = 50'000;
/// How many threads one that goes on working wakes, which takes it some microseconds each.
constexpr size_t woken_at_once = 2;
/// How long the launching thread spins for the others' last work-groups before it sleeps.
constexpr uint64_t spin_for_done_ns = 20'000;

/// Work-groups that only seem to wait let a new one begin each, up to so many; see Scheduler::preempt.
constexpr size_t trusted_waiters = 64;

/// How long a thread goes round work-groups that all wait before it sleeps in between, and how long then: what they
/// wait for may need its processor.
constexpr uint64_t wait_awake_ns = 200'000, nap_ns = 50'000;

}  // namespace

Host::Host(unsigned threads, unsigned gpus, const Schedule& schedule)
    : memory(gpus), scheduler(threads != 0 ? threads : std::thread::hardware_concurrency(), schedule) {}

Scheduler::Scheduler(unsigned threads, const Schedule& schedule)
    : threads_(schedule.is_deterministic() ? 1 : std::max(1u, threads)), schedule_(schedule) {
  free_groups_.reserve(max_free_groups());
  claimed_.reserve(threads_);
  idle_.reserve(threads_);
  workers_.reserve(threads_);  // a worker that is not among them when an exception comes would be waited for
  try {
    for (unsigned i = 1; i < threads_; ++i) {
      workers_.push_back(std::make_unique<Worker>("atoll-cu", [this](Worker& self) { work(self); }));
    }
  } catch (const std::exception&) {  // no memory, or no thread: those that there are have to end first
    stop_workers();
    throw;
  }
}

Scheduler::~Scheduler() { stop_workers(); }

void Scheduler::stop_workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_news_.fetch_add(1, std::memory_order_relaxed);
    wake_workers(idle_.size());
  }
  workers_.clear();
}

bool Scheduler::work_on(const std::shared_ptr<Dispatch>& dispatch, const std::function<bool()>& more_to_begin) {
  if (schedule_.is_deterministic()) return work_by_schedule(dispatch);
  Dispatch& d = *dispatch;
  const uint64_t start = now_ns();
  TimeSlice slice{.dispatch = dispatch,
                  .more_to_begin = more_to_begin,
                  .start = start,
                  .end = start + slice_ns,
                  .offer_at = start + offer_after_ns,
                  .now = start,
                  .group_ns = d.kernel->wave_ns.load(std::memory_order_relaxed) * waves_needed(d.launch)};
  bool any = false;
  try {
    work_until_slice_ends(slice, any);
  } catch (const std::bad_alloc&) {
    run_out_of_memory(slice);
    release_claimed(slice);
  }
  if (!slice.saw_waiting && d.progress.suspects_blocked.load(std::memory_order_relaxed))
    d.progress.suspects_blocked.store(false, std::memory_order_relaxed);
  if (slice.resident) give_back(std::move(slice.resident));
  count_ended(d, slice);
  return any;
}

/// An exception (out of memory) leaves the slice unchanged.
void Scheduler::work_until_slice_ends(TimeSlice& slice, bool& any) {
  Dispatch& d = *slice.dispatch;
  if (takes_long(d)) offer(slice.dispatch);
  size_t waiting_in_a_row = 0;
  uint64_t progressed_at = slice.start;
  while (slice.now < slice.end && next_group(slice)) {
    any = true;
    const Outcome outcome = run(slice);
    if (outcome == Outcome::ended) {
      waiting_in_a_row = 0;
      progressed_at = slice.now;
      continue;
    }
    release_claimed(slice);
    if (outcome == Outcome::slice_over || slice.has_progressed) progressed_at = slice.now;
    waiting_in_a_row = outcome == Outcome::slice_over ? 0 : waiting_in_a_row + 1;
    preempt(slice, outcome);
    slice.is_half_way = false;
    if (waiting_in_a_row > d.progress.preemption_count.load(std::memory_order_relaxed)) {
      // Everybody waits: perhaps for a host thread that has no processor.
      if (slice.now - progressed_at < wait_awake_ns) {
        sched_yield();
      } else {
        constexpr timespec nap{.tv_sec = 0, .tv_nsec = nap_ns};
        nanosleep(&nap, nullptr);
      }
      waiting_in_a_row = 0;
    }
  }
  release_claimed(slice);
}

void Scheduler::finish(const std::shared_ptr<Dispatch>& dispatch) {
  Dispatch& d = *dispatch;
  const auto done = [&] { return d.progress.done.load(std::memory_order_acquire); };
  while (!done()) {
    if (work_on(dispatch)) continue;
    dispatch_done_.wait_until(UINT64_MAX, spin_for_done_ns, [&] { return done() || d.has_work(); });
  }
}

void Scheduler::work(Worker& self) {
  while (std::shared_ptr<Dispatch> dispatch = next_offered(self)) {
    const Gpu* const gpu = dispatch->gpu;
    // yield_to_compiler() may block this worker; the launching thread keeps running the dispatch.
    try {
      dispatch->gpu->engine().yield_to_compiler(threads_, [&] { return !stopping_ && dispatch->has_work(); });
    } catch (const std::bad_alloc&) {  // then without
    }
    work_on(dispatch);
    dispatch.reset();  // with what it keeps of the GPU's
    const std::lock_guard lock(mutex_);
    claimed_.erase(std::ranges::find(claimed_, gpu));
    let_go_.notify_all();
  }
}

void Scheduler::forget(const Gpu& gpu) {
  std::unique_lock lock(mutex_);
  let_go_.wait(lock, [&] { return std::ranges::find(claimed_, &gpu) == claimed_.end(); });
}

/// Returns whether a dispatch that has not begun is likely long enough for other threads to help, judged by the
/// kernel's last run.
bool Scheduler::takes_long(const Dispatch& dispatch) const {
  if (workers_.empty() || dispatch.launch.work_group_count == 1 ||
      dispatch.progress.offered.load(std::memory_order_relaxed)) {
    return false;
  }
  const uint64_t wave_ns = dispatch.kernel->wave_ns.load(std::memory_order_relaxed);
  const uint64_t waves = dispatch.launch.work_group_count * waves_needed(dispatch.launch);
  return wave_ns != 0 && waves > offer_after_ns / wave_ns;
}

void Scheduler::offer(const std::shared_ptr<Dispatch>& dispatch) {
  if (workers_.empty() || dispatch->progress.offered.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (dispatch->progress.offered.exchange(true)) return;
  offered_.push_back(dispatch);
  work_news_.fetch_add(1, std::memory_order_relaxed);
  wake_workers(woken_at_once);
}

/// With the mutex held, by a thread that goes on working.
void Scheduler::wake_workers(size_t most) {
  if (idle_.empty()) return;
  const int here = sched_getcpu();
  for (size_t i = 0; i < most && !idle_.empty(); ++i) {
    idle_.back()->wake(here);
    idle_.pop_back();
  }
}

/// The next offered dispatch that has a work-group to run, round robin; null when the scheduler stops.
std::shared_ptr<Dispatch> Scheduler::next_offered(Worker& self) {
  std::unique_lock lock(mutex_);
  for (bool spun = false;;) {
    if (stopping_) return nullptr;
    for (size_t i = 0; i < offered_.size(); ++i) {
      const size_t index = (next_offered_index_ + i) % offered_.size();
      const std::shared_ptr<Dispatch>& candidate = offered_[index];
      if (!candidate->has_work()) continue;
      next_offered_index_ = index + 1;
      claimed_.push_back(candidate->gpu);
      wake_workers(woken_at_once);
      return candidate;
    }
    if (!std::exchange(spun, true)) {
      const uint64_t seen = work_news_.load(std::memory_order_relaxed);
      lock.unlock();
      const uint64_t end = now_ns() + spin_for_work_ns;
      while (work_news_.load(std::memory_order_relaxed) == seen && now_ns() < end) {
        for (unsigned i = 0; i < 16; ++i) __builtin_ia32_pause();
      }
      lock.lock();
      continue;
    }
    idle_.push_back(&self);
    self.sleep(lock);
    std::erase(idle_, &self);  // if it woke for no reason
  }
}

/// Takes the next preempted work-group, round robin, if there is one.
std::unique_ptr<ResidentGroup> Scheduler::resume(Dispatch& dispatch) {
  if (dispatch.progress.preempted.empty()) return nullptr;
  auto next = dispatch.progress.preempted.upper_bound(dispatch.progress.last_resumed);
  if (next == dispatch.progress.preempted.end()) next = dispatch.progress.preempted.begin();
  dispatch.progress.last_resumed = next->first;
  std::unique_ptr<ResidentGroup> group = std::move(next->second);
  dispatch.progress.preempted.erase(next);
  dispatch.progress.preemption_count.store(dispatch.progress.preempted.size(), std::memory_order_relaxed);
  return group;
}

/// Assigns a work-group to the slice: a preempted or a new one. Returns false if neither is available.
bool Scheduler::next_group(TimeSlice& slice) {
  Dispatch& dispatch = *slice.dispatch;
  if (dispatch.progress.preemption_count.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard lock(dispatch.progress.mutex);
    if (slice.resident != nullptr) {  // the one before has ended: perhaps what the first ones wait for
      dispatch.progress.last_resumed = UINT64_MAX;
      dispatch.progress.fruitless_rounds = 0;
    }
    const bool may_begin = dispatch.progress.launch_credit != 0 &&
                           dispatch.progress.preempted.size() < dispatch.launch.max_resident && dispatch.has_unbegun();
    if (!may_begin) {
      if (auto group = resume(dispatch)) {
        if (slice.resident) give_back(std::move(slice.resident));
        slice.resident = std::move(group);
        slice.is_resumed = slice.is_half_way = true;
        slice.has_progressed = false;
        slice.begin_round();
        return true;
      }
    } else {
      --dispatch.progress.launch_credit;
    }
  }
  if (!take(slice)) return false;
  if (slice.resident == nullptr) {
    slice.resident = take_storage();
    if (auto prepared = slice.resident->prepare(dispatch, dispatch.gpu->engine()); !prepared) {
      give_back(std::move(slice.resident));
      cancel(dispatch, prepared.error());
      return false;
    }
  }
  slice.begin_taken();
  return true;
}

/// How many work-groups the slice is to take, of so many that no thread has taken.
uint64_t Scheduler::batch_size(TimeSlice& slice, uint64_t untaken) const {
  const Dispatch& dispatch = *slice.dispatch;
  const uint64_t share = untaken / (uint64_t{2} * threads_);
  // Where some wait, new ones begin one by one.
  if (share <= 1 || dispatch.progress.preemption_count.load(std::memory_order_relaxed) != 0) return 1;
  const uint64_t batch_ns =
      dispatch.kernel->waits.load(std::memory_order_relaxed) ? waiting_batch_ns : largest_batch_ns;
  if (slice.group_ns != 0) {
    const uint64_t largest = std::max<uint64_t>(1, batch_ns / slice.group_ns);
    return std::clamp(share, std::min(largest, smallest_batch_ns / slice.group_ns), largest);
  }
  const uint64_t now = now_ns();
  const uint64_t ran_ns = std::max<uint64_t>(1, now - std::exchange(slice.batch_begun_ns, now));
  const uint64_t largest = std::min(slice.batch * 2, slice.batch * batch_ns / ran_ns);
  return std::clamp<uint64_t>(largest, 1, share);
}

/// Claims the next work-groups of the dispatch unless the slice still has some; false if there are none.
bool Scheduler::take(TimeSlice& slice) {
  if (slice.taken != slice.taken_end) return true;
  Dispatch& dispatch = *slice.dispatch;
  const uint64_t next =
      std::min(dispatch.progress.next_work_group.load(std::memory_order_relaxed), dispatch.launch.work_group_count);
  if (dispatch.progress.given_back_count.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard lock(dispatch.progress.mutex);
    if (!dispatch.progress.given_back.empty()) {
      uint64_t untaken = dispatch.launch.work_group_count - next;
      for (const auto& [begin, end] : dispatch.progress.given_back) untaken += end - begin;
      slice.batch = batch_size(slice, untaken);
      const auto first = std::ranges::min_element(dispatch.progress.given_back);
      slice.taken = first->first;
      slice.taken_end = std::min(first->first + slice.batch, first->second);
      if (slice.taken_end != first->second) {
        first->first = slice.taken_end;
      } else {
        dispatch.progress.given_back.erase(first);
      }
      dispatch.progress.given_back_count.store(dispatch.progress.given_back.size(), std::memory_order_relaxed);
      return true;
    }
  }
  if (next == dispatch.launch.work_group_count) return false;
  slice.batch = batch_size(slice, dispatch.launch.work_group_count - next);
  slice.taken = dispatch.progress.next_work_group.fetch_add(slice.batch, std::memory_order_relaxed);
  slice.taken_end = std::min(slice.taken + slice.batch, dispatch.launch.work_group_count);
  if (slice.taken < slice.taken_end) return true;
  slice.taken = slice.taken_end;
  return false;
}

/// Lets others have what the slice has taken and not begun.
void Scheduler::release_claimed(TimeSlice& slice) {
  if (slice.taken == slice.taken_end) return;
  Dispatch& dispatch = *slice.dispatch;
  const std::lock_guard lock(dispatch.progress.mutex);
  if (dispatch.progress.error) {  // cancelled: no thread begins them
    slice.ended += slice.taken_end - slice.taken;
  } else {
    dispatch.progress.given_back.emplace_back(slice.taken, slice.taken_end);
    dispatch.progress.given_back_count.store(dispatch.progress.given_back.size(), std::memory_order_relaxed);
  }
  slice.taken = slice.taken_end;
}

void Scheduler::cancel(Dispatch& dispatch, support::Error error, std::optional<FaultReport> fault) {
  {
    const std::lock_guard lock(dispatch.progress.mutex);
    if (!dispatch.progress.error) {
      dispatch.progress.error = std::move(error);
      dispatch.progress.fault = std::move(fault);
    }
  }
  if (dispatch.progress.cancelled.exchange(true)) return;
  // Work-groups that have not begun never will, so they are ended here.
  const uint64_t taken = std::min(dispatch.progress.next_work_group.exchange(dispatch.launch.work_group_count),
                                  dispatch.launch.work_group_count);
  uint64_t unbegun = dispatch.launch.work_group_count - taken;
  {
    const std::lock_guard lock(dispatch.progress.mutex);
    for (const auto& [begin, end] : dispatch.progress.given_back) unbegun += end - begin;
    dispatch.progress.given_back.clear();
    dispatch.progress.given_back_count.store(0, std::memory_order_relaxed);
  }
  if (unbegun != 0 && dispatch.progress.work_groups_left.fetch_sub(unbegun) == unbegun) complete(dispatch);
}

/// Sets the slice's work-group aside, and sees whether new ones may begin.
void Scheduler::preempt(TimeSlice& slice, Outcome why) {
  Dispatch& dispatch = *slice.dispatch;
  {
    const std::lock_guard lock(dispatch.progress.mutex);
    const uint64_t index = slice.resident->index;
    dispatch.progress.preempted.emplace(index, std::move(slice.resident));
    const size_t waiting = dispatch.progress.preempted.size();
    dispatch.progress.preemption_count.store(waiting, std::memory_order_relaxed);
    if (why == Outcome::waiting) ++dispatch.progress.launch_credit;
    if (slice.has_progressed) dispatch.progress.fruitless_rounds = 0;
    // A full round in which none has ended: those that wait may do so for one that has not begun.
    if (slice.is_resumed && ++dispatch.progress.fruitless_rounds >= waiting) {
      const bool all_wait = why != Outcome::slice_over && waiting < trusted_waiters;
      dispatch.progress.launch_credit = std::max<uint64_t>(dispatch.progress.launch_credit, all_wait ? waiting : 1);
      dispatch.progress.fruitless_rounds = 0;
    }
    if (why != Outcome::slice_over) dispatch.kernel->waits.store(true, std::memory_order_relaxed);
  }
  if (!dispatch.progress.offered.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  work_news_.fetch_add(1, std::memory_order_relaxed);
  wake_workers(1);
}

void Scheduler::count_ended(Dispatch& dispatch, TimeSlice& slice) {
  if (slice.ended == 0) return;
  dispatch.progress.waves.fetch_add(slice.waves, std::memory_order_relaxed);
  dispatch.progress.wave_instructions.fetch_add(slice.instructions.all, std::memory_order_relaxed);
  dispatch.progress.interpreted_instructions.fetch_add(slice.instructions.interpreted, std::memory_order_relaxed);
  if (dispatch.progress.work_groups_left.fetch_sub(slice.ended, std::memory_order_acq_rel) == slice.ended)
    complete(dispatch);
}

void Scheduler::complete(Dispatch& dispatch) {
  dispatch.progress.end_ns = now_ns();
  {
    KernelStatistics one;  // without the kernel's name: this may not run out of memory
    one.calls = 1;
    one.work_groups = dispatch.launch.work_group_count;
    one.waves = dispatch.progress.waves.load(std::memory_order_relaxed);
    one.wave_instructions = dispatch.progress.wave_instructions.load(std::memory_order_relaxed);
    one.interpreted_instructions = dispatch.progress.interpreted_instructions.load(std::memory_order_relaxed);
    one.seconds = static_cast<double>(dispatch.progress.end_ns - dispatch.progress.start_ns) * 1e-9;
    if (ProcessRecord* const record = ProcessRecord::current())
      record->add_dispatch(*dispatch.gpu, dispatch.kernel->name, one);
    const std::lock_guard lock(dispatch.kernel->mutex);
    add_to(dispatch.kernel->statistics, one);
  }
  if (const uint64_t waves = dispatch.progress.waves.load(std::memory_order_relaxed); waves != 0) {
    const uint64_t threads = dispatch.progress.offered.load(std::memory_order_relaxed) ? threads_ : 1;
    dispatch.kernel->wave_ns.store(
        std::max<uint64_t>(1, (dispatch.progress.end_ns - dispatch.progress.start_ns) * threads / waves),
        std::memory_order_relaxed);
  }
  if (dispatch.progress.offered.load()) {
    const std::lock_guard lock(mutex_);
    std::erase_if(offered_, [&](const std::shared_ptr<Dispatch>& other) { return other.get() == &dispatch; });
  }
  if (dispatch.observer != nullptr) dispatch.observer->dispatch_ends(dispatch);
  if (dispatch.progress.dump_core && dispatch.progress.fault) dispatch.progress.dump_core(dispatch);
  if (dispatch.progress.on_done) dispatch.progress.on_done(dispatch);
  dispatch.progress.done.store(true, std::memory_order_release);
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
  if (free_groups_.size() < max_free_groups()) free_groups_.push_back(std::move(group));
}

}  // namespace Atoll::machine

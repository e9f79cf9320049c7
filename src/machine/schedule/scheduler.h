// machine: assigns work-groups to host threads, for all GPUs of the process (host.h).
//
// The launching thread runs the dispatch: the thread of its queue takes work-group after work-group and runs each
// to its end, without a lock. Small dispatches never leave that thread. A dispatch that takes longer, or did so
// last time, is offered to the scheduler's other threads (work sharing). All offered dispatches get time slices in
// turn, whichever GPU they run on. Sleeping threads are woken as a tree: the offering thread wakes two, and each
// thread that finds work wakes two more before it begins.
//
// The overhead per wave is small, because many waves have few instructions. State that all waves of a dispatch
// share is computed once (initial_state.h). Short work-groups are taken in batches of neighbours, which mostly use
// neighbouring memory. A wave begins when it first runs, and reuses the registers of a wave that has just ended.
// The engine may begin the following waves itself as long as they end (WaveBatch). The clock, requests of other
// threads and the guard against host faults are handled once for many waves.
//
// A work-group has one thread at a time. Its waves take turns: each runs until it ends, arrives at a barrier or
// has used up a budget of instructions. Work-groups may wait for each other, for other dispatches or for the host,
// so none may keep a thread forever. A work-group is preempted after a time slice, or when all its waves report
// that they wait (s_sleep) or seem to wait. Preempted work-groups run before new ones, so that slow work-groups do
// not pile up. They may wait for a work-group that has not begun, so new ones do begin: one for each work-group
// that reports that it waits; one with every full round in which none has ended; and as many as wait when none
// made progress, until as many have begun as fit on the GPU. Work-groups thus make progress as far as the hardware
// guarantees it.
//
// Mostly a work-group waits for earlier ones (rows of a triangular system, prefix sums). So when one has ended,
// the first preempted one is next. A wave that seems to wait only polls when its turn comes. Other waves of a
// dispatch with such waves get small budgets first.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "machine/engine.h"
#include "machine/memory/memory.h"
#include "machine/queue/event_count.h"
#include "machine/schedule/schedule.h"
#include "machine/schedule/worker.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/resident_group.h"

namespace Atoll::machine {

struct ScheduledDispatch;

class Scheduler {
 public:
  /// `threads`: host threads that run work-groups of one dispatch at once, the launching one among them.
  /// By a deterministic schedule there is one, and the engines have to be stepping ones (engine/engines.h).
  explicit Scheduler(unsigned threads, const Schedule& schedule = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Runs work-groups of a dispatch on the calling thread for about a time slice, or until no work-group can
  /// begin or continue (other threads may still run some). Returns false if no work-group could run.
  /// `more_to_begin` returns whether the caller has another dispatch to begin: then this one is left to the
  /// other threads unless it ends at once.
  bool work_on(const std::shared_ptr<Dispatch>& dispatch, const std::function<bool()>& more_to_begin = {});

  /// Runs a dispatch to its end.
  void finish(const std::shared_ptr<Dispatch>& dispatch);

  /// Ends a dispatch before its time. Its resident work-groups stop when their threads next look.
  void cancel(Dispatch& dispatch, support::Error error, std::optional<FaultReport> fault = std::nullopt);

  /// Waits until none of the scheduler's own threads has a dispatch of the GPU in hand, all of which have ended.
  void forget(const Gpu& gpu);

 private:
  struct TimeSlice;
  struct SliceSeries;
  enum class Outcome : uint8_t { ended, slice_over, waiting, seems_to_wait };
  enum class Stop : uint8_t { ended, round_over, poll, cancelled, fault };  ///< why run_waves() came back

  void work(Worker& self);  ///< the life of one of the scheduler's own threads
  void offer(const std::shared_ptr<Dispatch>& dispatch);
  void wake_workers(size_t most);
  std::shared_ptr<Dispatch> next_offered(Worker& self);
  bool takes_long(const Dispatch& dispatch) const;
  bool work_by_schedule(const std::shared_ptr<Dispatch>& dispatch);
  bool begin_scheduled(const std::shared_ptr<Dispatch>& begun, ScheduledDispatch& scheduled);
  bool next_group(TimeSlice& slice);
  std::unique_ptr<ResidentGroup> resume(Dispatch& dispatch);
  uint64_t batch_size(TimeSlice& slice, uint64_t untaken) const;
  bool take(TimeSlice& slice);
  void release_claimed(TimeSlice& slice);
  void work_until_slice_ends(TimeSlice& slice, bool& any);
  Outcome run(TimeSlice& slice);
  Outcome run_until_preempted(TimeSlice& slice);
  Stop run_waves(TimeSlice& slice);
  static uint64_t budget_of(const TimeSlice& slice, const Wave& wave);
  WaveState run_batch(TimeSlice& slice, uint64_t budget);
  bool poll(TimeSlice& slice);
  void abandon(TimeSlice& slice);
  void run_out_of_memory(TimeSlice& slice);
  void stop_workers();
  void fault(Wave& wave);
  void preempt(TimeSlice& slice, Outcome why);
  void count_ended(Dispatch& dispatch, TimeSlice& slice);
  void complete(Dispatch& dispatch);
  std::unique_ptr<ResidentGroup> take_storage();
  void give_back(std::unique_ptr<ResidentGroup> group);
  size_t max_free_groups() const { return 2 * size_t{threads_} + 4; }

  const unsigned threads_;
  Schedule schedule_;
  Memory memory_;  ///< of the waves' state: no guest allocation, so it is not the GPU's

  std::mutex mutex_;  ///< of what follows
  std::vector<std::shared_ptr<Dispatch>> offered_;
  size_t next_offered_index_ = 0;       ///< in `offered_`
  std::vector<Worker*> idle_;           ///< own threads that sleep until there is work
  std::vector<const Gpu*> claimed_;     ///< the GPUs of the dispatches that own threads have in hand, each as often
  std::condition_variable let_go_;      ///< `claimed_` has fewer
  std::atomic<uint64_t> work_news_{0};  ///< changes when there may be; changed under the mutex
  std::atomic<bool> stopping_ = false;  ///< changed under the mutex
  std::vector<std::unique_ptr<ResidentGroup>> free_groups_;

  std::mutex schedule_mutex_;  ///< of what follows
  std::map<const Dispatch*, std::shared_ptr<ScheduledDispatch>> scheduled_;
  uint64_t dispatches_begun_ = 0;
  const std::function<bool()> nothing_to_begin_{};

  EventCount dispatch_done_;
  std::vector<std::unique_ptr<Worker>> workers_;  // last: they use the rest
};

}  // namespace Atoll::machine

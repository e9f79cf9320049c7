// machine: a time slice, which is what one of the scheduler's threads runs of one dispatch before it looks for other
// work (scheduler.h).
//
// It has the work-groups that the thread has taken from the dispatch, and the one of them that runs. scheduler.cpp says
// which these are. Their waves are opaque here: wave/wave_rounds.cpp runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "machine/schedule/scheduler.h"

namespace Atoll::machine {

/// Instructions that a wave runs before the next does, where it is not known yet how long they take.
constexpr uint64_t least_budget = 1024;
/// How long a dispatch runs before other threads are woken for it, which costs as much as it can save by then. One that
/// is known to take longer is offered to them as it begins.
constexpr uint64_t offer_after_ns = 25'000;

/// One thread's share of a dispatch, and its progress.
struct Scheduler::TimeSlice {
  const std::shared_ptr<Dispatch>& dispatch;
  const std::function<bool()>& more_to_begin;
  uint64_t start, end, offer_at, now;

  uint64_t taken = 0, taken_end = 0;           ///< work-groups taken from the dispatch and not begun yet
  uint64_t group_ns = 0;                       ///< estimated time of a work-group; 0: unknown
  uint64_t batch = 0, batch_begun_ns = 0;      ///< how many were taken last, and when, where that is unknown
  uint64_t clock = 0, poll_at = least_budget;  ///< instructions run, with what waves count; and when to poll
  uint64_t budget = least_budget;              ///< of a wave

  std::unique_ptr<ResidentGroup> resident{};      ///< prepared for the dispatch: the work-group that runs, or will
  bool is_resumed = false;                        ///< it had been preempted
  bool has_progressed = false;                    ///< since it began or was resumed
  bool saw_waiting = false;                       ///< a wave that seems to wait
  bool is_half_way = false;                       ///< it has begun, and neither ended nor been preempted
  size_t next_wave = 0;                           ///< of the round
  Wave* wave = nullptr;                           ///< that ran last
  bool all_wait = true, all_seem_to_wait = true;  ///< the waves that ran in this round

  // A deterministic schedule (schedule.h) sets the order of the waves in a round and the instructions of each. All of
  // them have begun. Null: in the order of their numbers, by `budget`.
  const size_t* order = nullptr;
  const uint64_t* budgets = nullptr;

  // Counts of work-groups that ended and are not yet counted in the dispatch.
  uint64_t ended = 0, waves = 0;
  InstructionCount instructions{};

  /// Begins with the work-group's first wave again.
  void begin_round();
  /// Begins the next work-group that was taken. Throws std::bad_alloc.
  void begin_taken();
  /// Begins all waves of the work-group that have not begun.
  void begin_all_waves();
  /// Returns the number of waves of the work-group.
  size_t wave_count() const;
  /// Counts the work-group, which has ended.
  void count_group();
};

}  // namespace Atoll::machine

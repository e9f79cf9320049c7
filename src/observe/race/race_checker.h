// observe: the race checker reports conflicting accesses by different waves, at least one of them a write, that are not
// ordered by happens-before.
//
// It tracks happens-before by vector clocks (vector_clock.h), following the user guide's memory model:
// - A wave executes its instructions in order. Lanes of a wave are compared only within one instruction that stores
//   different values of several lanes to the same place (lane_races.h).
// - A barrier orders the work-group's accesses before it and after it.
// - An atomic write releases what the wave has completed (waited for by its counters). An atomic read, or a load with
//   the cache policy of atomic loads, acquires that. If the writer is in another work-group, the acquire takes effect
//   when the wave invalidates its caches, or at once if it has just done so. On most GPUs atomic stores look like
//   ordinary stores; one that such a load reads counts as atomic.
// - Dispatches and copies by the runtime are ordered by queues, signals and the host (run_order.h). Stores that write
//   the value already in memory are not reported.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

/// The checker's name in findings.
inline constexpr const char* race_checker = "race";

std::unique_ptr<Checker> make_race_checker(Findings& findings);

}  // namespace Atoll::observe

// observe: the race checker: two accesses to the same memory by different waves, one of them a write, that nothing
// orders.
//
// What orders accesses is followed by vector clocks (vector_clock.h), as the user guide's memory model has it:
// - A wave executes its instructions in order. Lanes of a wave are not compared with each other, but for one
//   instruction that stores different values of several lanes to the same place (lane_races.h).
// - A barrier orders what the waves of the work-group did before it and do after it.
// - A write by an atomic releases what the wave has completed (waited for by its counters) before. A read by an atomic,
//   or a load with a cache policy as atomic loads have it, acquires that, once the wave has invalidated its caches if
//   the other is of another work-group, or at once if it has done so right before. On most GPUs an atomic store is a
//   store like others: one that such a load reads counts as one.
// - Dispatches, and copies by the runtime, are ordered as queues, signals and the host order them (run_order.h).
// A store of the value that memory holds already is not told.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

/// What findings have for a checker.
inline constexpr const char* race_checker = "race";

std::unique_ptr<Checker> make_race_checker(Findings& findings);

}  // namespace Atoll::observe

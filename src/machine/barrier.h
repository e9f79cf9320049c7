// machine: a work-group's barrier, by which its waves wait for each other (user guide, "Execution Barriers").
//
// A wave arrives, and waits: until GFX11 both at once (s_barrier), from GFX12 on one by one (s_barrier_signal,
// s_barrier_wait), so that it may do something in between. When all waves that have not ended have arrived, the barrier
// is complete, its next phase begins, and those that wait for the phase in which they arrived go on.
#pragma once

#include "machine/wave.h"

namespace Atoll::machine {

/// Numbers of barriers (RDNA4 ISA guide, "Barriers"): 0 is none, those above 0 have names, which GFX12 does not have.
constexpr int32_t work_group_barrier = -1, trap_barrier = -2, no_barrier = 0;

/// Begins the barrier's next phase if all waves have arrived. True: it has.
inline bool complete_barrier(WorkGroup& group) {
  if (group.barrier.arrived == 0 || group.barrier.arrived != group.waves_running) return false;
  group.barrier.arrived = 0;
  ++group.barrier.phase;
  return true;
}

/// The wave arrives. True: it is the first to do so in this phase.
inline bool arrive_at_barrier(Wave& wave) {
  WorkGroup& group = *wave.work_group;
  const bool is_first = ++group.barrier.arrived == 1;
  complete_barrier(group);
  return is_first;
}

/// Whether the phase is over for which the wave would have to wait. If so, its next wait is for the one that runs.
inline bool passes_barrier(Wave& wave) {
  const uint32_t phase = wave.work_group->barrier.phase;
  if (phase == wave.barrier_phase) return false;
  wave.barrier_phase = phase;
  return true;
}

/// What it means for the barrier that the wave has stopped: one that is `at_barrier` arrives; one that
/// `waits_at_barrier` for a phase that is over is ready at once. The others that wait are released by
/// release_from_barrier().
inline void stop_at_barrier(Wave& wave) {
  if (wave.state == WaveState::at_barrier) {
    arrive_at_barrier(wave);
  } else if (wave.state == WaveState::waits_at_barrier && passes_barrier(wave)) {
    wave.state = WaveState::ready;
  }
}

/// Makes the waves ready that wait for a phase that is over.
inline void release_from_barrier(WorkGroup& group) {
  for (uint32_t i = 0; i < group.waves_begun; ++i) {
    Wave& wave = group.waves[i];
    const bool waits = wave.state == WaveState::at_barrier || wave.state == WaveState::waits_at_barrier;
    if (waits && passes_barrier(wave)) wave.state = WaveState::ready;
  }
}

}  // namespace Atoll::machine

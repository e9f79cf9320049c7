// machine: a work-group's barrier, by which its waves wait for each other (user guide, "Execution Barriers").
//
// A wave arrives, and waits: until GFX11 both at once (s_barrier), from GFX12 on one by one (s_barrier_signal,
// s_barrier_wait), so that it may do something in between. When all waves that have not ended have arrived, the barrier
// is complete, its next phase begins, and those that wait for the phase in which they arrived go on.
#pragma once

#include "machine/wave/wave.h"

namespace Atoll::machine {

/// Numbers of barriers (user guide, "Execution Barriers"): 0 is none, those above it have names (GFX12.5), -3 and -4
/// are those of a cluster of work-groups.
constexpr int32_t work_group_barrier = -1, trap_barrier = -2, cluster_barrier = -3, no_barrier = 0;

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

/// Updates the barrier after a wave has stopped. A wave that is `at_barrier` arrives. A wave that
/// `waits_at_barrier` for a phase that is over is ready at once. release_from_barrier() releases the other
/// waiting waves.
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

// Barriers with names: each begins with as many waves as are to arrive, which need not be all of the work-group; a wave
// waits for the one that it has joined last.

/// Begins the next phase if as many have arrived as are expected.
inline void complete_barrier(WorkGroup::NamedBarrier& barrier) {
  if (barrier.arrived == 0 || barrier.arrived != barrier.expected) return;
  barrier.arrived = 0;
  ++barrier.phase;
}

inline void initialize_barrier(WorkGroup::NamedBarrier& barrier, uint32_t expected) {
  barrier.expected = expected;
  barrier.arrived = 0;
}

/// A wave arrives; from now on `expected` waves are to arrive, if that is not 0. True: it is the first in this phase.
inline bool arrive_at_barrier(WorkGroup::NamedBarrier& barrier, uint32_t expected) {
  if (expected != 0) barrier.expected = expected;
  const bool is_first = ++barrier.arrived == 1;
  complete_barrier(barrier);
  return is_first;
}

inline void join_barrier(Wave& wave, uint32_t number) {
  wave.named_barrier = static_cast<uint8_t>(number);
  wave.named_phase = wave.work_group->named_barriers[number].phase;
}

/// The wave leaves the barrier that it has joined: one less is to arrive.
inline void leave_barrier(Wave& wave) {
  if (wave.named_barrier == no_barrier) return;
  WorkGroup::NamedBarrier& barrier = wave.work_group->named_barriers[wave.named_barrier];
  if (barrier.expected != 0) --barrier.expected;
  complete_barrier(barrier);
  wave.named_barrier = no_barrier;
}

/// Whether the phase is over for which the wave would have to wait.
inline bool passes_named_barrier(Wave& wave) {
  if (wave.named_barrier == no_barrier) return true;
  const uint32_t phase = wave.work_group->named_barriers[wave.named_barrier].phase;
  if (phase == wave.named_phase) return false;
  wave.named_phase = phase;
  return true;
}

/// Whether the phase of the cluster's barrier is over for which the wave would have to wait.
inline bool passes_cluster_barrier(Wave& wave) {
  const uint32_t phase = wave.work_group->cluster->state().phase;
  if (phase == wave.cluster_phase) return false;
  wave.cluster_phase = phase;
  return true;
}

}  // namespace Atoll::machine

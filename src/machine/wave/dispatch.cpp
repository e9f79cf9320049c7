// machine: a kernel launch while it runs.
#include "machine/wave/dispatch.h"

#include <algorithm>
#include <utility>

#include "machine/memory/memory.h"
#include "machine/report/core_dump.h"
#include "machine/wave/resident_group.h"

namespace Atoll::machine {

DispatchProgress::DispatchProgress() = default;
DispatchProgress::~DispatchProgress() = default;

Dispatch::~Dispatch() {
  if (packet_memory != nullptr) packet_memory->release_slot(packet_slot);
}

void Dispatch::set_launch(LaunchState state) {
  launch = std::move(state);
  progress.work_groups_left = launch.work_group_count;
  if (!launch.clusters) return;
  cluster_barriers = std::make_unique<ClusterBarrier[]>(launch.clusters->all());
  for (uint64_t i = 0; i < launch.clusters->all(); ++i) cluster_barriers[i].begin(launch.clusters->work_groups());
}

bool must_stop(const Dispatch& dispatch, uint64_t now) {
  if (dispatch.progress.cancelled.load(std::memory_order_relaxed) || now >= dispatch.progress.deadline_ns) return true;
  return dispatch.progress.interrupts != nullptr &&
         dispatch.progress.interrupts->load(std::memory_order_relaxed) != dispatch.progress.interrupts_seen;
}

std::optional<uint64_t> instructions_ahead(const Dispatch& dispatch) {
  const uint64_t all = dispatch.launch.work_group_count;
  const uint64_t ended = all - std::min(all, dispatch.progress.work_groups_left.load(std::memory_order_acquire));
  const uint64_t untaken = all - std::min(all, dispatch.progress.next_work_group.load(std::memory_order_relaxed));
  if (ended == 0) return std::nullopt;
  const uint64_t of_each = dispatch.progress.wave_instructions.load(std::memory_order_relaxed) / ended;
  uint64_t ahead = 0;
  return __builtin_mul_overflow(of_each, untaken, &ahead) ? UINT64_MAX : ahead;
}

}  // namespace Atoll::machine

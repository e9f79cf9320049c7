// machine: what all GPUs of a process share: guest memory, since a guest address is the host's, and the host's threads
// that run work-groups. Several GPUs are therefore no more threads than one.
#pragma once

#include "machine/memory/memory.h"
#include "machine/schedule/scheduler.h"

namespace Atoll::machine {

struct Host {
  /// `threads`: that run work-groups, the one that launches among them; 0: as many as the host has processors. `gpus`:
  /// whose own memory is kept apart.
  explicit Host(unsigned threads, unsigned gpus = 1, const Schedule& schedule = {});

  Memory memory;
  Scheduler scheduler;
};

}  // namespace Atoll::machine

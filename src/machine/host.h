// machine: resources shared by all GPUs of a process: guest memory (guest addresses are host addresses) and the host
// threads that run work-groups.
#pragma once

#include "machine/memory/memory.h"
#include "machine/schedule/scheduler.h"

namespace Atoll::machine {

struct Host {
  /// `threads`: threads that run work-groups, including the launching one; 0: number of the host's processors. `gpus`:
  /// number of GPUs with separate memory.
  explicit Host(unsigned threads, unsigned gpus = 1, const Schedule& schedule = {});

  Memory memory;
  Scheduler scheduler;
};

}  // namespace Atoll::machine

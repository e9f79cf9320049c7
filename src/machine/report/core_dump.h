// machine: what a GPU leaves behind when a kernel has faulted: a core file (object/gpu_core.h), with the waves of the
// dispatch as they stopped, its queues and all its memory.
//
// Waves are copied when their work-groups are given up, each by the thread that ran it, because the memory of their
// registers is the next dispatch's soon after. The file is written when the last one has stopped. Waves of other
// dispatches run on and are not in it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "machine/loader.h"
#include "machine/queue/aql.h"
#include "machine/wave/dispatch.h"
#include "object/context_save.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

class Memory;

/// A work-group that was given up.
struct StoppedWorkGroup {
  std::vector<object::SavedWave> waves;  ///< those that had begun and not ended
  uint64_t scratch_address = 0;          ///< of all its waves
  std::vector<uint8_t> scratch;
};
StoppedWorkGroup save(const WorkGroup& group);

struct CoreContents {
  const target::GpuModel& model;
  const Memory& memory;
  std::span<const std::shared_ptr<LoadedCode>> codes;
  std::span<const aql::Queue* const> queues;  ///< the dispatch's among them
  const Dispatch& dispatch;                   ///< that faulted
};

/// Writes the file; %p in the path is the process. The result is where it is.
support::Result<std::string> write_core_file(const CoreContents& contents, const std::string& path);

}  // namespace Atoll::machine

// hsa: what the environment asks of the runtime. `atoll run` sets these variables.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hsa/compute_unit_mask.h"
#include "machine/gpu.h"
#include "observe/options.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::hsa {

struct GpuConfiguration {
  target::GpuModel model;
  unsigned number = 0;            ///< among all GPUs of the machine, those included that the program does not see
  uint64_t memory_bytes = 0;      ///< ATOLL_MEMORY, or else the product's
  ComputeUnitMask compute_units;  ///< HSA_CU_MASK; empty: all
};

struct Configuration {
  std::vector<GpuConfiguration> gpus;    ///< ATOLL_GPU, ATOLL_GPUS: those that ROCR_VISIBLE_DEVICES shows, in its order
  std::string statistics;                ///< ATOLL_STATS (machine/statistics.h); empty: none are told
  std::chrono::nanoseconds timeout{0};   ///< ATOLL_TIMEOUT, in seconds, of one kernel
  unsigned threads = 0;                  ///< ATOLL_THREADS
  std::string core_file;                 ///< ATOLL_CORE, where a fault leaves a core file; empty: nowhere
  std::string engine;                    ///< ATOLL_ENGINE, a name of engine/engines.h; empty: the default
  machine::Gpu::MakeEngine make_engine;  ///< that one, for GPUs that nobody watches
  observe::Options check;                ///< ATOLL_CHECK and its like
};

/// Reads the environment. Without ATOLL_GPU, a GPU is chosen that runs code embedded in the program.
support::Result<Configuration> read_configuration();

}  // namespace Atoll::hsa

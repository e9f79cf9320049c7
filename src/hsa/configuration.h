// hsa: what the environment asks of the runtime. `atoll run` sets these variables.
#pragma once

#include <chrono>
#include <string>

#include "hsa/compute_unit_mask.h"
#include "machine/gpu.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::hsa {

struct Configuration {
  target::GpuModel model;
  bool statistics = false;               ///< ATOLL_STATS=1: a table of kernels at the end
  std::chrono::nanoseconds timeout{0};   ///< ATOLL_TIMEOUT, in seconds, of one kernel
  unsigned threads = 0;                  ///< ATOLL_THREADS
  std::string core_file;                 ///< ATOLL_CORE, where a fault leaves a core file; empty: nowhere
  ComputeUnitMask compute_units;         ///< HSA_CU_MASK; empty: all
  machine::Gpu::MakeEngine make_engine;  ///< ATOLL_ENGINE, a name of engine/engines.h
};

/// Reads the environment. Without ATOLL_GPU, a GPU is chosen that runs code embedded in the program.
support::Result<Configuration> read_configuration();

}  // namespace Atoll::hsa

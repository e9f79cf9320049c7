// settings: reads and validates all settings at once. The runtime calls it in hsa_init; `atoll run` does before the
// program starts, so that a value that is wrong ends the run there.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "machine/gpu.h"
#include "machine/schedule/schedule.h"
#include "observe/report/options.h"
#include "settings/compute_unit_mask.h"
#include "settings/values.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::settings {

struct GpuConfiguration {
  target::GpuModel model;
  unsigned number = 0;            ///< among all GPUs of the machine, those included that the program does not see
  uint64_t memory_bytes = 0;      ///< ATOLL_MEMORY, or else the product's
  ComputeUnitMask compute_units;  ///< HSA_CU_MASK; empty: all
};

struct Configuration {
  std::vector<GpuConfiguration> gpus;    ///< ATOLL_GPU, ATOLL_GPUS: those that ROCR_VISIBLE_DEVICES shows, in its order
  std::string statistics;                ///< ATOLL_STATS (machine/report/statistics.h); empty: no output
  std::chrono::nanoseconds timeout{0};   ///< ATOLL_TIMEOUT, in seconds, of one kernel
  unsigned threads = 0;                  ///< ATOLL_THREADS
  machine::Schedule schedule;            ///< ATOLL_SCHEDULE
  std::string core_file;                 ///< ATOLL_CORE, where a fault leaves a core file; empty: nowhere
  std::string engine;                    ///< ATOLL_ENGINE, a name of engine/engines.h; empty: the default
  machine::Gpu::MakeEngine make_engine;  ///< that one, for GPUs that nobody watches
  observe::Options check;                ///< ATOLL_CHECK and its like
};

/// Reads all settings. Errors: a value that is not allowed, or one that requires another setting, by the name that it
/// was given by. Without a GPU's name, a GPU is chosen that runs code embedded in the program.
support::Result<Configuration> read_configuration(const Values& values);

/// The machine's GPUs by ATOLL_GPU and ATOLL_GPUS; empty when no GPU is named.
support::Result<std::vector<target::GpuModel>> named_gpus(const Values& values);
/// ATOLL_GPUS; 0 when it is unset.
support::Result<unsigned> number_of_gpus(const Values& values);
/// ATOLL_MEMORY; 0 when it is unset.
support::Result<uint64_t> memory_of_a_gpu(const Values& values);
/// ATOLL_CHECK and the settings that require it.
support::Result<observe::Options> read_checks(const Values& values);
/// The settings that the library and its engines have besides: of the host's vector instructions, of the compiler and
/// of its cache.
support::Result<void> check_engine_settings(const Values& values);
/// Whether the directory of ATOLL_CACHE can be used. A program that another user's rights keep from it runs without.
support::Result<void> check_cache_directory(const Values& values);

}  // namespace Atoll::settings

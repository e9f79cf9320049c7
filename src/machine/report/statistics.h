// machine: what GPUs have run, as `--stats` tells it: a table for people, or a JSON file for programs.
#pragma once

#include <unistd.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/engine.h"
#include "machine/wave/dispatch.h"
#include "support/error.h"

namespace Atoll::machine {

class Gpu;

/// Adds the counts and seconds of one row to another.
void add_to(KernelStatistics& sum, const KernelStatistics& more);

/// What is said in place of a file's name for a table on standard error, by `--stats` and ATOLL_STATS.
inline constexpr std::string_view statistics_as_table = "1";

/// What one GPU has run. Seconds are the host's: they say nothing of how long the GPU would take.
struct GpuStatistics {
  unsigned number = 0;  ///< among the GPUs of the machine
  std::string product, target;
  std::vector<KernelStatistics> kernels;  ///< most time first
  std::optional<EngineReport> engine{};   ///< and what it translated, where that is known
};

GpuStatistics statistics_of(const Gpu& gpu, unsigned number);

/// The table of a GPU, with the ends of names that are very long. Of several GPUs, each is told by its number, and one
/// that has run nothing has no rows.
std::string statistics_table(GpuStatistics gpu, bool is_one_of_several);

/// All of it, with whole names.
std::string statistics_json(std::span<const GpuStatistics> gpus);

/// Writes the JSON to a file; %p in its name is the process.
support::Result<void> write_statistics(std::span<const GpuStatistics> gpus, const std::string& path,
                                       pid_t process = getpid());

}  // namespace Atoll::machine

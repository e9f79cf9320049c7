// machine: statistics of `--stats`: a table, or a JSON file.
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

/// Value of `--stats` and ATOLL_STATS for a table on standard error instead of a file.
inline constexpr std::string_view statistics_as_table = "1";

/// Statistics of one GPU. Times are of the host and say nothing about the speed of the GPU.
struct GpuStatistics {
  unsigned number = 0;  ///< among the GPUs of the machine
  std::string product, target;
  std::vector<KernelStatistics> kernels;  ///< most time first
  std::optional<EngineReport> engine{};   ///< and what it translated, where that is known
};

GpuStatistics statistics_of(const Gpu& gpu, unsigned number);

/// Returns the table of a GPU; very long names are shortened to their ends. With several GPUs each has a heading, and
/// unused ones have no rows.
std::string statistics_table(GpuStatistics gpu, bool is_one_of_several);

/// All of it, with whole names.
std::string statistics_json(std::span<const GpuStatistics> gpus);

/// Writes the JSON to a file; %p in its name is the process.
support::Result<void> write_statistics(std::span<const GpuStatistics> gpus, const std::string& path,
                                       pid_t process = getpid());

}  // namespace Atoll::machine

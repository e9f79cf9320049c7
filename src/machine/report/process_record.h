// machine: the record of a process, which outlives it.
//
// A process that is killed, that executes another program or calls _exit() runs none of its exit handlers. So the
// runtime keeps what it would report at exit in a file that it has mapped: the kernels' statistics, and a line for each
// finding. `atoll run --check` and `--stats` supervise the program, and report what a process left unsaid from its
// file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "machine/report/statistics.h"
#include "support/error.h"

namespace Atoll::machine {

class Gpu;
class LoadedCode;

/// The writing side, one in a process.
class ProcessRecord {
 public:
  /// Makes a file in the directory, which must exist.
  static support::Result<std::unique_ptr<ProcessRecord>> create(const std::filesystem::path& directory);
  ~ProcessRecord();
  ProcessRecord(const ProcessRecord&) = delete;
  ProcessRecord& operator=(const ProcessRecord&) = delete;

  /// Where the statistics are to go; empty: nowhere.
  void set_statistics(std::string_view where);
  /// Kernels of a GPU that is not added are not recorded.
  void add_gpu(const Gpu& gpu, unsigned number);
  /// Adds one completed dispatch of a kernel.
  void add_dispatch(const Gpu& gpu, const std::string& kernel, const KernelStatistics& one);
  /// Adds a line of the summary of findings.
  void add_finding(std::string_view line, bool is_error);
  /// The process has reported all of it.
  void set_reported();
  /// In a forked child, whose parent's record this is: lets go of it without a change.
  void forget_in_child();

  /// The record that dispatches are added to; null: none.
  static ProcessRecord* current();
  static void set_current(ProcessRecord* record);

 private:
  struct Layout;
  ProcessRecord() = default;
  uint64_t put(std::string_view text);

  std::mutex mutex_;
  Layout* layout_ = nullptr;
  int descriptor_ = -1;
  std::map<const Gpu*, uint32_t> gpus_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> rows_;

  friend struct LeftRecord;
};

/// The reading side: what a process has left.
struct LeftRecord {
  pid_t process = 0;
  uint64_t made_ns = 0;
  bool is_reported = false;  ///< the process has said all of it
  bool has_ended = false;    ///< or executed another program
  uint64_t errors = 0;       ///< findings that are no notes
  std::string findings;      ///< lines of the summary
  std::string statistics;    ///< where they are to go; empty: nowhere
  std::vector<GpuStatistics> gpus;

  /// All records in a directory, in the order in which they were made.
  static std::vector<LeftRecord> read_all(const std::filesystem::path& directory);

 private:
  static bool read(const std::filesystem::path& file, LeftRecord& record);
};

}  // namespace Atoll::machine

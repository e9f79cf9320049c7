// hsa: the log of hsa_amd_enable_logging: one line per event, by kind. When disabled it costs one comparison.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "hsa/interface/rocm_7_2.h"

namespace Atoll::hsa {

class Log {
 public:
  /// Enables kinds (bits of hsa_amd_log_flag_t), to the caller's file or standard error.
  void configure(uint64_t kinds, std::FILE* file);
  bool takes(int kind) const { return (kinds_.load(std::memory_order_relaxed) >> kind & 1) != 0; }
  template <typename... Arguments>
  void write(int kind, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (takes(kind)) write_line(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

 private:
  void write_line(const std::string& line);

  std::atomic<uint64_t> kinds_{0};
  std::atomic<std::FILE*> file_{nullptr};
};

/// Returns the process's log, which outlives the runtime.
Log& log();

}  // namespace Atoll::hsa

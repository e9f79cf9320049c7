// hsa: the log that hsa_amd_enable_logging asks for: a line for each thing that the runtime does of its own accord or
// on a call, by kind. Off, it costs the test of one number.
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
  /// Bits of hsa_amd_log_flag_t, from now on, to a file of the caller's or to standard error.
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

/// The process's log, which outlives the runtime.
Log& log();

}  // namespace Atoll::hsa

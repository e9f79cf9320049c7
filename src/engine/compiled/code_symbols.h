// engine/compiled: names of translated code for perf and gdb, which otherwise see anonymous memory.
//
// ATOLL_CODE_SYMBOLS=perf appends a line for each host function to /tmp/perf-PID.map, where `perf report` looks.
// ATOLL_CODE_SYMBOLS=gdb registers an ELF file in memory with gdb's JIT interface. A symbol is the kernel's name and
// the first PC of the function, from the kernel's entry: `_Z5scalePf+0x0`. Large kernels are several functions.
// Sources: perf's tools/perf/Documentation/jit-interface.txt; "Debugging with GDB", "JIT Compilation Interface".
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/compiled/host_code.h"
#include "support/error.h"

namespace Atoll::engine {

/// Checks the setting.
support::Result<void> check_code_symbols();

/// Keeps code registered with gdb.
class CodeSymbols {
 public:
  /// Publishes the symbols of placed code as the setting says. `root` is the kernel's entry, counted as entries' PCs.
  /// Returns null if gdb has nothing to keep.
  static std::unique_ptr<CodeSymbols> publish(const HostCode& code, std::string_view kernel, uint64_t root);
  CodeSymbols(const CodeSymbols&) = delete;
  CodeSymbols& operator=(const CodeSymbols&) = delete;
  ~CodeSymbols();

 private:
  struct GdbEntry;
  explicit CodeSymbols(std::unique_ptr<GdbEntry> entry);

  std::unique_ptr<GdbEntry> entry_;
};

}  // namespace Atoll::engine

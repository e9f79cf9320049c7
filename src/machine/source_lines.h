// machine: which source line an instruction comes from, for fault reports.
//
// Read from the code object's file when a report is made, not before. It reads the DWARF line tables, versions 2 to
// 5, and nothing else of DWARF: linking LLVM for this would cost every program that starts the time to load it. A
// damaged or missing table yields nothing, never an error.
// Source: DWARF 5, section 6.2, "Line Number Information".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace Atoll::machine {

/// The line of the instruction at `address` (as the ELF file counts addresses): "dir/file.hip:12:5", or empty. The
/// column is left out where it isn't known.
std::string source_line_at(std::span<const uint8_t> file, uint64_t address);

/// Addresses whose instructions are of one line.
struct SourceRange {
  uint64_t begin, end;
  std::string file;
  uint64_t line;
};
/// Returns all of them, by address.
std::vector<SourceRange> source_ranges(std::span<const uint8_t> file);

/// A line of a file that debug information names by its number in a unit of .debug_line, which begins at an offset
/// there.
std::string source_place(std::span<const uint8_t> file, uint64_t line_table, uint64_t number, uint64_t line,
                         uint64_t column);

}  // namespace Atoll::machine

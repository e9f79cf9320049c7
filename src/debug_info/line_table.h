// debug_info: maps the address of an instruction to its source line, for fault reports, checkers and listings.
//
// Reads .debug_line, DWARF versions 2 to 5, when a report is made. LLVM's reader would do the same, but every program
// that starts would load LLVM for it. A damaged or missing table yields no lines and no error.
// Source: DWARF 5, section 6.2, "Line Number Information".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace Atoll::debug_info {

/// Returns the line of the instruction at the ELF address `address`, such as "dir/file.hip:12:5", or an empty string.
/// The column is left out where the table has none.
std::string source_line_at(std::span<const uint8_t> file, uint64_t address);

/// A range of ELF addresses whose instructions come from one source line.
struct SourceRange {
  uint64_t begin, end;
  std::string file;
  uint64_t line;
};
/// Returns the ranges of all units, sorted by address.
std::vector<SourceRange> source_ranges(std::span<const uint8_t> file);

/// Returns "file:line:column" for file `number` of the .debug_line unit at offset `line_table`.
std::string source_place(std::span<const uint8_t> file, uint64_t line_table, uint64_t number, uint64_t line,
                         uint64_t column);

}  // namespace Atoll::debug_info

// machine: which function and which source line an instruction belongs to, for fault reports.
//
// Read from the code object's file when a report is made, not before: from .symtab (which, unlike the dynamic
// symbols, has every device function) and from the DWARF line table, versions 2 to 5. A damaged or missing table
// yields nothing, never an error.
// Source: System V ABI, "Symbol Table"; DWARF 5, section 6.2, "Line Number Information".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace Atoll::machine {

/// The function whose code holds `address` (as the ELF file counts them); points into `file`.
std::string_view function_name_at(std::span<const uint8_t> file, uint64_t address);

/// "dir/file.hip:12:5", or empty. The column is left out where it isn't known.
std::string source_line_at(std::span<const uint8_t> file, uint64_t address);

}  // namespace Atoll::machine

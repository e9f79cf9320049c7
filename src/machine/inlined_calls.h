// machine: where code was called that the compiler put in place of the call, for reports: __syncthreads() is a line of
// HIP's headers, and what its user wants to know is where it stands.
//
// Read from .debug_info, versions 4 and 5, by going through the entries of the unit that has the address. As with
// source lines, what is damaged or missing yields nothing. Source: DWARF 5, sections 3.3.8 "Inlined Subroutines", 7.5
// "Format of Debugging Information", 7.25 "Address Range Table".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::machine {

/// Of the instruction at `address` (as the ELF file counts addresses) the calls that were inlined around it, the
/// innermost first: "dir/file.hip:12:5".
std::vector<std::string> inlined_calls_at(std::span<const uint8_t> file, uint64_t address);

/// Returns whether a source line is of a header of the compiler's, of the C++ library's or of ROCm's.
bool is_system_place(std::string_view place);

/// The line that the instruction comes from, or, where that is of a header of the compiler's or of ROCm's, the call
/// of it in the user's code; empty where it isn't known.
std::string user_line_at(std::span<const uint8_t> file, uint64_t address);

}  // namespace Atoll::machine

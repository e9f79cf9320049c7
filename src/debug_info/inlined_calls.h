// debug_info: the chain of inlined calls around an instruction. The line of an inlined __syncthreads() is in HIP's
// headers; reports show the line of the user's call instead.
//
// Reads .debug_info, DWARF versions 4 and 5: all entries of the unit that contains the address. Damaged or missing
// entries yield no calls and no error. Source: DWARF 5, sections 3.3.8 "Inlined Subroutines", 7.5 "Format of Debugging
// Information", 7.25 "Address Range Table".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::debug_info {

/// Returns the inlined calls that contain the instruction at the ELF address `address`, innermost first, each as
/// "dir/file.hip:12:5".
std::vector<std::string> inlined_calls_at(std::span<const uint8_t> file, uint64_t address);

/// Returns true if `place` is in a header of the compiler, of the C++ library or of ROCm.
bool is_system_place(std::string_view place);

/// Returns the line that the instruction comes from. If that is in a system header, returns the innermost call of it in
/// the user's code. Returns an empty string if the line is unknown.
std::string user_line_at(std::span<const uint8_t> file, uint64_t address);

}  // namespace Atoll::debug_info

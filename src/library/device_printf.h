// library: formats printf() output of kernels, whose formats and arguments arrive as bytes.
//
// Conversions are those of C and OpenCL's vectors (%v4f). Types are those of 64-bit Linux: `l` is 64 bits.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace Atoll::library {

/// Returns the bytes of the next argument; for a string, without the terminating zero. Empty if there is none.
using NextArgument = std::function<std::span<const std::byte>(bool is_string)>;

/// Returns the text. Conversions without an argument, or unknown to C, are printed verbatim.
std::string format_printf(std::string_view format, const NextArgument& next);

}  // namespace Atoll::library

// library: printf() of kernels, whose formats and arguments the host gets as bytes.
//
// What the conversions mean is C's, with OpenCL's vectors (%v4f). A device has the types of a 64-bit Linux: `l` is 64
// bits.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace Atoll::library {

/// The bytes of the next argument; for a string those up to its end, without the zero. Empty when there is none.
using NextArgument = std::function<std::span<const std::byte>(bool is_string)>;

/// The text. Conversions that lack an argument, or that C does not know, are printed as they are written.
std::string format_printf(std::string_view format, const NextArgument& next);

}  // namespace Atoll::library

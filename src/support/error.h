// support: what every room needs and what knows nothing of AMD.
//
// This file: errors as values. A function that can fail on its input returns Result<T>; the Error says in
// the user's words what is wrong, where, and what to do about it. Nothing in Atoll throws.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace Atoll::support {

/// What kind of thing went wrong: lets a public boundary choose its own status (an hsa_status_t, an exit code)
/// without reading the message.
enum class ErrorKind : uint8_t {
  invalid_argument,     ///< the caller asked for something that makes no sense
  invalid_file,         ///< a file or byte range is not what it claims to be, or is damaged
  incompatible,         ///< well formed, but not for this GPU
  not_found,            ///< a name that nothing has
  unsupported,          ///< known, but not implemented: the message names it
  out_of_resources,     ///< more registers, memory, LDS, ... than there is
  memory_fault,         ///< a kernel touched memory that is not mapped for it
  illegal_instruction,  ///< a kernel ran into bytes that are no instruction of its GPU
  aborted,              ///< a kernel trapped, was timed out or was stopped
  system,               ///< the host's operating system refused something
};

struct Error {
  ErrorKind kind = ErrorKind::invalid_argument;
  std::string message;
};

template <typename T>
using Result = std::expected<T, Error>;

/// `return fail(ErrorKind::not_found, "no GPU named '{}'", name);`
template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{kind, fmt::format(format, std::forward<Args>(args)...)});
}

/// Puts the place where it happened before an error's message: "librocrand.so: code object 3: ...".
[[nodiscard]] inline std::unexpected<Error> within(const std::string& where, Error error) {
  error.message = where + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace Atoll::support

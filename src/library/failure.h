// library: converts internal errors to failures of the public library.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "atoll/failure.h"
#include "machine/wave/dispatch.h"
#include "support/error.h"

namespace Atoll::library {

FailureKind kind_of(support::ErrorKind kind);
KernelFault fault_of(const machine::FaultReport& report);

inline Failure failure_of(support::Error error) {
  return {.message = std::move(error.message), .kind = kind_of(error.kind), .fault = {}};
}
inline Failure failure_of(support::Error error, const std::optional<machine::FaultReport>& report) {
  Failure failure = failure_of(std::move(error));
  if (report) failure.fault = fault_of(*report);
  return failure;
}

inline std::unexpected<Failure> failed(support::Error error) { return std::unexpected(failure_of(std::move(error))); }

/// `return refuse(FailureKind::not_found, "there is no kernel {}", name);`
template <typename... Args>
std::unexpected<Failure> refuse(FailureKind kind, fmt::format_string<Args...> words, Args&&... values) {
  return std::unexpected(
      Failure{.message = fmt::format(words, std::forward<Args>(values)...), .kind = kind, .fault = {}});
}

}  // namespace Atoll::library

// hsa: converts Atoll's errors to hsa_status_t.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <exception>
#include <string_view>

#include "support/error.h"

namespace Atoll::hsa {

/// Returns the status for an error.
hsa_status_t status_of(support::ErrorKind kind);

/// Returns the status for exceptions of the C++ library when memory or threads run out.
hsa_status_t status_of(const std::exception& exception);

/// Prints the details of an error with the function's name on standard error, and returns its status.
hsa_status_t report(std::string_view function, const support::Error& error);
hsa_status_t report(std::string_view function, const support::Error& error, hsa_status_t status);

}  // namespace Atoll::hsa

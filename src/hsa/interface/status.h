// hsa: Atoll's errors as hsa_status_t.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <exception>
#include <string_view>

#include "support/error.h"

namespace Atoll::hsa {

/// The status of an error that a caller gets.
hsa_status_t status_of(support::ErrorKind kind);

/// The status of what the C++ library throws when memory or threads run out.
hsa_status_t status_of(const std::exception& exception);

/// Says on standard error what the status alone cannot, naming the function, and returns the status.
hsa_status_t report(std::string_view function, const support::Error& error);
hsa_status_t report(std::string_view function, const support::Error& error, hsa_status_t status);

}  // namespace Atoll::hsa

// library: describes a code object as JSON, for `atoll inspect`.
#pragma once

#include <nlohmann/json.hpp>

#include "object/bundle.h"
#include "support/error.h"

namespace Atoll::library {

/// Returns header, segments, sections, notes, symbols, relocations, metadata and kernels; docs/tools.md lists the keys.
/// `kernel`: only kernels of that name. Occupancy is for work-groups of that many work-items or, if 0, for the largest
/// that the kernel allows. Fails only if the file cannot be read; "errors" lists damaged parts.
support::Result<nlohmann::ordered_json> describe_code(const object::FoundCodeObject& code, const std::string& kernel,
                                                      uint32_t work_group_size);

}  // namespace Atoll::library

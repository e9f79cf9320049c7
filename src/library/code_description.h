// library: what is in a code object, as JSON. `atoll inspect` prints it so, or makes text of it.
#pragma once

#include <nlohmann/json.hpp>

#include "object/bundle.h"
#include "support/error.h"

namespace Atoll::library {

/// Header, segments, sections, notes, symbols, relocations, metadata and kernels; docs/tools.md lists the keys. With
/// `kernel`, kernels of that name only. Occupancy is that of work-groups of so many work-items, or, if that is 0, of
/// the largest that the kernel may be launched with. An error only if the file cannot be read at all: "errors" lists
/// what is wrong with parts of it.
support::Result<nlohmann::ordered_json> describe_code(const object::FoundCodeObject& code, const std::string& kernel,
                                                      uint32_t work_group_size);

}  // namespace Atoll::library

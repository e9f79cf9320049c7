// library: selects code objects of a file by GPU.
#pragma once

#include <string>

#include "object/bundle.h"
#include "support/error.h"

namespace Atoll::library {

/// Keeps the code objects for a GPU. A processor or target ID selects those built for it; unnamed settings match any. A
/// product's name selects those that it would run; an empty name selects all. Fails if none remain.
support::Result<void> select_code(object::FoundCodeObjects& found, const std::string& gpu);

}  // namespace Atoll::library

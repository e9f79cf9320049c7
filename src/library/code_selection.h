// library: which of the code objects in a file somebody is to look at.
#pragma once

#include <string>

#include "object/bundle.h"
#include "support/error.h"

namespace Atoll::library {

/// Leaves those for a GPU: a processor or target ID stands for the code objects that were built for it, settings that
/// it does not name being any; a product's name for what it would run; an empty name for all. An error when there are
/// none.
support::Result<void> select_code(object::FoundCodeObjects& found, const std::string& gpu);

}  // namespace Atoll::library

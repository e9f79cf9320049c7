// tools: the processor that an option names, for subcommands that only read tables and execute nothing.
#pragma once

#include <string>

#include "support/error.h"
#include "target/processor.h"

namespace Atoll::tools {

/// A processor by its name, also one that nothing is executed on, or by a product's; a target ID's settings are left
/// out. The error begins with the option's name.
support::Result<const target::Processor*> find_named_processor(const std::string& name, const char* option);

}  // namespace Atoll::tools

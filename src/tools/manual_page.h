// tools: manual pages of the atoll command and its subcommands, for man(1).
#pragma once

#include <string>
#include <vector>

#include "tools/command_description.h"

namespace Atoll::tools {

/// "atoll-bundle-list"
std::string manual_name(const CommandDescription& command);

/// The page, in the macros of man(7), section 1. `see_also` are names of pages of that section.
std::string manual_page(const CommandDescription& command, const std::vector<std::string>& see_also);

}  // namespace Atoll::tools

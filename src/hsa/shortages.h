// hsa: what the process lacks that HIP takes for granted. HIP crashes without it, and says nothing of the reason.
#pragma once

#include <string>
#include <vector>

#include "settings/configuration.h"

namespace Atoll::hsa {

/// A line for each thing that is missing: a visible GPU, a directory for temporary files, /proc, addresses.
std::vector<std::string> shortages(const settings::Configuration& configuration);

}  // namespace Atoll::hsa

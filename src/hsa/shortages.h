// hsa: finds resources that HIP requires and the process lacks. HIP crashes without them and gives no reason.
#pragma once

#include <string>
#include <vector>

#include "settings/configuration.h"

namespace Atoll::hsa {

/// A line for each thing that is missing: a visible GPU, a directory for temporary files, /proc, addresses.
std::vector<std::string> shortages(const settings::Configuration& configuration);

}  // namespace Atoll::hsa

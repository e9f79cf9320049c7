// machine: limits of launches that are the same on every AMD GPU.
#pragma once

#include <cstdint>

namespace Atoll::machine {

/// Work-items of a work-group (HSA_AGENT_INFO_WORKGROUP_MAX_SIZE).
inline constexpr uint32_t max_work_group_size = 1024;

}  // namespace Atoll::machine

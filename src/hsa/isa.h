// hsa: instruction set architectures, which are target IDs: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".
#pragma once

#include <hsa/hsa.h>

#include <cstdint>

#include "target/target_id.h"

namespace Atoll::hsa {

inline constexpr uint16_t max_work_group_size = 1024;
inline constexpr uint32_t queue_min_size = 64, queue_max_size = 131072;  ///< in packets

struct GpuAgent;

/// Returns the ISA of a GPU.
hsa_isa_t isa_of(const GpuAgent& agent);

/// Returns the default wave size of a processor: the compiler's default.
uint32_t wave_size(const target::Processor& processor);

}  // namespace Atoll::hsa

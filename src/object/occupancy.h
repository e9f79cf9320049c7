// object: occupancy, how many waves of a kernel a SIMD can hold at the same time, and what keeps it from more.
// Source: llvm/lib/Target/AMDGPU/Utils/AMDGPUBaseInfo.cpp and AMDGPUSubtarget.cpp, which the compiler's own remarks
// (-Rpass-analysis=kernel-resource-usage) come from, except for the trap handler's SGPRs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "target/processor.h"

namespace Atoll::object {

/// What a kernel takes.
struct KernelResources {
  uint32_t vgprs = 0;  ///< of a wave, with AGPRs where they share a file; else the larger number
  uint32_t sgprs = 0;
  uint32_t lds_bytes = 0;  ///< of a work-group
  uint32_t work_group_size = 1024;
  bool wave32 = false;
  bool wgp_mode = false;  ///< a work-group's waves share the two compute units of a work-group processor
};

struct OccupancyLimit {
  std::string_view what;  ///< "VGPRs", "SGPRs", "LDS", "work-groups", "waves" (that there is room for)
  uint32_t waves;         ///< on a SIMD, as far as that goes
};

struct Occupancy {
  uint32_t waves;   ///< on a SIMD
  uint32_t out_of;  ///< the most that a SIMD holds
  std::vector<OccupancyLimit> limits;

  bool is_limited_by(const OccupancyLimit& limit) const { return limit.waves == waves; }
};

Occupancy occupancy_of(const KernelResources& kernel, const target::Processor& processor);

}  // namespace Atoll::object

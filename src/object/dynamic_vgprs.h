// object: the blocks in which a wave with dynamic VGPRs allocates them.
//
// Source: user guide, "amdgpu-dynamic-vgpr-block-size".
#pragma once

#include <cstdint>

namespace Atoll::object {

inline constexpr uint16_t num_dynamic_vgpr_blocks = 8;
/// 8 blocks of 32; an object may be made for blocks of 16.
inline constexpr uint16_t max_dynamic_vgprs = num_dynamic_vgpr_blocks * 32;

}  // namespace Atoll::object

// hsa: memory pools, which hsa.h calls regions: the kinds of memory that an agent has. Guest memory is host memory,
// so a pool decides only what is said of an allocation and how much there can be of it.
// Source: HSA runtime specification, "Memory"; hsa_ext_amd.h, "memory pool".
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>

#include "hsa/agent.h"

namespace Atoll::hsa {

/// What the handle of an hsa_amd_memory_pool_t, and of an hsa_region_t, points to.
struct Pool {
  const Agent* owner = nullptr;
  hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GLOBAL;
  uint32_t global_flags = 0;  ///< bits of hsa_amd_memory_pool_global_flag_t; 0 for the group segment
  uint64_t bytes = 0;         ///< there are
  std::atomic<uint64_t> bytes_allocated{0};

  /// Counts `size` as given out; false when there is not so much left.
  bool take(uint64_t size) {
    if (size <= bytes && bytes_allocated.fetch_add(size) <= bytes - size) return true;
    if (size <= bytes) bytes_allocated -= size;
    return false;
  }
  bool can_allocate() const { return segment == HSA_AMD_SEGMENT_GLOBAL; }
  bool is_system() const { return can_allocate() && !owner->is_gpu(); }
  hsa_amd_memory_pool_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

/// Granule and alignment of allocations.
inline constexpr uint64_t allocation_granule = 4096;
/// Sizes of device memory that leave no fragments behind.
inline constexpr uint64_t device_memory_block = 2 << 20;

}  // namespace Atoll::hsa

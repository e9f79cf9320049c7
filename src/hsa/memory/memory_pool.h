// hsa: memory pools (regions in hsa.h): the kinds of memory of an agent. Guest memory is host memory, so a pool only
// determines an allocation's attributes and the available size. Source: HSA runtime specification, "Memory";
// hsa_ext_amd.h, "memory pool".
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>

namespace Atoll::hsa {

struct Agent;

/// The total and allocated memory of an agent's pools.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : bytes_(bytes) {}

  uint64_t bytes() const { return bytes_; }
  uint64_t taken() const { return taken_; }
  /// Reserves `size`; returns false if there is not enough left.
  bool take(uint64_t size) {
    if (size <= bytes_ && taken_.fetch_add(size) <= bytes_ - size) return true;
    if (size <= bytes_) taken_ -= size;
    return false;
  }
  void give_back(uint64_t size) { taken_ -= size; }

 private:
  const uint64_t bytes_;
  std::atomic<uint64_t> taken_{0};
};

/// The object behind an hsa_amd_memory_pool_t and an hsa_region_t.
struct Pool {
  Agent* owner;
  hsa_amd_segment_t segment;
  uint32_t global_flags;  ///< bits of hsa_amd_memory_pool_global_flag_t; 0 for the group segment
  uint64_t bytes;         ///< there are

  /// Of the agent's memory, which all its pools share.
  bool take(uint64_t size) const;
  void give_back(uint64_t size) const;
  bool can_allocate() const { return segment == HSA_AMD_SEGMENT_GLOBAL; }
  bool is_system() const;
  hsa_amd_memory_pool_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

/// Granule and alignment of allocations.
inline constexpr uint64_t allocation_granule = 4096;
/// Sizes of device memory that leave no fragments behind.
inline constexpr uint64_t device_memory_block = 2 << 20;

}  // namespace Atoll::hsa

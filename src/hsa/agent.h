// hsa: the agents: the host's processors, then the virtual GPUs.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hsa/memory/memory_pool.h"
#include "machine/gpu.h"
#include "settings/compute_unit_mask.h"
#include "settings/configuration.h"

namespace Atoll::hsa {

/// A cache that hsa_cache_get_info describes.
struct Cache {
  uint8_t level = 0;
  uint64_t bytes = 0;
  std::string name;
};

/// The object behind an hsa_agent_t.
struct Agent {
  Agent(hsa_device_type_t device, uint32_t node, std::vector<Cache> caches, uint64_t memory_bytes)
      : device(device), node(node), caches(std::move(caches)), memory(memory_bytes) {}
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  const hsa_device_type_t device;
  const uint32_t node;  ///< place in the topology: the CPU is node 0
  const std::vector<Cache> caches;
  MemoryBudget memory;      ///< shared by its pools
  std::vector<Pool> pools;  ///< in ROCr's order; fixed, because handles point to them

  bool is_gpu() const { return device == HSA_DEVICE_TYPE_GPU; }
  hsa_agent_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

/// The host's processors and memory.
struct CpuAgent : Agent {
  CpuAgent();
  Pool& fine_grained() { return pools[0]; }
};

/// A GPU, and the program's settings for it.
struct GpuAgent : Agent {
  GpuAgent(const settings::GpuConfiguration& configuration, std::unique_ptr<machine::Gpu> machine);

  const std::unique_ptr<machine::Gpu> machine;
  const unsigned number;                          ///< index in the machine
  const settings::ComputeUnitMask compute_units;  ///< that queues may use
  std::atomic<uint64_t> scratch_limit{0};         ///< last value of hsa_amd_agent_set_async_scratch_limit
  std::atomic<bool> coherent{true};               ///< last value of hsa_amd_coherency_set_type

  const target::GpuModel& model() const { return machine->model(); }
  const target::Product& product() const { return model().product; }
  /// Returns the mask of available copy engines, for attributes and copy functions.
  uint32_t copy_engine_mask() const;
};

}  // namespace Atoll::hsa

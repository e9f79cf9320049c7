// hsa: the two agents of a program under Atoll: the host's processors and the virtual GPU.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace Atoll::hsa {

/// A cache that hsa_cache_get_info describes.
struct Cache {
  uint8_t level = 0;
  uint64_t bytes = 0;
  std::string name;
};

/// What an hsa_agent_t's handle points to.
struct Agent {
  hsa_device_type_t device = HSA_DEVICE_TYPE_CPU;
  uint32_t node = 0;  ///< place in the topology: the CPU is node 0, the GPU node 1
  std::vector<Cache> caches;

  bool is_gpu() const { return device == HSA_DEVICE_TYPE_GPU; }
  hsa_agent_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

/// What the attributes and the copy functions call available of the GPU's copy engines: a bit for each.
uint32_t copy_engine_mask();

/// The host's caches, from what the C library knows of them.
std::vector<Cache> host_caches();

}  // namespace Atoll::hsa

// hsa: pool and region queries, and allocation from them.
#include "hsa/memory/memory_pool.h"

#include <cstring>

#include "hsa/interface/attribute.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"
#include "target/topology.h"

using namespace Atoll;
using namespace Atoll::hsa;

namespace {

/// The attributes that pools and regions share have the same numbers.
hsa_status_t give_pool_info(const Pool& pool, int attribute, void* value) {
  switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      return give(value, pool.segment);
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
      return give<uint32_t>(value, pool.global_flags);
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
      return give<size_t>(value, pool.bytes);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
      return give(value, pool.can_allocate());
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
      return give<size_t>(value, pool.can_allocate() ? allocation_granule : 0);
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
      return give(value, pool.is_system());
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
    case HSA_REGION_INFO_ALLOC_MAX_SIZE:
      return give<size_t>(value, pool.can_allocate() ? pool.bytes : 0);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/// Attributes that only pools have.
hsa_status_t give_pool_only_info(const Pool& pool, int attribute, void* value) {
  switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
      if (!pool.can_allocate()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
      return give(value, pool.is_system() ? HSA_AMD_MEMORY_POOL_LOCATION_CPU : HSA_AMD_MEMORY_POOL_LOCATION_GPU);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
      if (!pool.can_allocate()) return give<size_t>(value, 0);
      return give<size_t>(value, pool.is_system() ? allocation_granule : device_memory_block);
    default:
      return give_pool_info(pool, attribute, value);
  }
}

constexpr uint32_t known_allocation_flags = HSA_AMD_MEMORY_POOL_PCIE_FLAG | HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG |
                                            HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG | HSA_AMD_MEMORY_POOL_UNCACHED_FLAG;

/// The link between two distinct agents.
target::Link link_between(const Agent& one, const Agent& other) {
  const GpuAgent* gpu = Runtime::get()->find_gpu(one.handle());
  const GpuAgent* other_gpu = Runtime::get()->find_gpu(other.handle());
  return gpu != nullptr && other_gpu != nullptr ? target::link_between(gpu->product(), other_gpu->product())
                                                : target::link_to_host();
}

/// One hop of the way. HIP adds up their distances.
hsa_amd_memory_pool_link_info_t hop_of(const target::Link& link) {
  hsa_amd_memory_pool_link_info_t info{};
  info.min_bandwidth = link.least_bandwidth;
  info.max_bandwidth = link.bandwidth;
  info.atomic_support_32bit = info.atomic_support_64bit = info.coherent_support = true;
  info.link_type = link.kind == target::Link::Kind::xgmi ? HSA_AMD_LINK_INFO_TYPE_XGMI : HSA_AMD_LINK_INFO_TYPE_PCIE;
  info.numa_distance = link.distance / link.hops;
  return info;
}

/// Returns whether a GPU's memory is hidden from the host. Direct writes by HIP would be invisible to the checkers of
/// uninitialized memory and of races.
bool hides_memory(const Agent& agent, const Pool& pool) {
  const observe::Checkers* const checkers = Runtime::get()->checkers.get();
  return checkers != nullptr && (checkers->wants("init") || checkers->wants("race")) && !pool.is_system() &&
         Runtime::get()->find_gpu(agent.handle()) == nullptr;
}

/// An agent's way to a pool's memory.
hsa_status_t give_link(const Agent& agent, const Pool& pool, int attribute, void* value) {
  const bool own = pool.owner == &agent;
  const bool reachable = own || pool.can_allocate();  // nobody else sees a GPU's group segment
  const bool linked = reachable && !own;
  switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
      if (!reachable || (!own && hides_memory(agent, pool))) {
        return give(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
      }
      return give(value, own ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                             : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
      return give<uint32_t>(value, linked ? link_between(agent, *pool.owner).hops : 0);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
      if (linked) {  // an array with one for each hop; they are alike
        const target::Link link = link_between(agent, *pool.owner);
        const std::vector<hsa_amd_memory_pool_link_info_t> hops(link.hops, hop_of(link));
        std::memcpy(value, hops.data(), hops.size() * sizeof hops[0]);
      }
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t memory_pool, hsa_amd_memory_pool_info_t attribute,
                                          void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Pool* pool = Runtime::get()->find_pool(memory_pool.handle);
  if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return give_pool_only_info(*pool, attribute, value);
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void* data),
                                                void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const Pool& pool : found->pools) {
    const hsa_status_t status = callback(pool.handle(), data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t memory_pool,
                                                hsa_amd_agent_memory_pool_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  const Pool* pool = Runtime::get()->find_pool(memory_pool.handle);
  if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return give_link(*found, *pool, attribute, value);
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t memory_pool, size_t size, uint32_t flags, void** ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  // The flags say how memory is laid out physically, and cached; guest memory has no such sides.
  if (size == 0 || ptr == nullptr || (flags & ~known_allocation_flags) != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Pool* pool = Runtime::get()->find_pool(memory_pool.handle);
  if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  return Runtime::get()->memory.allocate(*pool, size, ptr);
}

hsa_status_t hsa_amd_memory_pool_free(void* ptr) { return hsa_memory_free(ptr); }

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t src_memory_pool,
                                             hsa_amd_memory_pool_t dst_memory_pool, bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  if (Runtime::get()->find_pool(src_memory_pool.handle) == nullptr ||
      Runtime::get()->find_pool(dst_memory_pool.handle) == nullptr) {
    return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  }
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;  // ROCr's answer too: nothing migrates between pools
}

hsa_status_t hsa_amd_memory_migrate(const void* ptr, hsa_amd_memory_pool_t memory_pool, uint32_t flags) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (Runtime::get()->find_pool(memory_pool.handle) == nullptr) {
    return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  }
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Pool* pool = Runtime::get()->find_pool(region.handle);
  if (pool == nullptr) return HSA_STATUS_ERROR_INVALID_REGION;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const GpuAgent* gpu = Runtime::get()->find_gpu(pool->owner->handle());
  switch (static_cast<int>(attribute)) {
    case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;  // only of the private segment, which is no region here
    case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
      return give(value, pool->can_allocate());
    case HSA_AMD_REGION_INFO_BASE:
      return give<void*>(value, nullptr);
    case HSA_AMD_REGION_INFO_BUS_WIDTH:
      return give<uint32_t>(value, gpu != nullptr ? gpu->product().memory_bus_bits : 0);
    case HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY:
      return give<uint32_t>(value, gpu != nullptr ? gpu->product().memory_clock_mhz : 0);
    default:
      return give_pool_info(*pool, attribute, value);
  }
}

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent, hsa_status_t (*callback)(hsa_region_t region, void* data),
                                       void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  // Unlike pools, regions belong to every agent that reaches them.
  std::vector<const Agent*> owners{found};
  if (found->is_gpu()) owners.push_back(&Runtime::get()->cpu_agent);
  for (const Agent* owner : owners) {
    for (const Pool& pool : owner->pools) {
      const hsa_status_t status = callback({pool.handle().handle}, data);
      if (status != HSA_STATUS_SUCCESS) return status;
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void** ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (size == 0 || ptr == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Pool* pool = Runtime::get()->find_pool(region.handle);
  if (pool == nullptr) return HSA_STATUS_ERROR_INVALID_REGION;
  return Runtime::get()->memory.allocate(*pool, size, ptr);
}

hsa_status_t hsa_memory_free(void* ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return ptr == nullptr ? HSA_STATUS_SUCCESS : Runtime::get()->memory.free(ptr);
}

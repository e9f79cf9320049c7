// hsa: agents, their attributes and caches. The GPU's come from the product catalogue and the table of processors.
#include "hsa/agent.h"

#include <hsa/hsa_ext_image.h>

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>

#include "hsa/interface/attribute.h"
#include "hsa/interface/extension_tables.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/isa.h"
#include "hsa/runtime.h"
#include "settings/visible_devices.h"
#include "target/topology.h"

namespace Atoll::hsa {

namespace {

std::vector<Cache> host_caches() {
  std::vector<Cache> caches;
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  for (uint8_t level = 1; level <= 3; ++level) {
    const long bytes = sysconf(names[level - 1]);
    if (bytes > 0) caches.push_back({level, static_cast<uint64_t>(bytes), "CPU L" + std::to_string(level)});
  }
  return caches;
}

std::vector<Cache> gpu_caches(const target::Product& product) {
  std::vector<Cache> caches;
  const uint32_t bytes[] = {product.l1_bytes, product.l2_bytes, product.l3_bytes};
  for (uint8_t level = 1; level <= 3; ++level) {
    if (bytes[level - 1] != 0) {
      caches.push_back({level, bytes[level - 1], fmt::format("{} L{}", product.processor, level)});
    }
  }
  return caches;
}

uint64_t host_memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

constexpr uint32_t fine_flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
                   coarse_flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
                   kernarg_flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;

}  // namespace

CpuAgent::CpuAgent() : Agent(HSA_DEVICE_TYPE_CPU, 0, host_caches(), host_memory_bytes()) {
  for (const uint32_t flags : {fine_flag, fine_flag | kernarg_flag, coarse_flag})
    pools.push_back({this, HSA_AMD_SEGMENT_GLOBAL, flags, memory.bytes()});
}

GpuAgent::GpuAgent(const settings::GpuConfiguration& configuration, std::unique_ptr<machine::Gpu> machine)
    : Agent(HSA_DEVICE_TYPE_GPU, target::node_of(configuration.number), gpu_caches(configuration.model.product),
            configuration.memory_bytes),
      machine(std::move(machine)),
      number(configuration.number),
      compute_units(configuration.compute_units.empty() ? settings::all_compute_units(product().compute_units)
                                                        : configuration.compute_units) {
  for (const uint32_t flags : {coarse_flag, fine_flag})
    pools.push_back({this, HSA_AMD_SEGMENT_GLOBAL, flags, memory.bytes()});
  pools.push_back({this, HSA_AMD_SEGMENT_GROUP, 0, model().target.processor->lds_bytes});
}

bool Pool::take(uint64_t size) const { return owner->memory.take(size); }
void Pool::give_back(uint64_t size) const { owner->memory.give_back(size); }
bool Pool::is_system() const { return can_allocate() && !owner->is_gpu(); }

uint32_t GpuAgent::copy_engine_mask() const {
  return (uint32_t{1} << (product().copy_engines + product().xgmi_copy_engines)) - 1;
}

namespace {

/// Text attributes are arrays of 64 chars, zeros included.
hsa_status_t give_text(void* value, std::string_view text) {
  char buffer[64]{};
  text.copy(buffer, sizeof buffer - 1);
  return give(value, buffer);
}

std::string host_processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      const size_t start = line.find(": ");
      if (start != std::string::npos) return line.substr(start + 2);
    }
  }
  return "CPU";
}

hsa_status_t give_caches(void* value, const Agent& agent) {
  uint32_t bytes[4]{};
  for (const Cache& cache : agent.caches) bytes[cache.level - 1] = static_cast<uint32_t>(cache.bytes);
  return give(value, bytes);
}

/// Limits of images: ROCr's for GFX9. The CPU has none.
struct ImageLimits {
  uint32_t one_dimension, buffer, two_dimensions, three_dimensions, layers, read_only, read_write, samplers;
};
constexpr ImageLimits gpu_image_limits{16384, UINT32_MAX, 16384, 2048, 2048, 128, 64, 16}, no_images{};

hsa_status_t give_image_limit(const ImageLimits& limits, int attribute, void* value) {
  switch (attribute) {
    case HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS:
      return give(value, limits.one_dimension);
    case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:
      return give(value, limits.buffer);
    case HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS: {
      const uint32_t size[2] = {limits.two_dimensions, limits.two_dimensions};
      return give(value, size);
    }
    case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS:
      return give(value, hsa_dim3_t{limits.three_dimensions, limits.three_dimensions, limits.three_dimensions});
    case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
      return give(value, limits.layers);
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
      return give(value, limits.read_only);
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
      return give(value, limits.read_write);
    case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
      return give(value, limits.samplers);
    case HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT:
      return give<uint32_t>(value, limits.two_dimensions != 0 ? 256 : 0);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/// An array of bits as hsa_ext_amd.h has them for memory properties and AQL extensions.
hsa_status_t give_bits(void* value, uint64_t bits) { return give(value, bits); }

/// Memory that the agent's pools can still give out. That of GPUs is the host's, of which there may be less.
uint64_t available_memory(const Agent& agent) {
  uint64_t taken = agent.is_gpu() ? 0 : agent.memory.taken();
  if (agent.is_gpu())
    for (const auto& gpu : Runtime::get()->gpu_agents) taken += gpu->memory.taken();
  const uint64_t host_bytes = Runtime::get()->cpu_agent.memory.bytes();
  return std::min(host_bytes - std::min(host_bytes, taken), agent.memory.bytes() - agent.memory.taken());
}

/// Scratch memory of all queues: an aperture of 4 GiB for each XCC, as in ROCr.
uint64_t scratch_limit_max(const target::Product& product) { return uint64_t{product.xcc_count} << 32; }

/// Returns whether existing queues can release scratch memory: products with several dies.
bool reclaims_scratch(const target::Product& product) { return product.xcc_count > 1; }

/// Every clock ticks as the machine's one clock does.
hsa_status_t give_clock_counters(void* value) {
  const uint64_t now = machine::now_ns();
  return give(value, hsa_amd_clock_counters_t{now, now, now, machine::clock_hz});
}

/// Attributes that both kinds of agent answer alike, or from the same table.
hsa_status_t give_common(const Agent& agent, int attribute, void* value) {
  switch (attribute) {
    case HSA_AGENT_INFO_MACHINE_MODEL:
      return give(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      return give(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    case HSA_AGENT_INFO_QUEUE_TYPE:
      return give<hsa_queue_type32_t>(value, HSA_QUEUE_TYPE_MULTI);
    case HSA_AGENT_INFO_NODE:
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
      return give<uint32_t>(value, agent.node);
    case HSA_AGENT_INFO_DEVICE:
      return give(value, agent.device);
    case HSA_AGENT_INFO_CACHE_SIZE:
      return give_caches(value, agent);
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR:
      return give<uint16_t>(value, 1);
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
      return give<uint32_t>(value, 64);
    case HSA_AMD_AGENT_INFO_DOMAIN:
    case HSA_AMD_AGENT_INFO_UCODE_VERSION:  // no microcode
    case HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION:
      return give<uint32_t>(value, 0);
    case HSA_AMD_AGENT_INFO_MEMORY_AVAIL:
      return give(value, available_memory(agent));
    case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
      return give(value, machine::clock_hz);
    case HSA_AMD_AGENT_INFO_IOMMU_SUPPORT:
      return give(value, HSA_IOMMU_SUPPORT_NONE);
    case HSA_AMD_AGENT_INFO_AQL_EXTENSIONS:  // the header defines none yet
      return give_bits(value, 0);
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:  // no host data path to flush
      return give(value, hsa_amd_hdp_flush_t{});
    default:
      return give_image_limit(agent.is_gpu() ? gpu_image_limits : no_images, attribute, value);
  }
}

hsa_status_t give_gpu(const GpuAgent& agent, int attribute, void* value) {
  const target::Product& product = agent.product();
  const target::Processor& processor = agent.machine->processor();
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
      return give_text(value, processor.name);
    case HSA_AGENT_INFO_VENDOR_NAME:
      return give_text(value, "AMD");
    case HSA_AGENT_INFO_FEATURE:
      return give(value, HSA_AGENT_FEATURE_KERNEL_DISPATCH);
    case HSA_AGENT_INFO_PROFILE:
      return give(value, HSA_PROFILE_BASE);
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
      return give(value, processor.generation >= target::Generation::gfx8);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
      return give<uint32_t>(value, wave_size(processor));
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const uint16_t size[3] = {max_work_group_size, max_work_group_size, max_work_group_size};
      return give(value, size);
    }
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
      return give<uint32_t>(value, max_work_group_size);
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      return give(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
      return give<uint32_t>(value, UINT32_MAX);
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
      return give<uint32_t>(value, 32);
    case HSA_AGENT_INFO_QUEUES_MAX:
      return give<uint32_t>(value, 128);
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
      return give<uint32_t>(value, queue_min_size);
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
      return give<uint32_t>(value, queue_max_size);
    case HSA_AGENT_INFO_ISA:
      return give(value, isa_of(agent));
    case HSA_AGENT_INFO_EXTENSIONS:
      return hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, value);
    case HSA_AMD_AGENT_INFO_CHIP_ID:
      return give<uint32_t>(value, product.pci_device_id);
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
      return give<uint32_t>(value, product.compute_units);
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
      return give<uint32_t>(value, product.clock_mhz);
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
      return give<uint32_t>(value, 1);
    case HSA_AMD_AGENT_INFO_BDFID:
      return give<uint32_t>(value, target::pci_location_of(agent.number));
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
      return give<uint32_t>(value, product.memory_bus_bits);
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
      return give<uint32_t>(value, product.memory_clock_mhz);
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return give_text(value, product.marketing_name);
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
      return give<uint32_t>(value, uint32_t{processor.simds_per_cu} * processor.waves_per_simd);
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
      return give<uint32_t>(value, processor.simds_per_cu);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
      return give<uint32_t>(value, product.shader_engines);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
      return give<uint32_t>(value, product.shader_arrays_per_engine);
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      return give(value, true);
    case HSA_AMD_AGENT_INFO_UUID: {
      const std::string text = settings::uuid_of(product, agent.number);
      std::memcpy(value, text.c_str(), text.size() + 1);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
      return give<uint32_t>(value, product.revision_id);
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
      return give(value, true);
    case HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID:
      return give(value, product.asic_family);
    case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG:
      return give(value, product.copy_engines);
    case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG:
      return give(value, product.xgmi_copy_engines);
    case HSA_AMD_AGENT_INFO_NUM_XCC:
      return give(value, product.xcc_count);
    case HSA_AMD_AGENT_INFO_DRIVER_UID:
      return give<uint32_t>(value, agent.node);  // the topology's gpu_id
    case HSA_AMD_AGENT_INFO_NEAREST_CPU:
      return give(value, Runtime::get()->cpu_agent.handle());
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
      return give_bits(value, product.apu ? HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU : 0);
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
      return give(value, scratch_limit_max(product));
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
      return give<uint64_t>(value, agent.scratch_limit);
    case HSA_AMD_AGENT_INFO_CLOCK_COUNTERS:
      return give_clock_counters(value);
    default:
      return give_common(agent, attribute, value);
  }
}

hsa_status_t give_cpu(const Agent& agent, int attribute, void* value) {
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return give_text(value, host_processor_name());
    case HSA_AGENT_INFO_VENDOR_NAME:
      return give_text(value, "CPU");
    case HSA_AGENT_INFO_FEATURE:  // it runs no packets
      return give(value, hsa_agent_feature_t{});
    case HSA_AGENT_INFO_PROFILE:
      return give(value, HSA_PROFILE_FULL);
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
      return give(value, false);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
    case HSA_AGENT_INFO_QUEUES_MAX:
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    case HSA_AMD_AGENT_INFO_CHIP_ID:
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
    case HSA_AMD_AGENT_INFO_BDFID:
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
    case HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID:
    case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG:
    case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG:
    case HSA_AMD_AGENT_INFO_NUM_XCC:
    case HSA_AMD_AGENT_INFO_DRIVER_UID:
      return give<uint32_t>(value, 0);
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      return give(value, false);
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
      return give(value, true);
    case HSA_AMD_AGENT_INFO_NEAREST_CPU:  // asked of GPUs; ROCr gives CPUs the null handle
      return give(value, hsa_agent_t{0});
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
      return give_bits(value, 0);
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
      return give<uint64_t>(value, 0);
    case HSA_AMD_AGENT_INFO_CLOCK_COUNTERS:
      return give(value, hsa_amd_clock_counters_t{});
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const uint16_t none[3]{};
      return give(value, none);
    }
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      return give(value, hsa_dim3_t{0, 0, 0});
    case HSA_AGENT_INFO_ISA:
      return give(value, hsa_isa_t{0});
    case HSA_AGENT_INFO_EXTENSIONS:
      std::memset(value, 0, 128);
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
      return give<uint32_t>(value, std::max(1U, std::thread::hardware_concurrency()));
    case HSA_AMD_AGENT_INFO_UUID:
      std::memcpy(value, "CPU-XX", sizeof "CPU-XX");
      return HSA_STATUS_SUCCESS;
    default:
      return give_common(agent, attribute, value);
  }
}

}  // namespace

namespace {

const Cache* find_cache(hsa_cache_t handle) {
  for (const Agent* agent : Runtime::get()->agents) {
    for (const Cache& cache : agent->caches) {
      if (reinterpret_cast<uint64_t>(&cache) == handle.handle) return &cache;
    }
  }
  return nullptr;
}

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void* data), void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const Agent* agent : Runtime::get()->agents) {
    const hsa_status_t status = callback(agent->handle(), data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const GpuAgent* gpu = Runtime::get()->find_gpu(agent);
  return gpu != nullptr ? give_gpu(*gpu, attribute, value) : give_cpu(*found, attribute, value);
}

// Atoll takes scratch memory for a dispatch and gives it back afterwards, whatever the limit: it is remembered.
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  GpuAgent* found = Runtime::get()->find_gpu(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  const Atoll::target::Product& product = found->product();
  if (!reclaims_scratch(product) || threshold > scratch_limit_max(product)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  found->scratch_limit = threshold;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  const int number = attribute;
  if (number < HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS || number > HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS) {
    return is_initialized() ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_NOT_INITIALIZED;
  }
  return hsa_agent_get_info(agent, attribute, value);
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t profile, uint16_t* mask) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (Runtime::get()->find_agent(agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (mask == nullptr || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*callback)(hsa_cache_t cache, void* data),
                                      void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const Cache& cache : found->caches) {
    const hsa_status_t status = callback({reinterpret_cast<uint64_t>(&cache)}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Cache* found = find_cache(cache);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_CACHE;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH:
      return give(value, static_cast<uint32_t>(found->name.size()));
    case HSA_CACHE_INFO_NAME:
      std::memcpy(value, found->name.c_str(), found->name.size() + 1);
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL:
      return give<uint8_t>(value, found->level);
    case HSA_CACHE_INFO_SIZE:
      return give(value, static_cast<uint32_t>(found->bytes));
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

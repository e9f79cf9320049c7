// hsa: types and values of ROCm 7.2's headers that 5.2's lack; see rocm_7_2.h, through which this file is included.
// Values are one to a line, and each structure opens and closes on lines of its own: tests/hsa/check_declarations reads
// them so.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <cstdint>

// hsa_status_t.
inline constexpr int HSA_STATUS_ERROR_OUT_OF_REGISTERS = 45;
inline constexpr int HSA_STATUS_ERROR_RESOURCE_BUSY = 46;
inline constexpr int HSA_STATUS_ERROR_NOT_SUPPORTED = 47;

// hsa_system_info_t, hsa_extension_t, hsa_access_permission_t.
inline constexpr int HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED = 0x203;
inline constexpr int HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204;
inline constexpr int HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205;
inline constexpr int HSA_AMD_SYSTEM_INFO_XNACK_ENABLED = 0x206;
inline constexpr int HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR = 0x207;
inline constexpr int HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR = 0x208;
inline constexpr int HSA_ACCESS_PERMISSION_NONE = 0;

// hsa_code_symbol_info_t.
inline constexpr int HSA_CODE_SYMBOL_INFO_KERNEL_WAVEFRONT_SIZE = 19;

// hsa_amd_agent_info_t.
inline constexpr int HSA_AMD_AGENT_INFO_MEMORY_AVAIL = 0xA015;
inline constexpr int HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY = 0xA016;
inline constexpr int HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID = 0xA107;
inline constexpr int HSA_AMD_AGENT_INFO_UCODE_VERSION = 0xA108;
inline constexpr int HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION = 0xA109;
inline constexpr int HSA_AMD_AGENT_INFO_NUM_SDMA_ENG = 0xA10A;
inline constexpr int HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG = 0xA10B;
inline constexpr int HSA_AMD_AGENT_INFO_IOMMU_SUPPORT = 0xA110;
inline constexpr int HSA_AMD_AGENT_INFO_NUM_XCC = 0xA111;
inline constexpr int HSA_AMD_AGENT_INFO_DRIVER_UID = 0xA112;
inline constexpr int HSA_AMD_AGENT_INFO_NEAREST_CPU = 0xA113;
inline constexpr int HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES = 0xA114;
inline constexpr int HSA_AMD_AGENT_INFO_AQL_EXTENSIONS = 0xA115;
inline constexpr int HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX = 0xA116;
inline constexpr int HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT = 0xA117;
inline constexpr int HSA_AMD_AGENT_INFO_CLOCK_COUNTERS = 0xA118;

enum hsa_amd_iommu_version_t { HSA_IOMMU_SUPPORT_NONE = 0, HSA_IOMMU_SUPPORT_V2 = 1 };

/// Bits of HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, by their place.
inline constexpr int HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU = 1;

struct hsa_amd_clock_counters_t {
  uint64_t gpu_clock_counter;
  uint64_t cpu_clock_counter;
  uint64_t system_clock_counter;
  uint64_t system_clock_frequency;
};

// Memory pools.
inline constexpr int HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED = 8;
inline constexpr int HSA_AMD_MEMORY_POOL_INFO_LOCATION = 17;
inline constexpr int HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18;
inline constexpr int HSA_AMD_MEMORY_POOL_PCIE_FLAG = 1;
inline constexpr int HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG = 2;
inline constexpr int HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG = 4;
inline constexpr int HSA_AMD_MEMORY_POOL_UNCACHED_FLAG = 8;
enum hsa_amd_memory_pool_location_t { HSA_AMD_MEMORY_POOL_LOCATION_CPU = 0, HSA_AMD_MEMORY_POOL_LOCATION_GPU = 1 };

// Copy engines: one bit each, so that masks of them are sums.
enum hsa_amd_sdma_engine_id_t : unsigned { HSA_AMD_SDMA_ENGINE_0 = 1 };

// Pointers. hsa_amd_pointer_info_t has gained a field in what was padding.
struct hsa_amd_pointer_info_7_2 {
  uint32_t size;
  hsa_amd_pointer_type_t type;
  void* agentBaseAddress;
  void* hostBaseAddress;
  size_t sizeInBytes;
  void* userData;
  hsa_agent_t agentOwner;
  uint32_t global_flags;
  bool registered;
};
inline constexpr int HSA_EXT_POINTER_TYPE_RESERVED_ADDR = 5;
inline constexpr int HSA_EXT_POINTER_TYPE_HSA_VMEM = 6;

// Shared virtual memory.
inline constexpr int HSA_AMD_SVM_ATTRIB_GPU_EXEC = 7;

// Virtual memory.
inline constexpr int HSA_AMD_VMEM_ADDRESS_NO_REGISTER = 1;
enum hsa_amd_memory_type_t { MEMORY_TYPE_NONE, MEMORY_TYPE_PINNED };
struct hsa_amd_vmem_alloc_handle_t {
  uint64_t handle;
};
struct hsa_amd_memory_access_desc_t {
  hsa_access_permission_t permissions;
  hsa_agent_t agent_handle;
};

// Memory as file descriptors, and files to and from memory.
inline constexpr int HSA_AMD_DMABUF_MAPPING_TYPE_NONE = 0;
inline constexpr int HSA_AMD_DMABUF_MAPPING_TYPE_PCIE = 1;
struct hsa_amd_ais_file_handle_t {
  union {
    void* handle;
    int fd;
    uint8_t pad[8];
  };
};

// Queues.
enum hsa_queue_info_attribute_t { HSA_AMD_QUEUE_INFO_AGENT, HSA_AMD_QUEUE_INFO_DOORBELL_ID };

// Logging.
inline constexpr int HSA_AMD_LOG_FLAG_AQL = 0;
inline constexpr int HSA_AMD_LOG_FLAG_SDMA = 1;
inline constexpr int HSA_AMD_LOG_FLAG_INFO = 2;

// hsa: memory as a file descriptor, which other libraries and processes can map. On hardware it is a dma-buf of the
// kernel driver's; Atoll's is a file in memory (machine::MemoryFile) that an allocation's pages move into the first
// time that it is exported. Source: hsa_ext_amd.h, hsa_amd_portable_export_dmabuf_v2, hsa_amd_interop_map_buffer.
#include <unistd.h>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll;
using namespace Atoll::hsa;

namespace {

/// The file that memory is in, and where in it `address` lies.
std::shared_ptr<const machine::MemoryFile> file_of(const MemoryRecord& record, uint64_t address, uint64_t& offset) {
  if (record.type == static_cast<hsa_amd_pointer_type_t>(HSA_EXT_POINTER_TYPE_HSA_VMEM)) {
    return Runtime::get()->virtual_memory.file_at(address, offset);
  }
  offset = address - record.address;
  return Runtime::get()->memory.share(record, "hsa_amd_portable_export_dmabuf");
}

}  // namespace

hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void* ptr, size_t size, int* dmabuf, uint64_t* offset,
                                               uint64_t flags) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || size == 0 || dmabuf == nullptr || offset == nullptr ||
      (flags & ~uint64_t{HSA_AMD_DMABUF_MAPPING_TYPE_PCIE}) != 0) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto address = reinterpret_cast<uint64_t>(ptr);
  const auto record = Runtime::get()->find_memory(ptr);
  if (!record || record->pool == nullptr || record->type == HSA_EXT_POINTER_TYPE_LOCKED ||
      !record->holds_range(address, size)) {
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  }
  if (!record->pool->owner->is_gpu()) return HSA_STATUS_ERROR_INVALID_AGENT;
  uint64_t start = 0;
  const auto file = file_of(*record, address, start);
  if (file == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const auto descriptor = file->duplicate();
  if (!descriptor) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *dmabuf = *descriptor;
  *offset = start;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_portable_export_dmabuf(const void* ptr, size_t size, int* dmabuf, uint64_t* offset) {
  return hsa_amd_portable_export_dmabuf_v2(ptr, size, dmabuf, offset, HSA_AMD_DMABUF_MAPPING_TYPE_NONE);
}

hsa_status_t hsa_amd_portable_close_dmabuf(int dmabuf) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return close(dmabuf) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_RESOURCE_FREE;
}

// Importing: on hardware buffers of graphics drivers, here what these functions and hsa_amd_vmem_* export.

hsa_status_t hsa_amd_interop_map_buffer(uint32_t num_agents, hsa_agent_t* agents, int interop_handle, uint32_t flags,
                                        size_t* size, void** ptr, size_t* metadata_size, const void** metadata) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (num_agents == 0 || agents == nullptr || size == nullptr || ptr == nullptr || flags != 0) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::set<const Agent*> list;
  if (const hsa_status_t status = collect_agents(agents, num_agents, list); status != HSA_STATUS_SUCCESS) {
    return status;
  }
  const auto file = machine::MemoryFile::open(interop_handle);
  if (!file) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const hsa_status_t status = Runtime::get()->memory.attach(*file, HSA_EXT_POINTER_TYPE_GRAPHICS, list, ptr);
  if (status != HSA_STATUS_SUCCESS) return status;
  *size = (*file)->size();
  if (metadata_size != nullptr) *metadata_size = 0;  // of images, which such a buffer is not
  if (metadata != nullptr) *metadata = nullptr;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_interop_unmap_buffer(void* ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Runtime::get()->memory.detach(ptr, HSA_EXT_POINTER_TYPE_GRAPHICS);
}

// hsa: what is not implemented. Each of these functions is exported, says its name on standard error the first time
// it is called, and returns an error status.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdio>

#include "hsa/api_names.h"

namespace {

hsa_status_t missing(const char* function, std::atomic_flag& said) {
  if (!said.test_and_set()) std::fprintf(stderr, "atoll: %s is not implemented\n", function);
  return HSA_STATUS_ERROR;
}

}  // namespace

#define ATOLL_MISSING(name, ...)   \
  hsa_status_t name(__VA_ARGS__) { \
    static std::atomic_flag said;  \
    return missing(#name, said);   \
  }

// Sharing buffers with graphics drivers, of which there is none.
ATOLL_MISSING(hsa_amd_interop_map_buffer, uint32_t, hsa_agent_t*, int, uint32_t, size_t*, void**, size_t*, const void**)
ATOLL_MISSING(hsa_amd_interop_unmap_buffer, void*)

// Memory as file descriptors, and virtual memory.
ATOLL_MISSING(hsa_amd_portable_export_dmabuf, const void*, size_t, int*, uint64_t*)
ATOLL_MISSING(hsa_amd_portable_export_dmabuf_v2, const void*, size_t, int*, uint64_t*, uint64_t)
ATOLL_MISSING(hsa_amd_portable_close_dmabuf, int)
ATOLL_MISSING(hsa_amd_vmem_address_reserve, void**, size_t, uint64_t, uint64_t)
ATOLL_MISSING(hsa_amd_vmem_address_reserve_align, void**, size_t, uint64_t, uint64_t, uint64_t)
ATOLL_MISSING(hsa_amd_vmem_address_free, void*, size_t)
ATOLL_MISSING(hsa_amd_vmem_handle_create, hsa_amd_memory_pool_t, size_t, hsa_amd_memory_type_t, uint64_t,
              hsa_amd_vmem_alloc_handle_t*)
ATOLL_MISSING(hsa_amd_vmem_handle_release, hsa_amd_vmem_alloc_handle_t)
ATOLL_MISSING(hsa_amd_vmem_map, void*, size_t, size_t, hsa_amd_vmem_alloc_handle_t, uint64_t)
ATOLL_MISSING(hsa_amd_vmem_unmap, void*, size_t)
ATOLL_MISSING(hsa_amd_vmem_set_access, void*, size_t, const hsa_amd_memory_access_desc_t*, size_t)
ATOLL_MISSING(hsa_amd_vmem_get_access, void*, hsa_access_permission_t*, hsa_agent_t)
ATOLL_MISSING(hsa_amd_vmem_export_shareable_handle, int*, hsa_amd_vmem_alloc_handle_t, uint64_t)
ATOLL_MISSING(hsa_amd_vmem_import_shareable_handle, int, hsa_amd_vmem_alloc_handle_t*)
ATOLL_MISSING(hsa_amd_vmem_retain_alloc_handle, hsa_amd_vmem_alloc_handle_t*, void*)
ATOLL_MISSING(hsa_amd_vmem_get_alloc_properties_from_handle, hsa_amd_vmem_alloc_handle_t, hsa_amd_memory_pool_t*,
              hsa_amd_memory_type_t*)

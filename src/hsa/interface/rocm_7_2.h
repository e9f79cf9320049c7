// hsa: what the HSA headers of ROCm 7.2 declare and those of ROCm 5.2, with which Atoll is built, do not: values that
// enumerations have gained, structures and functions, by subject. The values of enumerations that 5.2 has are plain
// numbers here, as an enumeration cannot be extended. The images' and the tools' interfaces have files of their own.
// Source: hsa.h and hsa_ext_amd.h (interface version 1.15) of ROCm 7.2; tests/hsa/declarations compares the two.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <cstdint>

// Newer headers have the types and values themselves; there the functions are checked against their declarations.
#if HSA_AMD_INTERFACE_VERSION_MINOR == 0
#include "hsa/interface/rocm_7_2_types.h"
#endif

extern "C" {

// Signals.
uint32_t hsa_amd_signal_wait_all(uint32_t signal_count, hsa_signal_t* signals, hsa_signal_condition_t* conds,
                                 hsa_signal_value_t* values, uint64_t timeout_hint, hsa_wait_state_t wait_hint,
                                 hsa_signal_value_t* satisfying_values);

// Copy engines.
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* dst, hsa_agent_t dst_agent, const void* src,
                                                 hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
                                                 const hsa_signal_t* dep_signals, hsa_signal_t completion_signal,
                                                 hsa_amd_sdma_engine_id_t engine_id, bool force_copy_on_sdma);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t* engine_ids_mask);
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent, hsa_agent_t src_agent,
                                                      uint32_t* recommended_ids_mask);

// Virtual memory.
hsa_status_t hsa_amd_vmem_address_reserve(void** va, size_t size, uint64_t address, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_reserve_align(void** va, size_t size, uint64_t address, uint64_t alignment,
                                                uint64_t flags);
hsa_status_t hsa_amd_vmem_address_free(void* va, size_t size);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type,
                                        uint64_t flags, hsa_amd_vmem_alloc_handle_t* memory_handle);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle);
hsa_status_t hsa_amd_vmem_map(void* va, size_t size, size_t in_offset, hsa_amd_vmem_alloc_handle_t memory_handle,
                              uint64_t flags);
hsa_status_t hsa_amd_vmem_unmap(void* va, size_t size);
hsa_status_t hsa_amd_vmem_set_access(void* va, size_t size, const hsa_amd_memory_access_desc_t* desc, size_t desc_cnt);
hsa_status_t hsa_amd_vmem_get_access(void* va, hsa_access_permission_t* perms, hsa_agent_t agent_handle);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int* dmabuf_fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int dmabuf_fd, hsa_amd_vmem_alloc_handle_t* handle);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* memory_handle, void* addr);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t memory_handle,
                                                           hsa_amd_memory_pool_t* pool, hsa_amd_memory_type_t* type);

// Memory as file descriptors, and files to and from memory.
hsa_status_t hsa_amd_portable_export_dmabuf(const void* ptr, size_t size, int* dmabuf, uint64_t* offset);
hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void* ptr, size_t size, int* dmabuf, uint64_t* offset,
                                               uint64_t flags);
hsa_status_t hsa_amd_portable_close_dmabuf(int dmabuf);
hsa_status_t hsa_amd_ais_file_write(hsa_amd_ais_file_handle_t handle, void* devicePtr, uint64_t size,
                                    int64_t file_offset, uint64_t* size_copied, int32_t* status);
hsa_status_t hsa_amd_ais_file_read(hsa_amd_ais_file_handle_t handle, void* devicePtr, uint64_t size,
                                   int64_t file_offset, uint64_t* size_copied, int32_t* status);

// Queues and agents.
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* queue, hsa_queue_info_attribute_t attribute, void* value);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold);

// Streaming performance monitors, and logging.
hsa_status_t hsa_amd_spm_acquire(hsa_agent_t preferred_agent);
hsa_status_t hsa_amd_spm_release(hsa_agent_t preferred_agent);
hsa_status_t hsa_amd_spm_set_dest_buffer(hsa_agent_t preferred_agent, size_t size_in_bytes, uint32_t* timeout,
                                         uint32_t* size_copied, void* dest, bool* is_data_loss);
hsa_status_t hsa_amd_enable_logging(uint8_t* flags, void* file);

}  // extern "C"

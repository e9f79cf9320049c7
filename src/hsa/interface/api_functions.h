// hsa: the functions of the HSA API that tools may replace, in the order of the tools' tables (api_tables.h). The
// tables' layout, contents and the exported entry points are generated from these lists.
//
// F(function): exported, with a slot. T(function): only tools call it, through its slot. Source: hsa_api_trace.h of
// ROCm 7.2.
#pragma once

// clang-format off: one function to a line

#define ATOLL_HSA_CORE_FUNCTIONS(F) \
  F(hsa_init) \
  F(hsa_shut_down) \
  F(hsa_system_get_info) \
  F(hsa_system_extension_supported) \
  F(hsa_system_get_extension_table) \
  F(hsa_iterate_agents) \
  F(hsa_agent_get_info) \
  F(hsa_queue_create) \
  F(hsa_soft_queue_create) \
  F(hsa_queue_destroy) \
  F(hsa_queue_inactivate) \
  F(hsa_queue_load_read_index_scacquire) \
  F(hsa_queue_load_read_index_relaxed) \
  F(hsa_queue_load_write_index_scacquire) \
  F(hsa_queue_load_write_index_relaxed) \
  F(hsa_queue_store_write_index_relaxed) \
  F(hsa_queue_store_write_index_screlease) \
  F(hsa_queue_cas_write_index_scacq_screl) \
  F(hsa_queue_cas_write_index_scacquire) \
  F(hsa_queue_cas_write_index_relaxed) \
  F(hsa_queue_cas_write_index_screlease) \
  F(hsa_queue_add_write_index_scacq_screl) \
  F(hsa_queue_add_write_index_scacquire) \
  F(hsa_queue_add_write_index_relaxed) \
  F(hsa_queue_add_write_index_screlease) \
  F(hsa_queue_store_read_index_relaxed) \
  F(hsa_queue_store_read_index_screlease) \
  F(hsa_agent_iterate_regions) \
  F(hsa_region_get_info) \
  F(hsa_agent_get_exception_policies) \
  F(hsa_agent_extension_supported) \
  F(hsa_memory_register) \
  F(hsa_memory_deregister) \
  F(hsa_memory_allocate) \
  F(hsa_memory_free) \
  F(hsa_memory_copy) \
  F(hsa_memory_assign_agent) \
  F(hsa_signal_create) \
  F(hsa_signal_destroy) \
  F(hsa_signal_load_relaxed) \
  F(hsa_signal_load_scacquire) \
  F(hsa_signal_store_relaxed) \
  F(hsa_signal_store_screlease) \
  F(hsa_signal_wait_relaxed) \
  F(hsa_signal_wait_scacquire) \
  F(hsa_signal_and_relaxed) \
  F(hsa_signal_and_scacquire) \
  F(hsa_signal_and_screlease) \
  F(hsa_signal_and_scacq_screl) \
  F(hsa_signal_or_relaxed) \
  F(hsa_signal_or_scacquire) \
  F(hsa_signal_or_screlease) \
  F(hsa_signal_or_scacq_screl) \
  F(hsa_signal_xor_relaxed) \
  F(hsa_signal_xor_scacquire) \
  F(hsa_signal_xor_screlease) \
  F(hsa_signal_xor_scacq_screl) \
  F(hsa_signal_exchange_relaxed) \
  F(hsa_signal_exchange_scacquire) \
  F(hsa_signal_exchange_screlease) \
  F(hsa_signal_exchange_scacq_screl) \
  F(hsa_signal_add_relaxed) \
  F(hsa_signal_add_scacquire) \
  F(hsa_signal_add_screlease) \
  F(hsa_signal_add_scacq_screl) \
  F(hsa_signal_subtract_relaxed) \
  F(hsa_signal_subtract_scacquire) \
  F(hsa_signal_subtract_screlease) \
  F(hsa_signal_subtract_scacq_screl) \
  F(hsa_signal_cas_relaxed) \
  F(hsa_signal_cas_scacquire) \
  F(hsa_signal_cas_screlease) \
  F(hsa_signal_cas_scacq_screl) \
  F(hsa_isa_from_name) \
  F(hsa_isa_get_info) \
  F(hsa_isa_compatible) \
  F(hsa_code_object_serialize) \
  F(hsa_code_object_deserialize) \
  F(hsa_code_object_destroy) \
  F(hsa_code_object_get_info) \
  F(hsa_code_object_get_symbol) \
  F(hsa_code_symbol_get_info) \
  F(hsa_code_object_iterate_symbols) \
  F(hsa_executable_create) \
  F(hsa_executable_destroy) \
  F(hsa_executable_load_code_object) \
  F(hsa_executable_freeze) \
  F(hsa_executable_get_info) \
  F(hsa_executable_global_variable_define) \
  F(hsa_executable_agent_global_variable_define) \
  F(hsa_executable_readonly_variable_define) \
  F(hsa_executable_validate) \
  F(hsa_executable_get_symbol) \
  F(hsa_executable_symbol_get_info) \
  F(hsa_executable_iterate_symbols) \
  F(hsa_status_string) \
  F(hsa_extension_get_name) \
  F(hsa_system_major_extension_supported) \
  F(hsa_system_get_major_extension_table) \
  F(hsa_agent_major_extension_supported) \
  F(hsa_cache_get_info) \
  F(hsa_agent_iterate_caches) \
  F(hsa_signal_silent_store_relaxed) \
  F(hsa_signal_silent_store_screlease) \
  F(hsa_signal_group_create) \
  F(hsa_signal_group_destroy) \
  F(hsa_signal_group_wait_any_scacquire) \
  F(hsa_signal_group_wait_any_relaxed) \
  F(hsa_agent_iterate_isas) \
  F(hsa_isa_get_info_alt) \
  F(hsa_isa_get_exception_policies) \
  F(hsa_isa_get_round_method) \
  F(hsa_wavefront_get_info) \
  F(hsa_isa_iterate_wavefronts) \
  F(hsa_code_object_get_symbol_from_name) \
  F(hsa_code_object_reader_create_from_file) \
  F(hsa_code_object_reader_create_from_memory) \
  F(hsa_code_object_reader_destroy) \
  F(hsa_executable_create_alt) \
  F(hsa_executable_load_program_code_object) \
  F(hsa_executable_load_agent_code_object) \
  F(hsa_executable_validate_alt) \
  F(hsa_executable_get_symbol_by_name) \
  F(hsa_executable_iterate_agent_symbols) \
  F(hsa_executable_iterate_program_symbols)

#define ATOLL_HSA_AMD_FUNCTIONS(F, T) \
  F(hsa_amd_coherency_get_type) \
  F(hsa_amd_coherency_set_type) \
  F(hsa_amd_profiling_set_profiler_enabled) \
  F(hsa_amd_profiling_async_copy_enable) \
  F(hsa_amd_profiling_get_dispatch_time) \
  F(hsa_amd_profiling_get_async_copy_time) \
  F(hsa_amd_profiling_convert_tick_to_system_domain) \
  F(hsa_amd_signal_async_handler) \
  F(hsa_amd_async_function) \
  F(hsa_amd_signal_wait_any) \
  F(hsa_amd_queue_cu_set_mask) \
  F(hsa_amd_memory_pool_get_info) \
  F(hsa_amd_agent_iterate_memory_pools) \
  F(hsa_amd_memory_pool_allocate) \
  F(hsa_amd_memory_pool_free) \
  F(hsa_amd_memory_async_copy) \
  F(hsa_amd_memory_async_copy_on_engine) \
  F(hsa_amd_memory_copy_engine_status) \
  F(hsa_amd_agent_memory_pool_get_info) \
  F(hsa_amd_agents_allow_access) \
  F(hsa_amd_memory_pool_can_migrate) \
  F(hsa_amd_memory_migrate) \
  F(hsa_amd_memory_lock) \
  F(hsa_amd_memory_unlock) \
  F(hsa_amd_memory_fill) \
  F(hsa_amd_interop_map_buffer) \
  F(hsa_amd_interop_unmap_buffer) \
  F(hsa_amd_image_create) \
  F(hsa_amd_pointer_info) \
  F(hsa_amd_pointer_info_set_userdata) \
  F(hsa_amd_ipc_memory_create) \
  F(hsa_amd_ipc_memory_attach) \
  F(hsa_amd_ipc_memory_detach) \
  F(hsa_amd_signal_create) \
  F(hsa_amd_ipc_signal_create) \
  F(hsa_amd_ipc_signal_attach) \
  F(hsa_amd_register_system_event_handler) \
  T(hsa_amd_queue_intercept_create) \
  T(hsa_amd_queue_intercept_register) \
  F(hsa_amd_queue_set_priority) \
  F(hsa_amd_memory_async_copy_rect) \
  T(hsa_amd_runtime_queue_create_register) \
  F(hsa_amd_memory_lock_to_pool) \
  F(hsa_amd_register_deallocation_callback) \
  F(hsa_amd_deregister_deallocation_callback) \
  F(hsa_amd_signal_value_pointer) \
  F(hsa_amd_svm_attributes_set) \
  F(hsa_amd_svm_attributes_get) \
  F(hsa_amd_svm_prefetch_async) \
  F(hsa_amd_spm_acquire) \
  F(hsa_amd_spm_release) \
  F(hsa_amd_spm_set_dest_buffer) \
  F(hsa_amd_queue_cu_get_mask) \
  F(hsa_amd_portable_export_dmabuf) \
  F(hsa_amd_portable_close_dmabuf) \
  F(hsa_amd_vmem_address_reserve) \
  F(hsa_amd_vmem_address_free) \
  F(hsa_amd_vmem_handle_create) \
  F(hsa_amd_vmem_handle_release) \
  F(hsa_amd_vmem_map) \
  F(hsa_amd_vmem_unmap) \
  F(hsa_amd_vmem_set_access) \
  F(hsa_amd_vmem_get_access) \
  F(hsa_amd_vmem_export_shareable_handle) \
  F(hsa_amd_vmem_import_shareable_handle) \
  F(hsa_amd_vmem_retain_alloc_handle) \
  F(hsa_amd_vmem_get_alloc_properties_from_handle) \
  F(hsa_amd_agent_set_async_scratch_limit) \
  F(hsa_amd_queue_get_info) \
  F(hsa_amd_vmem_address_reserve_align) \
  F(hsa_amd_enable_logging) \
  F(hsa_amd_signal_wait_all) \
  F(hsa_amd_memory_get_preferred_copy_engine) \
  F(hsa_amd_portable_export_dmabuf_v2) \
  F(hsa_amd_ais_file_write) \
  F(hsa_amd_ais_file_read)

#define ATOLL_HSA_FINALIZER_FUNCTIONS(F) \
  F(hsa_ext_program_create) \
  F(hsa_ext_program_destroy) \
  F(hsa_ext_program_add_module) \
  F(hsa_ext_program_iterate_modules) \
  F(hsa_ext_program_get_info) \
  F(hsa_ext_program_finalize)

#define ATOLL_HSA_IMAGE_FUNCTIONS(F) \
  F(hsa_ext_image_get_capability) \
  F(hsa_ext_image_data_get_info) \
  F(hsa_ext_image_create) \
  F(hsa_ext_image_import) \
  F(hsa_ext_image_export) \
  F(hsa_ext_image_copy) \
  F(hsa_ext_image_clear) \
  F(hsa_ext_image_destroy) \
  F(hsa_ext_sampler_create) \
  F(hsa_ext_sampler_destroy) \
  F(hsa_ext_image_get_capability_with_layout) \
  F(hsa_ext_image_data_get_info_with_layout) \
  F(hsa_ext_image_create_with_layout) \
  F(hsa_ext_sampler_create_v2)

#define ATOLL_HSA_PC_SAMPLING_FUNCTIONS(F) \
  F(hsa_ven_amd_pcs_iterate_configuration) \
  F(hsa_ven_amd_pcs_create) \
  F(hsa_ven_amd_pcs_create_from_id) \
  F(hsa_ven_amd_pcs_destroy) \
  F(hsa_ven_amd_pcs_start) \
  F(hsa_ven_amd_pcs_stop) \
  F(hsa_ven_amd_pcs_flush)

// Deprecated names of functions: the name, and the function of the core table that a call goes to.
#define ATOLL_HSA_OLD_NAMES(F) \
  F(hsa_queue_add_write_index_acq_rel, hsa_queue_add_write_index_scacq_screl) \
  F(hsa_queue_add_write_index_acquire, hsa_queue_add_write_index_scacquire) \
  F(hsa_queue_add_write_index_release, hsa_queue_add_write_index_screlease) \
  F(hsa_queue_cas_write_index_acq_rel, hsa_queue_cas_write_index_scacq_screl) \
  F(hsa_queue_cas_write_index_acquire, hsa_queue_cas_write_index_scacquire) \
  F(hsa_queue_cas_write_index_release, hsa_queue_cas_write_index_screlease) \
  F(hsa_queue_load_read_index_acquire, hsa_queue_load_read_index_scacquire) \
  F(hsa_queue_load_write_index_acquire, hsa_queue_load_write_index_scacquire) \
  F(hsa_queue_store_read_index_release, hsa_queue_store_read_index_screlease) \
  F(hsa_queue_store_write_index_release, hsa_queue_store_write_index_screlease) \
  F(hsa_signal_add_acq_rel, hsa_signal_add_scacq_screl) \
  F(hsa_signal_add_acquire, hsa_signal_add_scacquire) \
  F(hsa_signal_add_release, hsa_signal_add_screlease) \
  F(hsa_signal_and_acq_rel, hsa_signal_and_scacq_screl) \
  F(hsa_signal_and_acquire, hsa_signal_and_scacquire) \
  F(hsa_signal_and_release, hsa_signal_and_screlease) \
  F(hsa_signal_cas_acq_rel, hsa_signal_cas_scacq_screl) \
  F(hsa_signal_cas_acquire, hsa_signal_cas_scacquire) \
  F(hsa_signal_cas_release, hsa_signal_cas_screlease) \
  F(hsa_signal_exchange_acq_rel, hsa_signal_exchange_scacq_screl) \
  F(hsa_signal_exchange_acquire, hsa_signal_exchange_scacquire) \
  F(hsa_signal_exchange_release, hsa_signal_exchange_screlease) \
  F(hsa_signal_load_acquire, hsa_signal_load_scacquire) \
  F(hsa_signal_or_acq_rel, hsa_signal_or_scacq_screl) \
  F(hsa_signal_or_acquire, hsa_signal_or_scacquire) \
  F(hsa_signal_or_release, hsa_signal_or_screlease) \
  F(hsa_signal_store_release, hsa_signal_store_screlease) \
  F(hsa_signal_subtract_acq_rel, hsa_signal_subtract_scacq_screl) \
  F(hsa_signal_subtract_acquire, hsa_signal_subtract_scacquire) \
  F(hsa_signal_subtract_release, hsa_signal_subtract_screlease) \
  F(hsa_signal_wait_acquire, hsa_signal_wait_scacquire) \
  F(hsa_signal_xor_acq_rel, hsa_signal_xor_scacq_screl) \
  F(hsa_signal_xor_acquire, hsa_signal_xor_scacquire) \
  F(hsa_signal_xor_release, hsa_signal_xor_screlease)

// What each function says of arguments that are wrong: the statuses that hsa.h, hsa_ext_amd.h and the extensions'
// headers document; where they leave it open, what ROCr returns.
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/kernels.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

#define EXPECT_STATUS(status, call) EXPECT_EQ(static_cast<int>(call), int{HSA_STATUS_##status}) << #call

class HsaStatuses : public HsaTest {
 protected:
  static constexpr hsa_agent_t no_agent{64};
  static constexpr hsa_amd_memory_pool_t no_pool{64};
  static constexpr hsa_region_t no_region{64};
  static constexpr hsa_signal_t no_signal{64};
  static constexpr hsa_executable_t no_executable{64};
  static constexpr hsa_isa_t no_isa{64};

  /// A buffer for answers, large enough for all.
  template <typename T = void>
  T* answer() {
    return reinterpret_cast<T*>(memory);
  }
  static hsa_status_t on_agent(hsa_agent_t, void*) { return HSA_STATUS_SUCCESS; }

  alignas(16) char memory[4096] = {};
};

TEST_F(HsaStatuses, OfSystemAndAgents) {
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_iterate_agents(nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_system_get_info(static_cast<hsa_system_info_t>(9999), answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_status_string(HSA_STATUS_SUCCESS, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_status_string(static_cast<hsa_status_t>(-5), answer<const char*>()));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_agent_get_info(no_agent, HSA_AGENT_INFO_NAME, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(9999), answer()));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_agent_get_exception_policies(no_agent, HSA_PROFILE_FULL, answer<uint16_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_get_exception_policies(gpu, HSA_PROFILE_FULL, nullptr));
  const auto on_cache = [](hsa_cache_t, void*) { return HSA_STATUS_SUCCESS; };
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_agent_iterate_caches(no_agent, on_cache, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_iterate_caches(gpu, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_CACHE, hsa_cache_get_info({64}, HSA_CACHE_INFO_SIZE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_system_major_extension_supported(HSA_EXTENSION_IMAGES, 1, nullptr, answer<bool>()));
  EXPECT_STATUS(ERROR_INVALID_AGENT,
                hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, no_agent, 1, 0, answer<bool>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, gpu, 1, 0, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_register_system_event_handler(nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_amd_coherency_get_type(no_agent, answer<hsa_amd_coherency_type_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_coherency_get_type(gpu, nullptr));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_amd_coherency_set_type(no_agent, HSA_AMD_COHERENCY_TYPE_COHERENT));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_coherency_set_type(gpu, static_cast<hsa_amd_coherency_type_t>(7)));
}

TEST_F(HsaStatuses, OfInstructionSets) {
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_isa_from_name(nullptr, answer<hsa_isa_t>()));
  EXPECT_STATUS(ERROR_INVALID_ISA_NAME, hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1", answer<hsa_isa_t>()));
  const auto on_isa = [](hsa_isa_t isa, void* data) {
    *static_cast<hsa_isa_t*>(data) = isa;
    return HSA_STATUS_INFO_BREAK;
  };
  hsa_isa_t isa{};
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_agent_iterate_isas(no_agent, on_isa, &isa));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_iterate_isas(gpu, nullptr, nullptr));
  ASSERT_EQ(hsa_agent_iterate_isas(gpu, on_isa, &isa), HSA_STATUS_INFO_BREAK);
  EXPECT_STATUS(ERROR_INVALID_ISA, hsa_isa_get_info_alt(no_isa, HSA_ISA_INFO_NAME, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ISA, hsa_isa_get_exception_policies(no_isa, HSA_PROFILE_FULL, answer<uint16_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_isa_get_exception_policies(isa, HSA_PROFILE_FULL, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ISA,
                hsa_isa_get_round_method(no_isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_FTZ, answer<hsa_round_method_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_isa_get_round_method(isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_FTZ, nullptr));
  const auto on_wavefront = [](hsa_wavefront_t, void*) { return HSA_STATUS_SUCCESS; };
  EXPECT_STATUS(ERROR_INVALID_ISA, hsa_isa_iterate_wavefronts(no_isa, on_wavefront, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_isa_iterate_wavefronts(isa, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_WAVEFRONT, hsa_wavefront_get_info({64}, HSA_WAVEFRONT_INFO_SIZE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ISA, hsa_isa_compatible(no_isa, isa, answer<bool>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_isa_compatible(isa, isa, nullptr));
}

TEST_F(HsaStatuses, OfPoolsAndRegions) {
  const auto on_pool = [](hsa_amd_memory_pool_t, void*) { return HSA_STATUS_SUCCESS; };
  const auto on_region = [](hsa_region_t, void*) { return HSA_STATUS_SUCCESS; };
  void* pointer = nullptr;
  EXPECT_STATUS(ERROR_INVALID_MEMORY_POOL,
                hsa_amd_memory_pool_get_info(no_pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_amd_memory_pool_get_info(gpu_pools[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, nullptr));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_amd_agent_iterate_memory_pools(no_agent, on_pool, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_agent_iterate_memory_pools(gpu, nullptr, nullptr));
  constexpr auto access = HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS;
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_amd_agent_memory_pool_get_info(no_agent, gpu_pools[0], access, answer()));
  EXPECT_STATUS(ERROR_INVALID_MEMORY_POOL, hsa_amd_agent_memory_pool_get_info(gpu, no_pool, access, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_agent_memory_pool_get_info(gpu, gpu_pools[0], access, nullptr));
  EXPECT_STATUS(ERROR_INVALID_MEMORY_POOL, hsa_amd_memory_pool_allocate(no_pool, 64, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_memory_pool_allocate(gpu_pools[0], 0, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_memory_pool_allocate(gpu_pools[0], 64, 0, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_allocate(gpu_pools[0], SIZE_MAX, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_allocate(gpu_pools[2], 64, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_free(memory));
  EXPECT_STATUS(ERROR_INVALID_MEMORY_POOL, hsa_amd_memory_migrate(memory, no_pool, 0));
  EXPECT_STATUS(ERROR_INVALID_REGION, hsa_region_get_info(no_region, HSA_REGION_INFO_SIZE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_region_get_info({gpu_pools[0].handle}, HSA_REGION_INFO_SIZE, nullptr));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_agent_iterate_regions(no_agent, on_region, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_agent_iterate_regions(gpu, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_REGION, hsa_memory_allocate(no_region, 64, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_memory_allocate({gpu_pools[0].handle}, 0, &pointer));
  EXPECT_EQ(pointer, nullptr);
}

TEST_F(HsaStatuses, OfMemory) {
  const auto on_free = [](void*, void*) {};
  void* pointer = nullptr;
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_agents_allow_access(0, &gpu, nullptr, memory));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_agents_allow_access(1, nullptr, nullptr, memory));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_agents_allow_access(1, &gpu, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_memory_lock(nullptr, 64, nullptr, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_memory_lock(memory, 0, nullptr, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_MEMORY_POOL, hsa_amd_memory_lock_to_pool(memory, 64, nullptr, 0, no_pool, 0, &pointer));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_memory_register(memory, 0));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_memory_copy(nullptr, memory, 64));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_amd_pointer_info(nullptr, answer<hsa_amd_pointer_info_t>(), nullptr, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_pointer_info(memory, nullptr, nullptr, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_pointer_info_set_userdata(memory, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_register_deallocation_callback(nullptr, on_free, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_register_deallocation_callback(memory, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ALLOCATION, hsa_amd_register_deallocation_callback(memory, on_free, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_ipc_memory_create(memory, 64, nullptr));
  int descriptor = -1;
  uint64_t offset = 0;
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_portable_export_dmabuf(nullptr, 64, &descriptor, &offset));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_portable_export_dmabuf(memory, 64, nullptr, &offset));
  EXPECT_STATUS(ERROR_INVALID_SIGNAL, hsa_amd_svm_prefetch_async(memory, 64, gpu, 0, nullptr, no_signal));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_amd_svm_prefetch_async(memory, 64, no_agent, 0, nullptr, {0}));
}

TEST_F(HsaStatuses, OfSignals) {
  hsa_signal_t signal{};
  const auto handler = [](hsa_signal_value_t, void*) { return false; };
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_signal_create(0, 0, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_signal_create(0, 1, nullptr, &signal));
  const hsa_agent_t twice[] = {gpu, gpu};
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_signal_create(0, 2, twice, &signal));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_signal_value_pointer(no_signal, nullptr));
  EXPECT_STATUS(ERROR_INVALID_SIGNAL, hsa_amd_signal_value_pointer(no_signal, answer<volatile hsa_signal_value_t*>()));
  EXPECT_STATUS(ERROR_INVALID_SIGNAL,
                hsa_amd_signal_async_handler(no_signal, HSA_SIGNAL_CONDITION_EQ, 0, handler, nullptr));
  signal = make_signal(1);
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_async_function(nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_signal_group_create(0, &signal, 0, nullptr, answer<hsa_signal_group_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_signal_group_create(1, &signal, 0, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_SIGNAL_GROUP, hsa_signal_group_destroy({64}));
  EXPECT_STATUS(ERROR_INVALID_SIGNAL,
                hsa_amd_profiling_get_dispatch_time(gpu, no_signal, answer<hsa_amd_profiling_dispatch_time_t>()));
  EXPECT_STATUS(ERROR_INVALID_AGENT,
                hsa_amd_profiling_get_dispatch_time(no_agent, signal, answer<hsa_amd_profiling_dispatch_time_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_profiling_get_dispatch_time(gpu, signal, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_profiling_get_async_copy_time(signal, nullptr));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_amd_profiling_convert_tick_to_system_domain(no_agent, 1, answer<uint64_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_profiling_convert_tick_to_system_domain(gpu, 1, nullptr));
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaStatuses, OfQueues) {
  hsa_queue_t* queue = nullptr;
  const auto create = [&](hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type) {
    return hsa_queue_create(agent, size, type, nullptr, nullptr, 0, 0, &queue);
  };
  EXPECT_STATUS(ERROR_INVALID_AGENT, create(no_agent, 64, HSA_QUEUE_TYPE_MULTI));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, create(gpu, 64, 77));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, create(gpu, 0, HSA_QUEUE_TYPE_MULTI));
  EXPECT_STATUS(ERROR_INVALID_QUEUE_CREATION, create(cpu, 64, HSA_QUEUE_TYPE_MULTI));
  const hsa_signal_t doorbell = make_signal(0);
  const hsa_region_t region{system_pools[0].handle};
  const auto create_soft = [&](hsa_region_t where, uint32_t size, uint32_t features, hsa_signal_t signal) {
    return hsa_soft_queue_create(where, size, HSA_QUEUE_TYPE_MULTI, features, signal, &queue);
  };
  constexpr uint32_t agent_dispatch = HSA_QUEUE_FEATURE_AGENT_DISPATCH;
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, create_soft(region, 3, agent_dispatch, doorbell));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, create_soft(region, 64, 0, doorbell));
  EXPECT_STATUS(ERROR_INVALID_REGION, create_soft(no_region, 64, agent_dispatch, doorbell));
  EXPECT_STATUS(ERROR_INVALID_SIGNAL, create_soft(region, 64, agent_dispatch, no_signal));
  EXPECT_STATUS(ERROR_OUT_OF_RESOURCES, create_soft(region, 1u << 31, agent_dispatch, doorbell));
  EXPECT_EQ(queue, nullptr);
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_queue_inactivate(nullptr));
  hsa_queue_t foreign{};
  uint32_t mask = 1;
  EXPECT_STATUS(ERROR_INVALID_QUEUE, hsa_queue_inactivate(&foreign));
  EXPECT_STATUS(ERROR_INVALID_QUEUE, hsa_amd_queue_cu_set_mask(&foreign, 32, &mask));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_queue_cu_set_mask(&foreign, 31, &mask));
  EXPECT_STATUS(ERROR_INVALID_QUEUE, hsa_amd_queue_cu_get_mask(&foreign, 32, &mask));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_amd_queue_cu_get_mask(&foreign, 0, &mask));
  EXPECT_STATUS(ERROR_INVALID_QUEUE, hsa_amd_queue_set_priority(&foreign, HSA_AMD_QUEUE_PRIORITY_LOW));
  EXPECT_STATUS(ERROR_INVALID_QUEUE, hsa_amd_profiling_set_profiler_enabled(&foreign, 1));
  EXPECT_EQ(hsa_signal_destroy(doorbell), HSA_STATUS_SUCCESS);
}

TEST_F(HsaStatuses, OfCodeAndExecutables) {
  hsa_code_object_reader_t reader{};
  hsa_executable_t executable{};
  hsa_executable_symbol_t symbol{};
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(nullptr, 64, &reader));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(memory, 0, &reader));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_code_object_reader_create_from_memory(memory, 64, nullptr));
  EXPECT_STATUS(ERROR_INVALID_FILE, hsa_code_object_reader_create_from_file(-1, &reader));
  EXPECT_STATUS(ERROR_INVALID_CODE_OBJECT_READER, hsa_code_object_reader_destroy({64}));
  constexpr auto rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT;
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_create_alt(HSA_PROFILE_FULL, rounding, nullptr, nullptr));
  ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, rounding, nullptr, &executable), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_code_object_reader_create_from_memory(memory, sizeof memory, &reader), HSA_STATUS_SUCCESS);
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE,
                hsa_executable_load_agent_code_object(no_executable, gpu, reader, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_AGENT,
                hsa_executable_load_agent_code_object(executable, no_agent, reader, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_CODE_OBJECT_READER,
                hsa_executable_load_agent_code_object(executable, gpu, {64}, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_CODE_OBJECT,
                hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE,
                hsa_executable_load_program_code_object(no_executable, reader, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE, hsa_executable_freeze(no_executable, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE, hsa_executable_get_info(no_executable, HSA_EXECUTABLE_INFO_STATE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_get_info(executable, HSA_EXECUTABLE_INFO_STATE, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE, hsa_executable_validate(no_executable, answer<uint32_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_validate(executable, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE, hsa_executable_get_symbol_by_name(no_executable, "f", &gpu, &symbol));
  EXPECT_STATUS(ERROR_INVALID_SYMBOL_NAME, hsa_executable_get_symbol_by_name(executable, "f", &gpu, &symbol));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_get_symbol_by_name(executable, "f", &gpu, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE_SYMBOL,
                hsa_executable_symbol_get_info({64}, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_iterate_symbols(executable, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_iterate_agent_symbols(executable, gpu, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_executable_iterate_program_symbols(executable, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE, hsa_executable_destroy(no_executable));
  EXPECT_STATUS(ERROR_INVALID_CODE_OBJECT, hsa_code_object_destroy({64}));
  EXPECT_STATUS(ERROR_INVALID_CODE_OBJECT, hsa_code_object_get_info({64}, HSA_CODE_OBJECT_INFO_TYPE, answer()));
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

// hsa_ven_amd_loader.h; what it leaves open is ROCr's.
TEST_F(HsaStatuses, OfTheLoaderExtension) {
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_host_address(nullptr, answer<const void*>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_host_address(memory, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_host_address(memory, answer<const void*>()));
  size_t none = 0, one = 1;
  hsa_ven_amd_loader_segment_descriptor_t segment{};
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_segment_descriptors(nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_segment_descriptors(nullptr, &one));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_segment_descriptors(&segment, &none));
  EXPECT_STATUS(ERROR_INCOMPATIBLE_ARGUMENTS, hsa_ven_amd_loader_query_segment_descriptors(&segment, &one));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_executable(memory, answer<hsa_executable_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_executable(nullptr, answer<hsa_executable_t>()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_query_executable(memory, nullptr));
  const auto on_object = [](hsa_executable_t, hsa_loaded_code_object_t, void*) { return HSA_STATUS_SUCCESS; };
  EXPECT_STATUS(ERROR_INVALID_EXECUTABLE,
                hsa_ven_amd_loader_executable_iterate_loaded_code_objects(no_executable, on_object, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_ven_amd_loader_executable_iterate_loaded_code_objects(no_executable, nullptr, nullptr));
  EXPECT_STATUS(ERROR_INVALID_CODE_OBJECT, hsa_ven_amd_loader_loaded_code_object_get_info(
                                               {64}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE, answer()));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ven_amd_loader_iterate_executables(nullptr, nullptr));
  hsa_code_object_reader_t reader{};
  EXPECT_STATUS(ERROR_INVALID_FILE,
                hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(-1, 0, 64, &reader));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(0, 0, 0, &reader));
}

class HsaStatusesOfGfx906 : public HsaStatuses {
 protected:
  HsaStatusesOfGfx906() { gpu_name = "gfx906"; }
};

// hsa_ext_image.h.
TEST_F(HsaStatusesOfGfx906, OfImages) {
  constexpr int bad_format = HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
                bad_size = HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED,
                bad_pitch = HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED,
                bad_sampler = HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED;
  constexpr auto read_write = HSA_ACCESS_PERMISSION_RW;
  constexpr auto linear = HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR;
  const hsa_ext_image_format_t format{HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};
  const hsa_ext_image_descriptor_t square{HSA_EXT_IMAGE_GEOMETRY_2D, 64, 64, 0, 0, format};
  auto* capability = answer<uint32_t>();
  EXPECT_STATUS(ERROR_INVALID_AGENT,
                hsa_ext_image_get_capability(no_agent, HSA_EXT_IMAGE_GEOMETRY_2D, &format, capability));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, nullptr, capability));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &format, nullptr));

  hsa_ext_image_data_info_t info{};
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_data_get_info(no_agent, &square, read_write, &info));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_data_get_info(gpu, nullptr, read_write, &info));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_data_get_info(gpu, &square, read_write, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT,
                hsa_ext_image_data_get_info(gpu, &square, static_cast<hsa_access_permission_t>(9), &info));
  hsa_ext_image_descriptor_t wrong = square;
  wrong.format.channel_type = HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565;  // is of RGB
  EXPECT_EQ(static_cast<int>(hsa_ext_image_data_get_info(gpu, &wrong, read_write, &info)), bad_format);
  wrong = square;
  wrong.width = size_t{1} << 30;
  EXPECT_EQ(static_cast<int>(hsa_ext_image_data_get_info(gpu, &wrong, read_write, &info)), bad_size);
  EXPECT_EQ(static_cast<int>(
                hsa_ext_image_data_get_info_with_layout(gpu, &square, read_write, linear, /*row_pitch=*/8, 0, &info)),
            bad_pitch);

  ASSERT_EQ(hsa_ext_image_data_get_info(gpu, &square, read_write, &info), HSA_STATUS_SUCCESS);
  auto* data = allocate<char>(gpu_pools[0], info.size);
  hsa_ext_image_t image{};
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_create(no_agent, &square, data, read_write, &image));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_create(gpu, nullptr, data, read_write, &image));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_create(gpu, &square, nullptr, read_write, &image));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_create(gpu, &square, data + 1, read_write, &image));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_create(gpu, &square, data, read_write, nullptr));
  ASSERT_EQ(hsa_ext_image_create(gpu, &square, data, read_write, &image), HSA_STATUS_SUCCESS);

  const hsa_ext_image_region_t all{{0, 0, 0}, {64, 64, 1}}, past{{1, 0, 0}, {64, 64, 1}};
  const hsa_dim3_t corner{0, 0, 0};
  auto* pixels = allocate<char>(system_pools[0], info.size);
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_import(no_agent, pixels, 0, 0, image, &all));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_import(gpu, nullptr, 0, 0, image, &all));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_import(gpu, pixels, 0, 0, image, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_import(gpu, pixels, 0, 0, image, &past));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_export(no_agent, image, pixels, 0, 0, &all));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_export(gpu, image, nullptr, 0, 0, &all));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_export(gpu, image, pixels, 0, 0, &past));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_copy(no_agent, image, &corner, image, &corner, &all.range));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_copy(gpu, image, nullptr, image, &corner, &all.range));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_copy(gpu, image, &past.offset, image, &corner, &all.range));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_clear(no_agent, image, pixels, &all));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_clear(gpu, image, nullptr, &all));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_clear(gpu, image, pixels, nullptr));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_clear(gpu, image, pixels, &past));
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_image_destroy(no_agent, image));
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_image_destroy(gpu, image));

  hsa_ext_sampler_descriptor_t how{HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED, HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
                                   HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT};
  hsa_ext_sampler_t sampler{};
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_sampler_create(no_agent, &how, &sampler));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_sampler_create(gpu, nullptr, &sampler));
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_sampler_create(gpu, &how, nullptr));
  how.filter_mode = 9;
  EXPECT_EQ(static_cast<int>(hsa_ext_sampler_create(gpu, &how, &sampler)), bad_sampler);
  how.filter_mode = HSA_EXT_SAMPLER_FILTER_MODE_LINEAR;
  ASSERT_EQ(hsa_ext_sampler_create(gpu, &how, &sampler), HSA_STATUS_SUCCESS);
  EXPECT_STATUS(ERROR_INVALID_AGENT, hsa_ext_sampler_destroy(no_agent, sampler));
  EXPECT_EQ(hsa_ext_sampler_destroy(gpu, sampler), HSA_STATUS_SUCCESS);
  EXPECT_STATUS(ERROR_INVALID_ARGUMENT, hsa_ext_sampler_destroy(gpu, sampler));
}

// hsa.h: "The HSA runtime has not been initialized."
TEST(HsaStatusesBefore, EverythingIsNotInitialized) {
  ASSERT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED) << "a test before has left the runtime initialized";
  alignas(16) char memory[1024] = {};
  void* pointer = nullptr;
  hsa_queue_t* queue = nullptr;
  hsa_signal_t signal{};
  hsa_executable_t executable{};
  hsa_code_object_reader_t reader{};
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, memory));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_agent_get_info({1}, HSA_AGENT_INFO_NAME, memory));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_signal_create(0, 0, nullptr, &signal));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_signal_destroy({64}));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_queue_create({1}, 64, 0, nullptr, nullptr, 0, 0, &queue));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_queue_destroy(queue));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_memory_allocate({1}, 64, &pointer));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_memory_free(memory));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_memory_copy(memory, memory + 64, 64));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_amd_memory_pool_allocate({1}, 64, 0, &pointer));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_amd_memory_fill(memory, 0, 1));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_amd_memory_lock(memory, 64, nullptr, 0, &pointer));
  EXPECT_STATUS(
      ERROR_NOT_INITIALIZED,
      hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_code_object_reader_create_from_memory(memory, 64, &reader));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_isa_from_name("gfx900", reinterpret_cast<hsa_isa_t*>(memory)));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_amd_async_function([](void*) {}, nullptr));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_amd_vmem_address_reserve(&pointer, 4096, 0, 0));
  EXPECT_STATUS(ERROR_NOT_INITIALIZED, hsa_amd_svm_attributes_get(memory, 64, nullptr, 0));
}

}  // namespace

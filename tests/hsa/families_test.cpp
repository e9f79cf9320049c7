// Functions that exist in several memory orders and under older names, each against what C++ makes of the same values;
// and small queries about instruction sets, extensions, pools and memory.
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <cstring>
#include <set>
#include <string>
#include <tuple>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/kernels.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

using HsaFamilies = HsaTest;

constexpr hsa_signal_value_t start = 0x00FF'1234'5678'9ABC, operand = 0x0F0F'0000'FFFF'0123;

TEST_F(HsaFamilies, SignalsChangeInEveryOrder) {
  const hsa_signal_t signal = make_signal(0);
  const auto check = [&](auto expected, auto functions) {
    for (const auto function : functions) {
      hsa_signal_store_relaxed(signal, start);
      function(signal, operand);
      EXPECT_EQ(hsa_signal_load_relaxed(signal), expected);
    }
  };
  using Changes = std::initializer_list<void (*)(hsa_signal_t, hsa_signal_value_t)>;
  check(start & operand,
        Changes{hsa_signal_and_relaxed, hsa_signal_and_scacquire, hsa_signal_and_acquire, hsa_signal_and_screlease,
                hsa_signal_and_release, hsa_signal_and_scacq_screl, hsa_signal_and_acq_rel});
  check(start | operand,
        Changes{hsa_signal_or_relaxed, hsa_signal_or_scacquire, hsa_signal_or_acquire, hsa_signal_or_screlease,
                hsa_signal_or_release, hsa_signal_or_scacq_screl, hsa_signal_or_acq_rel});
  check(start ^ operand,
        Changes{hsa_signal_xor_relaxed, hsa_signal_xor_scacquire, hsa_signal_xor_acquire, hsa_signal_xor_screlease,
                hsa_signal_xor_release, hsa_signal_xor_scacq_screl, hsa_signal_xor_acq_rel});
  check(start + operand,
        Changes{hsa_signal_add_relaxed, hsa_signal_add_scacquire, hsa_signal_add_acquire, hsa_signal_add_screlease,
                hsa_signal_add_release, hsa_signal_add_scacq_screl, hsa_signal_add_acq_rel});
  check(start - operand,
        Changes{hsa_signal_subtract_relaxed, hsa_signal_subtract_scacquire, hsa_signal_subtract_acquire,
                hsa_signal_subtract_screlease, hsa_signal_subtract_release, hsa_signal_subtract_scacq_screl,
                hsa_signal_subtract_acq_rel});
  check(operand, Changes{hsa_signal_store_relaxed, hsa_signal_store_screlease, hsa_signal_store_release,
                         hsa_signal_silent_store_relaxed, hsa_signal_silent_store_screlease});
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaFamilies, SignalsGiveTheirValueInEveryOrder) {
  const hsa_signal_t signal = make_signal(0);
  for (const auto exchange : {hsa_signal_exchange_relaxed, hsa_signal_exchange_scacquire, hsa_signal_exchange_acquire,
                              hsa_signal_exchange_screlease, hsa_signal_exchange_release,
                              hsa_signal_exchange_scacq_screl, hsa_signal_exchange_acq_rel}) {
    hsa_signal_store_relaxed(signal, start);
    EXPECT_EQ(exchange(signal, operand), start);
    EXPECT_EQ(hsa_signal_load_relaxed(signal), operand);
  }
  for (const auto compare_and_swap :
       {hsa_signal_cas_relaxed, hsa_signal_cas_scacquire, hsa_signal_cas_acquire, hsa_signal_cas_screlease,
        hsa_signal_cas_release, hsa_signal_cas_scacq_screl, hsa_signal_cas_acq_rel}) {
    hsa_signal_store_relaxed(signal, start);
    EXPECT_EQ(compare_and_swap(signal, operand, 1), start);
    EXPECT_EQ(hsa_signal_load_relaxed(signal), start);
    EXPECT_EQ(compare_and_swap(signal, start, operand), start);
    EXPECT_EQ(hsa_signal_load_relaxed(signal), operand);
  }
  for (const auto load : {hsa_signal_load_relaxed, hsa_signal_load_scacquire, hsa_signal_load_acquire}) {
    EXPECT_EQ(load(signal), operand);
  }
  for (const auto wait : {hsa_signal_wait_relaxed, hsa_signal_wait_scacquire, hsa_signal_wait_acquire}) {
    EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_GTE, operand, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), operand);
    EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_LT, operand, 1, HSA_WAIT_STATE_ACTIVE), operand);
  }
  hsa_signal_group_t group{};
  ASSERT_EQ(hsa_signal_group_create(1, &signal, 0, nullptr, &group), HSA_STATUS_SUCCESS);
  for (const auto wait : {hsa_signal_group_wait_any_relaxed, hsa_signal_group_wait_any_scacquire}) {
    const hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
    hsa_signal_t found{};
    hsa_signal_value_t value = 0;
    EXPECT_EQ(wait(group, &condition, &operand, HSA_WAIT_STATE_BLOCKED, &found, &value), HSA_STATUS_SUCCESS);
    EXPECT_EQ(found.handle, signal.handle);
    EXPECT_EQ(value, operand);
  }
  EXPECT_EQ(hsa_signal_group_destroy(group), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaFamilies, QueueIndicesChangeInEveryOrder) {
  hsa_queue_t* queue = nullptr;
  const hsa_signal_t doorbell = make_signal(0);
  ASSERT_EQ(hsa_soft_queue_create({system_pools[0].handle}, 16, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH,
                                  doorbell, &queue),
            HSA_STATUS_SUCCESS);
  uint64_t next = 7;
  for (const auto store : {hsa_queue_store_write_index_relaxed, hsa_queue_store_write_index_screlease,
                           hsa_queue_store_write_index_release}) {
    for (const auto load : {hsa_queue_load_write_index_relaxed, hsa_queue_load_write_index_scacquire,
                            hsa_queue_load_write_index_acquire}) {
      store(queue, ++next);
      EXPECT_EQ(load(queue), next);
    }
  }
  for (const auto add :
       {hsa_queue_add_write_index_relaxed, hsa_queue_add_write_index_scacquire, hsa_queue_add_write_index_acquire,
        hsa_queue_add_write_index_screlease, hsa_queue_add_write_index_release, hsa_queue_add_write_index_scacq_screl,
        hsa_queue_add_write_index_acq_rel}) {
    EXPECT_EQ(add(queue, 5), next);
    next += 5;
  }
  for (const auto compare_and_swap :
       {hsa_queue_cas_write_index_relaxed, hsa_queue_cas_write_index_scacquire, hsa_queue_cas_write_index_acquire,
        hsa_queue_cas_write_index_screlease, hsa_queue_cas_write_index_release, hsa_queue_cas_write_index_scacq_screl,
        hsa_queue_cas_write_index_acq_rel}) {
    EXPECT_EQ(compare_and_swap(queue, next + 1, 0), next);
    EXPECT_EQ(compare_and_swap(queue, next, next + 2), next);
    next += 2;
  }
  EXPECT_EQ(hsa_queue_load_write_index_relaxed(queue), next);
  for (const auto store :
       {hsa_queue_store_read_index_relaxed, hsa_queue_store_read_index_screlease, hsa_queue_store_read_index_release}) {
    for (const auto load :
         {hsa_queue_load_read_index_relaxed, hsa_queue_load_read_index_scacquire, hsa_queue_load_read_index_acquire}) {
      store(queue, ++next);
      EXPECT_EQ(load(queue), next);
    }
  }
  EXPECT_EQ(hsa_queue_inactivate(queue), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_queue_inactivate(nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_queue_inactivate(queue), HSA_STATUS_ERROR_INVALID_QUEUE);
  EXPECT_EQ(hsa_signal_destroy(doorbell), HSA_STATUS_SUCCESS);
}

TEST_F(HsaFamilies, TheInstructionSetTellsItsWavesAndRounding) {
  hsa_isa_t isa{};
  ASSERT_EQ(hsa_agent_iterate_isas(
                gpu,
                [](hsa_isa_t each, void* data) {
                  *static_cast<hsa_isa_t*>(data) = each;
                  return HSA_STATUS_INFO_BREAK;
                },
                &isa),
            HSA_STATUS_INFO_BREAK);
  hsa_isa_t of_agent{};
  ASSERT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_ISA, &of_agent), HSA_STATUS_SUCCESS);
  EXPECT_EQ(isa.handle, of_agent.handle);
  std::set<uint32_t> sizes;
  ASSERT_EQ(hsa_isa_iterate_wavefronts(
                isa,
                [](hsa_wavefront_t wavefront, void* data) {
                  uint32_t size = 0;
                  EXPECT_EQ(hsa_wavefront_get_info(wavefront, HSA_WAVEFRONT_INFO_SIZE, &size), HSA_STATUS_SUCCESS);
                  static_cast<std::set<uint32_t>*>(data)->insert(size);
                  return HSA_STATUS_SUCCESS;
                },
                &sizes),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(sizes, std::set<uint32_t>{64});
  uint32_t ignored = 0;
  EXPECT_EQ(hsa_wavefront_get_info({1}, HSA_WAVEFRONT_INFO_SIZE, &ignored), HSA_STATUS_ERROR_INVALID_WAVEFRONT);
  hsa_round_method_t method{};
  EXPECT_EQ(hsa_isa_get_round_method(isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_NON_FTZ, &method), HSA_STATUS_SUCCESS);
  EXPECT_EQ(method, HSA_ROUND_METHOD_SINGLE);
  EXPECT_EQ(hsa_isa_get_round_method(isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_NON_FTZ, nullptr),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint16_t policies = 0xFFFF;
  EXPECT_EQ(hsa_isa_get_exception_policies(isa, HSA_PROFILE_BASE, &policies), HSA_STATUS_SUCCESS);
  EXPECT_EQ(policies & ~(HSA_EXCEPTION_POLICY_BREAK | HSA_EXCEPTION_POLICY_DETECT), 0);
  EXPECT_EQ(hsa_agent_get_exception_policies(gpu, HSA_PROFILE_BASE, &policies), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_agent_get_exception_policies({1}, HSA_PROFILE_BASE, &policies), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST_F(HsaFamilies, ExtensionsHaveNamesAndVersions) {
  const char* name = nullptr;
  ASSERT_EQ(hsa_extension_get_name(HSA_EXTENSION_AMD_LOADER, &name), HSA_STATUS_SUCCESS);
  EXPECT_STREQ(name, "HSA_EXTENSION_AMD_LOADER");
  EXPECT_EQ(hsa_extension_get_name(0x1FF, &name), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint16_t minor = 99;
  bool supported = false;
  ASSERT_EQ(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &minor, &supported), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(supported);
  EXPECT_EQ(minor, 3);
  ASSERT_EQ(hsa_agent_major_extension_supported(HSA_EXTENSION_IMAGES, gpu, 1, &minor, &supported), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(supported);
  ASSERT_EQ(hsa_agent_major_extension_supported(HSA_EXTENSION_IMAGES, cpu, 1, &minor, &supported), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(supported);
  ASSERT_EQ(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 2, &minor, &supported), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(supported);
  uint32_t size[3]{};
  ASSERT_EQ(hsa_amd_image_get_info_max_dim(gpu, static_cast<hsa_agent_info_t>(HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS),
                                           size),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(size[0], 16384U);
  EXPECT_EQ(size[1], 16384U);
  EXPECT_EQ(hsa_amd_image_get_info_max_dim(gpu, HSA_AGENT_INFO_NAME, size), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaFamilies, MemoryIsRegisteredCopiedAndStaysWhereItIs) {
  auto* device = allocate<int>(gpu_pools[0], 100);
  int host[100], back[100]{};
  for (int i = 0; i < 100; ++i) host[i] = i * i;
  EXPECT_EQ(hsa_memory_register(host, sizeof host), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_memory_copy(device, host, sizeof host), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_memory_copy(back, device, sizeof host), HSA_STATUS_SUCCESS);
  EXPECT_EQ(std::memcmp(host, back, sizeof host), 0);
  EXPECT_EQ(hsa_memory_copy(nullptr, host, sizeof host), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_memory_deregister(host, sizeof host), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_memory_assign_agent(device, gpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_memory_assign_agent(device, {1}, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_ERROR_INVALID_AGENT);
  bool can = true;
  EXPECT_NE(hsa_amd_memory_pool_can_migrate(gpu_pools[0], system_pools[0], &can), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(can);
  EXPECT_EQ(hsa_amd_memory_migrate(device, system_pools[0], 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(hsa_amd_memory_migrate(device, system_pools[0], 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_free(device), HSA_STATUS_SUCCESS);

  hsa_amd_coherency_type_t type{};
  ASSERT_EQ(hsa_amd_coherency_set_type(gpu, HSA_AMD_COHERENCY_TYPE_NONCOHERENT), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_coherency_get_type(gpu, &type), HSA_STATUS_SUCCESS);
  EXPECT_EQ(type, HSA_AMD_COHERENCY_TYPE_NONCOHERENT);
  ASSERT_EQ(hsa_amd_coherency_set_type(gpu, HSA_AMD_COHERENCY_TYPE_COHERENT), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_coherency_get_type(cpu, &type), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST_F(HsaFamilies, ProfilingKnowsOneClock) {
  uint64_t now = 0, system = 0;
  ASSERT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_profiling_convert_tick_to_system_domain(gpu, now, &system), HSA_STATUS_SUCCESS);
  EXPECT_EQ(system, now);
  EXPECT_EQ(hsa_amd_profiling_async_copy_enable(true), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_profiling_set_profiler_enabled(nullptr, 1), HSA_STATUS_ERROR_INVALID_QUEUE);
  hsa_queue_t* queue = nullptr;
  ASSERT_EQ(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_profiling_set_profiler_enabled(queue, 1), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
  // No streaming performance monitor.
  EXPECT_EQ(hsa_amd_spm_acquire(gpu), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_amd_spm_set_dest_buffer(gpu, 0, nullptr, nullptr, nullptr, nullptr), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_amd_spm_release(gpu), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_amd_spm_acquire(cpu), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST_F(HsaFamilies, CodeObjectsGoThroughBytesAndPrograms) {
  const std::vector<uint8_t> code = compile_kernels(test_kernels);
  hsa_code_object_t object{};
  ASSERT_EQ(hsa_code_object_deserialize(const_cast<uint8_t*>(code.data()), code.size(), nullptr, &object),
            HSA_STATUS_SUCCESS);
  void* bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(hsa_code_object_serialize(
                object,
                [](size_t wanted, hsa_callback_data_t, void** address) {
                  *address = std::malloc(wanted);
                  return *address != nullptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
                },
                {0}, nullptr, &bytes, &size),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(size, code.size());
  EXPECT_EQ(std::memcmp(bytes, code.data(), size), 0);
  std::free(bytes);
  EXPECT_EQ(hsa_code_object_destroy(object), HSA_STATUS_SUCCESS);

  hsa_code_object_reader_t reader{};
  hsa_executable_t executable{};
  hsa_loaded_code_object_t loaded{};
  ASSERT_EQ(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
            HSA_STATUS_SUCCESS);
  int constant = 0;
  ASSERT_EQ(hsa_executable_readonly_variable_define(executable, gpu, "given", &constant), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_readonly_variable_define(executable, gpu, "given", &constant),
            HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  ASSERT_EQ(hsa_executable_load_program_code_object(executable, reader, nullptr, &loaded), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
  uint32_t result = 1;
  EXPECT_EQ(hsa_executable_validate(executable, &result), HSA_STATUS_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(hsa_executable_validate_alt(executable, nullptr, &result), HSA_STATUS_SUCCESS);
  const auto count = [](auto... arguments) {
    ++*static_cast<int*>(std::get<sizeof...(arguments) - 1>(std::tuple(arguments...)));
    return HSA_STATUS_SUCCESS;
  };
  int all = 0, program = 0, objects = 0;
  EXPECT_EQ(hsa_executable_iterate_symbols(executable, count, &all), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_iterate_program_symbols(executable, count, &program), HSA_STATUS_SUCCESS);
  EXPECT_EQ(all, program + 1);  // "given" is the agent's
  EXPECT_GE(program, 6);
  EXPECT_EQ(hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, count, &objects), HSA_STATUS_SUCCESS);
  EXPECT_EQ(objects, 1);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
}

}  // namespace

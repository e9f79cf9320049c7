// Extensions that a GPU of Atoll's lacks say so as their headers document it: PC sampling, the finalizer, hardware
// counters. And symbols of code objects that are not loaded, and the list that debuggers read.
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <link.h>

#include <algorithm>
#include <map>
#include <string>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/interface/rocm_7_2_extensions.h"
#include "hsa/kernels.h"
#include "hsa/runtime.h"

extern "C" r_debug _amdgpu_r_debug;

using namespace Atoll::test;

namespace {

using HsaExtensions = HsaTest;

TEST_F(HsaExtensions, PcSamplingHasNoConfiguration) {
  int configurations = 0;
  const auto count = [](const hsa_ven_amd_pcs_configuration_t*, void* data) {
    ++*static_cast<int*>(data);
    return HSA_STATUS_SUCCESS;
  };
  hsa_ven_amd_pc_sampling_1_00_pfn_t table{};
  ASSERT_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_PC_SAMPLING, 1, sizeof table, &table),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(table.hsa_ven_amd_pcs_flush, &hsa_ven_amd_pcs_flush);
  EXPECT_EQ(table.hsa_ven_amd_pcs_iterate_configuration(gpu, count, &configurations), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ven_amd_pcs_iterate_configuration(gpu, count, &configurations), HSA_STATUS_SUCCESS);
  EXPECT_EQ(configurations, 0);
  EXPECT_EQ(hsa_ven_amd_pcs_iterate_configuration(gpu, nullptr, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ven_amd_pcs_iterate_configuration({1}, count, nullptr), HSA_STATUS_ERROR_INVALID_AGENT);
  bool supported = true;
  EXPECT_EQ(hsa_agent_extension_supported(HSA_EXTENSION_AMD_PC_SAMPLING, gpu, 1, 0, &supported), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(supported);
}

TEST_F(HsaExtensions, PcSamplingHasNoSession) {
  const auto ready = [](void*, size_t, size_t, hsa_ven_amd_pcs_data_copy_callback_t, void*) {};
  hsa_ven_amd_pcs_t session{};
  EXPECT_EQ(
      hsa_ven_amd_pcs_create(gpu, HSA_VEN_AMD_PCS_METHOD_HOSTTRAP_V1, HSA_VEN_AMD_PCS_INTERVAL_UNITS_MICRO_SECONDS,
                             1000, 0, 64 << 10, ready, nullptr, &session),
      HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ven_amd_pcs_create_from_id(1, gpu, HSA_VEN_AMD_PCS_METHOD_HOSTTRAP_V1,
                                           HSA_VEN_AMD_PCS_INTERVAL_UNITS_MICRO_SECONDS, 1000, 0, 64 << 10, ready,
                                           nullptr, &session),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (const auto function :
       {hsa_ven_amd_pcs_destroy, hsa_ven_amd_pcs_start, hsa_ven_amd_pcs_stop, hsa_ven_amd_pcs_flush}) {
    EXPECT_EQ(function({1}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  }
}

TEST_F(HsaExtensions, ThereIsNoFinalizer) {
  bool supported = true;
  EXPECT_EQ(hsa_system_extension_supported(HSA_EXTENSION_FINALIZER, 1, 0, &supported), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(supported);
  hsa_ext_program_t program{};
  EXPECT_EQ(hsa_ext_program_create(HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
                                   nullptr, &program),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(hsa_ext_program_create(HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
                                   nullptr, nullptr),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const int invalid = HSA_EXT_STATUS_ERROR_INVALID_PROGRAM;
  EXPECT_EQ(static_cast<int>(hsa_ext_program_destroy({1})), invalid);
  EXPECT_EQ(static_cast<int>(hsa_ext_program_add_module({1}, nullptr)), invalid);
  EXPECT_EQ(static_cast<int>(hsa_ext_program_iterate_modules({1}, nullptr, nullptr)), invalid);
  EXPECT_EQ(static_cast<int>(hsa_ext_program_get_info({1}, HSA_EXT_PROGRAM_INFO_PROFILE, nullptr)), invalid);
  hsa_code_object_t code{};
  EXPECT_EQ(static_cast<int>(hsa_ext_program_finalize({1}, {0}, 0, {}, nullptr, HSA_CODE_OBJECT_TYPE_PROGRAM, &code)),
            invalid);
}

TEST_F(HsaExtensions, ThereAreNoHardwareCounters) {
  EXPECT_EQ(hsa_ven_amd_aqlprofile_version_major(), unsigned{HSA_AQLPROFILE_VERSION_MAJOR});
  EXPECT_EQ(hsa_ven_amd_aqlprofile_version_minor(), unsigned{HSA_AQLPROFILE_VERSION_MINOR});
  hsa_ven_amd_aqlprofile_event_t event{};
  event.block_name = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ;
  bool valid = true;
  EXPECT_EQ(hsa_ven_amd_aqlprofile_validate_event(gpu, &event, &valid), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(valid);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_validate_event(cpu, &event, &valid), HSA_STATUS_ERROR_INVALID_AGENT);

  static int calls;
  calls = 0;
  EXPECT_EQ(hsa_ven_amd_aqlprofile_iterate_event_ids([](int, const char*) {
              ++calls;
              return HSA_STATUS_SUCCESS;
            }),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_iterate_event_coord(
                gpu, event, 0,
                [](int, int, int, int, const char*, void*) {
                  ++calls;
                  return HSA_STATUS_SUCCESS;
                },
                nullptr),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(calls, 0);

  hsa_ven_amd_aqlprofile_profile_t profile{};
  profile.agent = gpu;
  profile.events = &event;
  profile.event_count = 1;
  hsa_ext_amd_aql_pm4_packet_t packet{};
  uint32_t size = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(hsa_ven_amd_aqlprofile_start(&profile, &packet), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_stop(&profile, &packet), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_read(&profile, &packet), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_att_marker(&profile, &packet, 1, HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_0),
            HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE, &size),
            HSA_STATUS_ERROR);
  const auto take = [](hsa_ven_amd_aqlprofile_info_type_t, hsa_ven_amd_aqlprofile_info_data_t*, void*) {
    return HSA_STATUS_SUCCESS;
  };
  EXPECT_EQ(hsa_ven_amd_aqlprofile_iterate_data(&profile, take, nullptr), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_legacy_get_pm4(&packet, &size), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_ven_amd_aqlprofile_start(nullptr, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const char* text = nullptr;
  EXPECT_EQ(hsa_ven_amd_aqlprofile_error_string(&text), HSA_STATUS_SUCCESS);
  EXPECT_STREQ(text, "an argument is null");
}

/// A symbol's attribute.
template <typename T>
T info(hsa_code_symbol_t symbol, hsa_code_symbol_info_t attribute) {
  T value{};
  EXPECT_EQ(hsa_code_symbol_get_info(symbol, attribute, &value), HSA_STATUS_SUCCESS) << attribute;
  return value;
}

std::string name_of(hsa_code_symbol_t symbol) {
  std::string name(info<uint32_t>(symbol, HSA_CODE_SYMBOL_INFO_NAME_LENGTH), ' ');
  EXPECT_EQ(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_NAME, name.data()), HSA_STATUS_SUCCESS);
  return name;
}

TEST_F(HsaExtensions, ACodeObjectTellsItsSymbolsBeforeItIsLoaded) {
  std::vector<uint8_t> code = compile_kernels(std::string(test_kernels) + R"(
__kernel void local_memory(__global int *data, int count) {
  __local int cells[100];
  cells[id()] = data[id()];
  __builtin_amdgcn_s_barrier();
  data[id()] = cells[99 - id()];
}
)");
  hsa_code_object_t object{};
  ASSERT_EQ(hsa_code_object_deserialize(code.data(), code.size(), nullptr, &object), HSA_STATUS_SUCCESS);
  std::map<std::string, hsa_code_symbol_t> symbols;
  ASSERT_EQ(hsa_code_object_iterate_symbols(
                object,
                [](hsa_code_object_t, hsa_code_symbol_t symbol, void* data) {
                  (*static_cast<std::map<std::string, hsa_code_symbol_t>*>(data))[name_of(symbol)] = symbol;
                  return HSA_STATUS_SUCCESS;
                },
                &symbols),
            HSA_STATUS_SUCCESS);
  for (const char* name : {"add.kd", "bump.kd", "stray.kd", "trap.kd", "local_memory.kd", "counter", "table"}) {
    EXPECT_TRUE(symbols.contains(name)) << name;
  }

  hsa_code_symbol_t kernel{}, same{}, variable{}, constant{};
  ASSERT_EQ(hsa_code_object_get_symbol(object, "local_memory.kd", &kernel), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_code_object_get_symbol_from_name(object, nullptr, "local_memory.kd", &same), HSA_STATUS_SUCCESS);
  EXPECT_EQ(kernel.handle, same.handle);
  EXPECT_EQ(info<hsa_symbol_kind_t>(kernel, HSA_CODE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
  EXPECT_EQ(info<hsa_symbol_linkage_t>(kernel, HSA_CODE_SYMBOL_INFO_LINKAGE), HSA_SYMBOL_LINKAGE_PROGRAM);
  EXPECT_TRUE(info<bool>(kernel, HSA_CODE_SYMBOL_INFO_IS_DEFINITION));
  EXPECT_EQ(info<uint32_t>(kernel, HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH), 0U);
  EXPECT_EQ(info<uint32_t>(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 400U);
  EXPECT_EQ(info<uint32_t>(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE), 0U);
  EXPECT_GE(info<uint32_t>(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 12U);
  EXPECT_EQ(info<uint32_t>(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT) % 16, 0U);
  EXPECT_FALSE(info<bool>(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK));
  EXPECT_EQ(info<uint32_t>(kernel, static_cast<hsa_code_symbol_info_t>(HSA_CODE_SYMBOL_INFO_KERNEL_WAVEFRONT_SIZE)),
            64U);
  uint32_t wrong = 0;
  EXPECT_EQ(hsa_code_symbol_get_info(kernel, HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE, &wrong),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);

  ASSERT_EQ(hsa_code_object_get_symbol(object, "counter", &variable), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_code_object_get_symbol(object, "table", &constant), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info<hsa_symbol_kind_t>(variable, HSA_CODE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_VARIABLE);
  EXPECT_EQ(info<uint32_t>(variable, HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE), 4U);
  EXPECT_EQ(info<uint32_t>(constant, HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE), 16U);
  EXPECT_GE(info<uint32_t>(variable, HSA_CODE_SYMBOL_INFO_VARIABLE_ALIGNMENT), 4U);
  EXPECT_FALSE(info<bool>(variable, HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST));
  EXPECT_TRUE(info<bool>(constant, HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST));

  EXPECT_EQ(hsa_code_object_get_symbol(object, "nothing", &same), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  EXPECT_EQ(hsa_code_object_get_symbol(object, nullptr, &same), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_code_object_get_symbol({1}, "add.kd", &same), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  EXPECT_EQ(hsa_code_object_destroy(object), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_code_symbol_get_info(kernel, HSA_CODE_SYMBOL_INFO_TYPE, &wrong), HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
}

TEST_F(HsaExtensions, DebuggersFindWhatIsLoaded) {
  const auto loaded = [] {
    std::map<uint64_t, std::string> list;
    for (const link_map* map = _amdgpu_r_debug.r_map; map != nullptr; map = map->l_next) {
      EXPECT_EQ(map->l_prev == nullptr, map == _amdgpu_r_debug.r_map);
      list[map->l_addr] = map->l_name;
    }
    return list;
  };
  EXPECT_NE(_amdgpu_r_debug.r_brk, 0U);
  EXPECT_TRUE(loaded().empty());
  const std::vector<uint8_t> code = compile_kernels(test_kernels);
  hsa_code_object_reader_t reader{};
  ASSERT_EQ(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader), HSA_STATUS_SUCCESS);
  hsa_executable_t executables[2]{};
  for (hsa_executable_t& executable : executables) {
    ASSERT_EQ(
        hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
        HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr), HSA_STATUS_SUCCESS);
  }
  EXPECT_EQ(_amdgpu_r_debug.r_state, r_debug::RT_CONSISTENT);
  const auto both = loaded();
  ASSERT_EQ(both.size(), 2U);
  hsa_executable_symbol_t symbol{};
  uint64_t address = 0;
  ASSERT_EQ(hsa_executable_get_symbol_by_name(executables[1], "counter", &gpu, &symbol), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_destroy(executables[0]), HSA_STATUS_SUCCESS);
  const auto one = loaded();
  ASSERT_EQ(one.size(), 1U);
  EXPECT_LE(one.begin()->first, address);
  EXPECT_TRUE(one.begin()->second.starts_with("memory://")) << one.begin()->second;
  ASSERT_EQ(hsa_executable_destroy(executables[1]), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(loaded().empty());
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
}

}  // namespace

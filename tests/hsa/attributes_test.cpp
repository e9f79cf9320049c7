// Attributes: that each is answered in the type that its header documents, no byte more or less, and with the value
// that the HSA specification, the header or the product's data sheet gives it. The headers' comments on the
// enumerations are the clauses: hsa.h (hsa_system_info_t, hsa_agent_info_t, hsa_isa_info_t and so on), hsa_ext_amd.h,
// hsa_ven_amd_loader.h.
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/kernels.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

using Ask = std::function<hsa_status_t(int attribute, void* value)>;

/// Returns an attribute's answer as bytes: those that were written, whatever the buffer held before.
std::string answer(const Ask& ask, int attribute) {
  constexpr size_t most = 4096;
  alignas(16) std::array<char, most> first, second;
  first.fill('\x5A');
  second.fill('\x25');
  EXPECT_EQ(ask(attribute, first.data()), HSA_STATUS_SUCCESS) << attribute;
  EXPECT_EQ(ask(attribute, second.data()), HSA_STATUS_SUCCESS) << attribute;
  size_t size = 0;
  for (size_t i = 0; i < most; ++i)
    if (first[i] != '\x5A' || second[i] != '\x25') size = i + 1;
  return {first.data(), size};
}

template <typename T>
void expect(const Ask& ask, int attribute, const T& value) {
  const std::string bytes = answer(ask, attribute);
  ASSERT_EQ(bytes.size(), sizeof value) << attribute;
  EXPECT_EQ(std::memcmp(bytes.data(), &value, sizeof value), 0) << attribute << ": " << (sizeof value <= 8 ? [&] {
    uint64_t number = 0;
    std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
    return std::to_string(number);
  }()
                                                                                                           : "");
}

/// A text in a field of so many bytes, zero at its end.
std::string text(const Ask& ask, int attribute, size_t most) {
  const std::string bytes = answer(ask, attribute);
  EXPECT_LE(bytes.size(), most) << attribute;
  return bytes.c_str();
}

class HsaAttributes : public HsaTest {
 protected:
  static Ask of_agent(hsa_agent_t agent) {
    return [agent](int attribute, void* value) {
      return hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), value);
    };
  }
  hsa_isa_t isa() {
    hsa_isa_t found{};
    EXPECT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_ISA, &found), HSA_STATUS_SUCCESS);
    return found;
  }
};

class HsaAttributesOfGfx906 : public HsaAttributes {
 protected:
  HsaAttributesOfGfx906() { gpu_name = "gfx906"; }
};

TEST_F(HsaAttributes, OfTheSystem) {
  const Ask ask = [](int attribute, void* value) {
    return hsa_system_get_info(static_cast<hsa_system_info_t>(attribute), value);
  };
  expect<uint16_t>(ask, HSA_SYSTEM_INFO_VERSION_MAJOR, 1);
  expect<uint16_t>(ask, HSA_SYSTEM_INFO_VERSION_MINOR, 1);  // as ROCr: the specification is 1.1 or later
  expect<uint64_t>(ask, HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, UINT64_MAX);
  expect(ask, HSA_SYSTEM_INFO_ENDIANNESS, HSA_ENDIANNESS_LITTLE);
  expect(ask, HSA_SYSTEM_INFO_MACHINE_MODEL, HSA_MACHINE_MODEL_LARGE);
  // "Bit i is set if the extension i is supported": 128 bytes.
  std::string extensions = answer(ask, HSA_SYSTEM_INFO_EXTENSIONS);
  ASSERT_LE(extensions.size(), 128U);
  extensions.resize(128);
  const auto has = [&](unsigned extension) { return (extensions[extension / 8] >> extension % 8 & 1) != 0; };
  for (const unsigned extension : {unsigned{HSA_EXTENSION_IMAGES}, unsigned{HSA_EXTENSION_AMD_LOADER}}) {
    bool supported = false;
    EXPECT_EQ(hsa_system_extension_supported(static_cast<uint16_t>(extension), 1, 0, &supported), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(supported);
    EXPECT_TRUE(has(extension)) << extension;
  }
  const char* build = nullptr;
  ASSERT_EQ(ask(HSA_AMD_SYSTEM_INFO_BUILD_VERSION, &build), HSA_STATUS_SUCCESS);
  EXPECT_NE(std::strlen(build), 0U);
  expect(ask, HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, true);
  expect(ask, HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, false);  // with xnack off
  expect(ask, HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED, false);
}

TEST_F(HsaAttributes, OfAGpu) {
  const Ask ask = of_agent(gpu);
  EXPECT_EQ(text(ask, HSA_AGENT_INFO_VENDOR_NAME, 64), "AMD");
  expect(ask, HSA_AGENT_INFO_FEATURE, HSA_AGENT_FEATURE_KERNEL_DISPATCH);
  expect(ask, HSA_AGENT_INFO_MACHINE_MODEL, HSA_MACHINE_MODEL_LARGE);
  expect(ask, HSA_AGENT_INFO_PROFILE, HSA_PROFILE_BASE);
  expect(ask, HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
  expect(ask, HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
  expect(ask, HSA_AGENT_INFO_FAST_F16_OPERATION, true);
  expect(ask, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, std::array<uint16_t, 3>{1024, 1024, 1024});
  expect<uint32_t>(ask, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 1024);
  expect(ask, HSA_AGENT_INFO_GRID_MAX_DIM, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
  expect<uint32_t>(ask, HSA_AGENT_INFO_GRID_MAX_SIZE, UINT32_MAX);
  expect<uint32_t>(ask, HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 32);  // "must be at least 32"
  expect(ask, HSA_AGENT_INFO_QUEUE_TYPE, hsa_queue_type32_t{HSA_QUEUE_TYPE_MULTI});
  expect<uint16_t>(ask, HSA_AGENT_INFO_VERSION_MAJOR, 1);
  expect<uint16_t>(ask, HSA_AGENT_INFO_VERSION_MINOR, 1);
  EXPECT_LE(answer(ask, HSA_AGENT_INFO_EXTENSIONS).size(), 128U);
  uint32_t queues = 0, smallest = 0, largest = 0;
  EXPECT_EQ(ask(HSA_AGENT_INFO_QUEUES_MAX, &queues), HSA_STATUS_SUCCESS);
  EXPECT_EQ(ask(HSA_AGENT_INFO_QUEUE_MIN_SIZE, &smallest), HSA_STATUS_SUCCESS);
  EXPECT_EQ(ask(HSA_AGENT_INFO_QUEUE_MAX_SIZE, &largest), HSA_STATUS_SUCCESS);
  EXPECT_GE(queues, 1U);
  for (const uint32_t size : {smallest, largest}) EXPECT_TRUE(size != 0 && (size & (size - 1)) == 0) << size;
  EXPECT_LE(smallest, largest);
  // Queues of both sizes can be made, and none that is larger.
  for (const uint32_t size : {smallest, largest, 2 * largest}) {
    hsa_queue_t* queue = nullptr;
    const hsa_status_t status =
        hsa_queue_create(gpu, size, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue);
    EXPECT_EQ(status == HSA_STATUS_SUCCESS, size <= largest);
    if (queue != nullptr) EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
  }
}

// The figures of a die of an Instinct MI250X: AMD's data sheet, the CDNA 2 paper, and what its driver reports.
TEST_F(HsaAttributes, OfAnInstinct) {
  const Ask ask = of_agent(gpu);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 64);  // as ROCr: of what CPU and GPU share
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 1700);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 1);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 4096);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 1600);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 4);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 8);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 1);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, 110);
  expect(ask, HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, true);
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_DOMAIN, 0);
  expect(ask, HSA_AMD_AGENT_INFO_HDP_FLUSH, hsa_amd_hdp_flush_t{});
  for (const int attribute : {int{HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS}, int{HSA_AMD_AGENT_INFO_ASIC_REVISION}})
    EXPECT_EQ(answer(ask, attribute).size(), sizeof(uint32_t)) << attribute;
  EXPECT_EQ(answer(ask, HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS).size(), sizeof(bool));
}

TEST_F(HsaAttributes, OfTheHostsProcessors) {
  const Ask ask = of_agent(cpu);
  EXPECT_EQ(text(ask, HSA_AGENT_INFO_VENDOR_NAME, 64), "CPU");
  expect(ask, HSA_AGENT_INFO_FEATURE, hsa_agent_feature_t{});
  expect(ask, HSA_AGENT_INFO_PROFILE, HSA_PROFILE_FULL);
  expect<uint32_t>(ask, HSA_AGENT_INFO_QUEUES_MAX, 0);  // no agent that dispatches kernels
  expect<uint32_t>(ask, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 0);
}

TEST_F(HsaAttributes, OfCaches) {
  hsa_cache_t first{};
  EXPECT_EQ(hsa_agent_iterate_caches(
                gpu,
                [](hsa_cache_t cache, void* data) {
                  *static_cast<hsa_cache_t*>(data) = cache;
                  return HSA_STATUS_INFO_BREAK;
                },
                &first),
            HSA_STATUS_INFO_BREAK);
  const Ask ask = [&](int attribute, void* value) {
    return hsa_cache_get_info(first, static_cast<hsa_cache_info_t>(attribute), value);
  };
  uint32_t length = 0;
  ASSERT_EQ(ask(HSA_CACHE_INFO_NAME_LENGTH, &length), HSA_STATUS_SUCCESS);
  const std::string name = answer(ask, HSA_CACHE_INFO_NAME);
  EXPECT_LE(name.size(), length + 1);
  EXPECT_GE(std::strlen(name.c_str()), 1U);
}

TEST_F(HsaAttributes, OfRegionsAndPools) {
  const hsa_region_t region{gpu_pools[0].handle};
  const Ask of_region = [&](int attribute, void* value) {
    return hsa_region_get_info(region, static_cast<hsa_region_info_t>(attribute), value);
  };
  const Ask of_pool = [&](int attribute, void* value) {
    return hsa_amd_memory_pool_get_info(gpu_pools[0], static_cast<hsa_amd_memory_pool_info_t>(attribute), value);
  };
  size_t size = 0;
  ASSERT_EQ(of_region(HSA_REGION_INFO_SIZE, &size), HSA_STATUS_SUCCESS);
  expect(of_region, HSA_REGION_INFO_ALLOC_MAX_SIZE, size);
  expect(of_region, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, true);
  // "The value of this attribute is a power of two", and allocations keep to it.
  for (const int attribute :
       {int{HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE}, int{HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT}}) {
    size_t value = 0;
    ASSERT_EQ(of_region(attribute, &value), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(value != 0 && (value & (value - 1)) == 0) << value;
    void* pointer = nullptr;
    ASSERT_EQ(hsa_memory_allocate(region, 1, &pointer), HSA_STATUS_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uint64_t>(pointer) % value, 0U);
    EXPECT_EQ(hsa_memory_free(pointer), HSA_STATUS_SUCCESS);
  }
  // "Only valid for regions of the private segment", which does not exist.
  uint32_t private_size = 0;
  EXPECT_EQ(of_region(HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE, &private_size),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  expect(of_pool, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, size);
  expect(of_pool, HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, false);
  expect<size_t>(of_pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, 4096);
}

TEST_F(HsaAttributes, OfAnInstructionSet) {
  const Ask ask = [isa = isa()](int attribute, void* value) {
    return hsa_isa_get_info_alt(isa, static_cast<hsa_isa_info_t>(attribute), value);
  };
  expect(ask, HSA_ISA_INFO_MACHINE_MODELS, std::array<bool, 2>{false, true});  // indexed by hsa_machine_model_t
  expect(ask, HSA_ISA_INFO_PROFILES, std::array<bool, 2>{true, false});        // by hsa_profile_t
  for (const int attribute :
       {int{HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES}, int{HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES}}) {
    expect(ask, attribute, std::array<bool, 3>{false, false, true});  // by hsa_default_float_rounding_mode_t: near
  }
  expect(ask, HSA_ISA_INFO_FAST_F16_OPERATION, true);
  expect(ask, HSA_ISA_INFO_WORKGROUP_MAX_DIM, std::array<uint16_t, 3>{1024, 1024, 1024});
  expect<uint32_t>(ask, HSA_ISA_INFO_WORKGROUP_MAX_SIZE, 1024);
  expect(ask, HSA_ISA_INFO_GRID_MAX_DIM, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
  expect<uint64_t>(ask, HSA_ISA_INFO_GRID_MAX_SIZE, UINT64_MAX);
  expect<uint32_t>(ask, HSA_ISA_INFO_FBARRIER_MAX_SIZE, 32);
  // Deprecated: one calling convention, whose waves have 64 lanes, 8 of them on each of 4 SIMDs.
  expect<uint32_t>(ask, HSA_ISA_INFO_CALL_CONVENTION_COUNT, 1);
  expect<uint32_t>(ask, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE, 64);
  expect<uint32_t>(ask, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT, 32);
}

// hsa_ext_image.h says how large images can be at least. It has them as size_t; ROCr gives 32 bits, which is what HIP
// has room for.
TEST_F(HsaAttributesOfGfx906, OfImages) {
  const Ask ask = of_agent(gpu);
  struct {
    int attribute;
    size_t numbers;
    uint32_t least;
  } constexpr limits[] = {{HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, 1, 16384},
                          {HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS, 1, 16384},
                          {HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS, 1, 65536},
                          {HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, 2, 16384},
                          {HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS, 2, 16384},
                          {HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS, 2, 16384},
                          {HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS, 2, 16384},
                          {HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, 3, 2048},
                          {HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, 1, 2048},
                          {HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, 1, 128},
                          {HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, 1, 64},
                          {HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, 1, 16},
                          {HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT, 1, 1}};
  for (const auto& limit : limits) {
    const std::string bytes = answer(ask, limit.attribute);
    ASSERT_EQ(bytes.size(), limit.numbers * sizeof(uint32_t)) << limit.attribute;
    for (size_t i = 0; i < limit.numbers; ++i) {
      uint32_t number = 0;
      std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
      EXPECT_GE(number, limit.least) << limit.attribute;
    }
  }
}

TEST_F(HsaAttributes, OfExecutablesAndTheirSymbols) {
  const std::vector<uint8_t> code = compile_kernels(test_kernels);
  hsa_executable_t executable{};
  ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, nullptr, &executable),
            HSA_STATUS_SUCCESS);
  hsa_code_object_reader_t reader{};
  ASSERT_EQ(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader), HSA_STATUS_SUCCESS);
  hsa_loaded_code_object_t loaded{};
  ASSERT_EQ(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, &loaded), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
  const Ask of_executable = [&](int attribute, void* value) {
    return hsa_executable_get_info(executable, static_cast<hsa_executable_info_t>(attribute), value);
  };
  expect(of_executable, HSA_EXECUTABLE_INFO_PROFILE, HSA_PROFILE_FULL);
  expect(of_executable, HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);

  const auto of_symbol = [&](const char* name) -> Ask {
    hsa_executable_symbol_t symbol{};
    EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol), HSA_STATUS_SUCCESS);
    return [symbol](int attribute, void* value) {
      return hsa_executable_symbol_get_info(symbol, static_cast<hsa_executable_symbol_info_t>(attribute), value);
    };
  };
  const Ask kernel = of_symbol("add.kd"), variable = of_symbol("counter");
  for (const Ask& ask : {kernel, variable}) {
    expect<uint32_t>(ask, HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH, 0);  // of program linkage: none
    EXPECT_EQ(answer(ask, HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME), "");
    expect(ask, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, gpu);
    expect(ask, HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE, HSA_SYMBOL_LINKAGE_PROGRAM);
    expect(ask, HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION, true);
    // Indirect functions are none of AMD's code objects'.
    uint64_t object = 0;
    EXPECT_NE(ask(HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT, &object), HSA_STATUS_SUCCESS);
    EXPECT_NE(ask(HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION, &object), HSA_STATUS_SUCCESS);
  }
  expect(variable, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION, HSA_VARIABLE_ALLOCATION_AGENT);
  expect(variable, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT, HSA_VARIABLE_SEGMENT_GLOBAL);
  expect(variable, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST, false);
  uint64_t address = 0;
  uint32_t alignment = 0;
  ASSERT_EQ(variable(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address), HSA_STATUS_SUCCESS);
  ASSERT_EQ(variable(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT, &alignment), HSA_STATUS_SUCCESS);
  EXPECT_GE(alignment, alignof(int));
  EXPECT_EQ(address % alignment, 0U);
  ASSERT_EQ(kernel(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT, &alignment), HSA_STATUS_SUCCESS);
  EXPECT_GE(alignment, 16U);  // "must be at least 16"
  expect(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK, false);
  expect<uint32_t>(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION, 0);

  const Ask of_loaded = [&](int attribute, void* value) {
    return hsa_ven_amd_loader_loaded_code_object_get_info(
        loaded, static_cast<hsa_ven_amd_loader_loaded_code_object_info_t>(attribute), value);
  };
  expect(of_loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE, executable);
  expect<uint32_t>(of_loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND,
                   HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
  expect(of_loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT, gpu);
  expect<uint32_t>(of_loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE,
                   HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
  expect<uint64_t>(of_loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE, code.size());
  uint64_t storage = 0, base = 0, size = 0;
  ASSERT_EQ(of_loaded(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE, &storage),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(storage), code.data(), code.size()), 0);
  int64_t delta = 0;
  ASSERT_EQ(of_loaded(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, &base), HSA_STATUS_SUCCESS);
  ASSERT_EQ(of_loaded(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE, &size), HSA_STATUS_SUCCESS);
  ASSERT_EQ(of_loaded(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA, &delta), HSA_STATUS_SUCCESS);
  EXPECT_LT(address - base, size);
  EXPECT_EQ(static_cast<uint64_t>(delta), base);  // code objects are linked from 0 on
  // "Only valid" for code that came from a file.
  int file = 0;
  EXPECT_EQ(of_loaded(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE, &file),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

// The older interface returns the same for code that is not loaded yet.
TEST_F(HsaAttributes, OfCodeObjectsAndTheirSymbols) {
  std::vector<uint8_t> code = compile_kernels(test_kernels);
  hsa_code_object_t object{};
  ASSERT_EQ(hsa_code_object_deserialize(code.data(), code.size(), nullptr, &object), HSA_STATUS_SUCCESS);
  const Ask of_object = [&](int attribute, void* value) {
    return hsa_code_object_get_info(object, static_cast<hsa_code_object_info_t>(attribute), value);
  };
  expect(of_object, HSA_CODE_OBJECT_INFO_MACHINE_MODEL, HSA_MACHINE_MODEL_LARGE);
  for (const int attribute :
       {int{HSA_CODE_OBJECT_INFO_PROFILE}, int{HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE}}) {
    EXPECT_EQ(answer(of_object, attribute).size(), sizeof(hsa_profile_t)) << attribute;
  }
  const auto of_symbol = [&](const char* name) -> Ask {
    hsa_code_symbol_t symbol{};
    EXPECT_EQ(hsa_code_object_get_symbol(object, name, &symbol), HSA_STATUS_SUCCESS);
    return [symbol](int attribute, void* value) {
      return hsa_code_symbol_get_info(symbol, static_cast<hsa_code_symbol_info_t>(attribute), value);
    };
  };
  const Ask kernel = of_symbol("add.kd"), variable = of_symbol("counter");
  EXPECT_EQ(answer(kernel, HSA_CODE_SYMBOL_INFO_MODULE_NAME), "");
  expect<uint32_t>(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION, 0);
  expect(variable, HSA_CODE_SYMBOL_INFO_VARIABLE_ALLOCATION, HSA_VARIABLE_ALLOCATION_AGENT);
  expect(variable, HSA_CODE_SYMBOL_INFO_VARIABLE_SEGMENT, HSA_VARIABLE_SEGMENT_GLOBAL);
  uint32_t convention = 0;
  EXPECT_NE(kernel(HSA_CODE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION, &convention), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_code_object_destroy(object), HSA_STATUS_SUCCESS);
}

}  // namespace

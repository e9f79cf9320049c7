// System and agent facts, extensions, status strings, reference counting.
#include <hsa/hsa_ven_amd_loader.h>

#include <time.h>
#include <cstring>
#include <string>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

TEST(HsaLifetime, NothingWorksBeforeInitAndAfterTheLastShutDown) {
  uint16_t major = 0;
  EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major), HSA_STATUS_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

using HsaSystem = HsaTest;

TEST_F(HsaSystem, TheTimestampIsTheMonotonicClockInNanoseconds) {
  const auto clock = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  };
  uint64_t frequency = 0, timestamp = 0;
  ASSERT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency), HSA_STATUS_SUCCESS);
  EXPECT_EQ(frequency, 1'000'000'000U);
  const uint64_t before = clock();
  ASSERT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &timestamp), HSA_STATUS_SUCCESS);
  EXPECT_GE(timestamp, before);
  EXPECT_LE(timestamp, clock());
}

TEST_F(HsaSystem, TheGpuIsTheOneAskedFor) {
  char name[64], product[64], uuid[32];
  ASSERT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name), HSA_STATUS_SUCCESS);
  EXPECT_STREQ(name, "gfx90a");
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_PRODUCT_NAME), product),
            HSA_STATUS_SUCCESS);
  EXPECT_STREQ(product, "AMD Instinct MI250X");
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID), uuid), HSA_STATUS_SUCCESS);
  EXPECT_EQ(std::strlen(uuid), 20U);  // "GPU-" and 16 digits
  uint32_t units = 0, waves = 0;
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &units),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(units, 110U);  // of one die
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU), &waves),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(waves, 32U);
}

TEST_F(HsaSystem, TheIsaHasTheFullTargetId) {
  hsa_isa_t isa{};
  ASSERT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_ISA, &isa), HSA_STATUS_SUCCESS);
  char name[100]{};
  ASSERT_EQ(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name), HSA_STATUS_SUCCESS);
  EXPECT_STREQ(name, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
  uint32_t length = 0;
  ASSERT_EQ(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length), HSA_STATUS_SUCCESS);
  EXPECT_EQ(length, std::strlen(name) + 1);

  hsa_isa_t same{}, any{}, other{};
  ASSERT_EQ(hsa_isa_from_name(name, &same), HSA_STATUS_SUCCESS);
  EXPECT_EQ(same.handle, isa.handle);
  ASSERT_EQ(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx90a", &any), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx900", &other), HSA_STATUS_SUCCESS);
  bool fits = false;
  ASSERT_EQ(hsa_isa_compatible(any, isa, &fits), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(fits);
  ASSERT_EQ(hsa_isa_compatible(other, isa, &fits), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(fits);
  EXPECT_EQ(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx9z9", &other), HSA_STATUS_ERROR_INVALID_ISA_NAME);
  // LLVM 23's triples name the same ISA.
  for (const char* spelling :
       {"amdgpu9.0a-amd-amdhsa--gfx90a", "amdgpu9.0a-amd-amdhsa", "amdgcn-amd-amdhsa-unknown-gfx90a"}) {
    ASSERT_EQ(hsa_isa_from_name(spelling, &other), HSA_STATUS_SUCCESS) << spelling;
    EXPECT_EQ(other.handle, any.handle) << spelling;
  }
}

TEST_F(HsaSystem, ForeignHandlesAreRefused) {
  char name[64];
  EXPECT_EQ(hsa_agent_get_info({1}, HSA_AGENT_INFO_NAME, name), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_isa_get_info_alt({1}, HSA_ISA_INFO_NAME, name), HSA_STATUS_ERROR_INVALID_ISA);
  EXPECT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(0x7777), name), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaSystem, TheLoaderTableHasItsFunctionsInEveryVersion) {
  hsa_ven_amd_loader_1_00_pfn_t first{};
  ASSERT_EQ(hsa_system_get_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 0, &first), HSA_STATUS_SUCCESS);
  EXPECT_EQ(first.hsa_ven_amd_loader_query_executable, &hsa_ven_amd_loader_query_executable);
  hsa_ven_amd_loader_1_03_pfn_t last{};
  ASSERT_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof last, &last), HSA_STATUS_SUCCESS);
  EXPECT_EQ(last.hsa_ven_amd_loader_iterate_executables, &hsa_ven_amd_loader_iterate_executables);
  EXPECT_EQ(hsa_system_get_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 4, &last), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_system_get_extension_table(HSA_EXTENSION_AMD_LOADER, 2, 0, &last), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_FINALIZER, 1, sizeof last, &last), HSA_STATUS_ERROR);
  bool supported = false;
  ASSERT_EQ(hsa_system_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, 3, &supported), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(supported);
}

TEST_F(HsaSystem, EveryStatusHasAText) {
  for (int status = HSA_STATUS_ERROR; status <= HSA_STATUS_ERROR_FATAL; ++status) {
    if (status > HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL && status < HSA_STATUS_ERROR_INVALID_FILE) continue;
    const char* text = nullptr;
    EXPECT_EQ(hsa_status_string(static_cast<hsa_status_t>(status), &text), HSA_STATUS_SUCCESS) << std::hex << status;
    EXPECT_TRUE(text != nullptr && std::string(text).starts_with("HSA_STATUS_"));
  }
  const char* text = nullptr;
  ASSERT_EQ(hsa_status_string(static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT), &text), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(std::string(text).starts_with("HSA_STATUS_ERROR_MEMORY_FAULT"));
  EXPECT_EQ(hsa_status_string(static_cast<hsa_status_t>(7777), &text), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaSystem, CachesTellTheirLevelAndSize) {
  std::vector<hsa_cache_t> caches;
  ASSERT_EQ(hsa_agent_iterate_caches(
                gpu,
                [](hsa_cache_t cache, void* data) {
                  static_cast<std::vector<hsa_cache_t>*>(data)->push_back(cache);
                  return HSA_STATUS_SUCCESS;
                },
                &caches),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(caches.size(), 2U);
  uint8_t level = 0;
  uint32_t size = 0, sizes[4]{};
  ASSERT_EQ(hsa_cache_get_info(caches[1], HSA_CACHE_INFO_LEVEL, &level), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_cache_get_info(caches[1], HSA_CACHE_INFO_SIZE, &size), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_CACHE_SIZE, sizes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(level, 2);
  EXPECT_EQ(size, 8U << 20);  // the MI250X's second level
  EXPECT_EQ(sizes[1], size);
}

template <typename T>
T ask_agent(hsa_agent_t agent, int attribute) {
  T value{};
  EXPECT_EQ(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), &value), HSA_STATUS_SUCCESS)
      << std::hex << attribute;
  return value;
}

template <typename T>
T ask_system(int attribute) {
  T value{};
  EXPECT_EQ(hsa_system_get_info(static_cast<hsa_system_info_t>(attribute), &value), HSA_STATUS_SUCCESS)
      << std::hex << attribute;
  return value;
}

TEST_F(HsaSystem, AttributesOfRocm72AreAnswered) {
  EXPECT_EQ(ask_agent<uint32_t>(gpu, HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID), 141U);  // AMDGPU_FAMILY_AI
  EXPECT_EQ(ask_agent<uint32_t>(gpu, HSA_AMD_AGENT_INFO_NUM_XCC), 1U);
  EXPECT_EQ(ask_agent<hsa_agent_t>(gpu, HSA_AMD_AGENT_INFO_NEAREST_CPU).handle, cpu.handle);
  EXPECT_EQ(ask_agent<hsa_amd_iommu_version_t>(gpu, HSA_AMD_AGENT_INFO_IOMMU_SUPPORT), HSA_IOMMU_SUPPORT_NONE);
  EXPECT_EQ(ask_agent<uint64_t>(gpu, HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES), 0U);  // no APU
  EXPECT_EQ(ask_agent<uint64_t>(gpu, HSA_AMD_AGENT_INFO_AQL_EXTENSIONS), 0U);
  EXPECT_EQ(ask_agent<uint64_t>(gpu, HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY),
            ask_system<uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY));
  for (const hsa_agent_t agent : {cpu, gpu}) {
    for (const int attribute :
         {HSA_AMD_AGENT_INFO_UCODE_VERSION, HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION, HSA_AMD_AGENT_INFO_DRIVER_UID,
          HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG}) {
      ask_agent<uint32_t>(agent, attribute);
    }
  }
  EXPECT_EQ(ask_agent<uint32_t>(cpu, HSA_AMD_AGENT_INFO_NUM_SDMA_ENG), 0U);

  EXPECT_TRUE(ask_system<bool>(HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED));
  EXPECT_TRUE(ask_system<bool>(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED));
  EXPECT_FALSE(ask_system<bool>(HSA_AMD_SYSTEM_INFO_XNACK_ENABLED));  // as ATOLL_GPU says
  EXPECT_EQ(ask_system<uint16_t>(HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR), 1U);
  EXPECT_EQ(ask_system<uint16_t>(HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR), 15U);
}

TEST_F(HsaSystem, ClockCountersTickTogether) {
  const uint64_t before = ask_system<uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP);
  const auto counters = ask_agent<hsa_amd_clock_counters_t>(gpu, HSA_AMD_AGENT_INFO_CLOCK_COUNTERS);
  const uint64_t after = ask_system<uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP);
  EXPECT_EQ(counters.system_clock_frequency, ask_system<uint64_t>(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY));
  for (const uint64_t counter :
       {counters.gpu_clock_counter, counters.cpu_clock_counter, counters.system_clock_counter}) {
    EXPECT_GE(counter, before);
    EXPECT_LE(counter, after);
  }
}

TEST_F(HsaSystem, ScratchLimitsAreForGpusThatCanGiveScratchBack) {
  EXPECT_EQ(ask_agent<uint64_t>(gpu, HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX), uint64_t{4} << 30);
  EXPECT_EQ(hsa_amd_agent_set_async_scratch_limit(gpu, 1 << 20), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_agent_set_async_scratch_limit(cpu, 1 << 20), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST(HsaScratchLimit, IsRememberedByAnMi300x) {
  setenv("ATOLL_GPU", "mi300x", 1);
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  hsa_agent_t gpu{};
  hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        *static_cast<hsa_agent_t*>(data) = agent;  // the last one
        return HSA_STATUS_SUCCESS;
      },
      &gpu);
  EXPECT_EQ(ask_agent<uint32_t>(gpu, HSA_AMD_AGENT_INFO_NUM_XCC), 8U);
  const auto most = ask_agent<uint64_t>(gpu, HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX);
  EXPECT_EQ(most, uint64_t{32} << 30);
  EXPECT_EQ(hsa_amd_agent_set_async_scratch_limit(gpu, 1 << 20), HSA_STATUS_SUCCESS);
  EXPECT_EQ(ask_agent<uint64_t>(gpu, HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT), uint64_t{1} << 20);
  EXPECT_EQ(hsa_amd_agent_set_async_scratch_limit(gpu, most + 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

}  // namespace

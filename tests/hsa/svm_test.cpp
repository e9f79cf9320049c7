// Attributes of shared virtual memory.
#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

class HsaSvm : public HsaTest {
 protected:
  static constexpr size_t page = 4096;
  void SetUp() override {
    HsaTest::SetUp();
    memory = static_cast<char*>(std::aligned_alloc(page, 8 * page));
  }
  void TearDown() override {
    std::free(memory);
    HsaTest::TearDown();
  }
  void set(size_t first, size_t pages, uint64_t attribute, uint64_t value) {
    hsa_amd_svm_attribute_pair_t pair{attribute, value};
    ASSERT_EQ(hsa_amd_svm_attributes_set(memory + first * page, pages * page, &pair, 1), HSA_STATUS_SUCCESS);
  }
  uint64_t get(size_t first, size_t pages, uint64_t attribute) {
    hsa_amd_svm_attribute_pair_t pair{attribute, 0};
    EXPECT_EQ(hsa_amd_svm_attributes_get(memory + first * page, pages * page, &pair, 1), HSA_STATUS_SUCCESS);
    return pair.value;
  }
  char* memory = nullptr;
};

TEST_F(HsaSvm, AttributesAreRememberedByPage) {
  set(2, 4, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, gpu.handle);
  EXPECT_EQ(get(2, 4, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), gpu.handle);
  EXPECT_EQ(get(3, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), gpu.handle);
  EXPECT_EQ(get(1, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0U);
  EXPECT_EQ(get(1, 2, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0U) << "differs within the range";
  set(4, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, cpu.handle);
  EXPECT_EQ(get(4, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), cpu.handle);
  EXPECT_EQ(get(5, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), gpu.handle);
  EXPECT_EQ(get(2, 4, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0U);
}

TEST_F(HsaSvm, DifferingGlobalFlagsAreIndeterminate) {
  set(0, 8, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED);
  EXPECT_EQ(get(0, 8, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED);
  set(7, 1, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED);
  EXPECT_EQ(get(0, 8, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE);
}

TEST_F(HsaSvm, AccessIsAskedForByAgent) {
  set(0, 2, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu.handle);
  set(0, 2, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, cpu.handle);
  hsa_amd_svm_attribute_pair_t pairs[] = {{HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu.handle},
                                          {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, cpu.handle}};
  ASSERT_EQ(hsa_amd_svm_attributes_get(memory, 2 * page, pairs, 2), HSA_STATUS_SUCCESS);
  EXPECT_EQ(pairs[0].attribute, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
  EXPECT_EQ(pairs[1].attribute, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
}

// hsa_ext_amd.h, hsa_amd_svm_attribute_t: flags are of type bool, the granularity is log2 of pages. Of a range of which
// only a part has a flag, the answer is no; a granularity is at most 63, as ROCr has it.
TEST_F(HsaSvm, FlagsAndTheGranularityAreRemembered) {
  constexpr uint64_t flags[] = {HSA_AMD_SVM_ATTRIB_READ_ONLY, HSA_AMD_SVM_ATTRIB_HIVE_LOCAL,
                                HSA_AMD_SVM_ATTRIB_READ_MOSTLY, HSA_AMD_SVM_ATTRIB_GPU_EXEC};
  for (const uint64_t flag : flags) {
    EXPECT_EQ(get(0, 8, flag), 0U) << flag;
    set(1, 2, flag, 7);
    EXPECT_EQ(get(1, 2, flag), 1U) << flag;
    EXPECT_EQ(get(0, 2, flag), 0U) << flag;
    set(1, 1, flag, 0);
    EXPECT_EQ(get(1, 1, flag), 0U) << flag;
    EXPECT_EQ(get(2, 1, flag), 1U) << flag;
  }
  constexpr uint64_t granularity = HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY;
  set(0, 4, granularity, 4);
  EXPECT_EQ(get(0, 4, granularity), 4U);
  set(0, 4, granularity, 1000);
  EXPECT_EQ(get(0, 4, granularity), 63U);
}

TEST_F(HsaSvm, AnAgentThatMayUseMemoryIsToldSo) {
  set(0, 2, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu.handle);
  set(0, 2, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle);
  hsa_amd_svm_attribute_pair_t pair{HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu.handle};
  ASSERT_EQ(hsa_amd_svm_attributes_get(memory, 2 * page, &pair, 1), HSA_STATUS_SUCCESS);
  EXPECT_EQ(pair.attribute, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  pair = {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, 64};
  EXPECT_EQ(hsa_amd_svm_attributes_set(memory, page, &pair, 1), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST_F(HsaSvm, APrefetchCompletesAndIsRemembered) {
  const hsa_signal_t done = make_signal(1);
  ASSERT_EQ(hsa_amd_svm_prefetch_async(memory, 8 * page, gpu, 0, nullptr, done), HSA_STATUS_SUCCESS);
  await_zero(done);
  EXPECT_EQ(get(0, 8, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), gpu.handle);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSvm, NothingIsSetWhenOneAttributeIsWrong) {
  hsa_amd_svm_attribute_pair_t pairs[] = {{HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1},
                                          {HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, gpu.handle}};
  EXPECT_EQ(hsa_amd_svm_attributes_set(memory, page, pairs, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(get(0, 1, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 0U);
}

TEST_F(HsaSvm, RangesAroundTheEndOfTheAddressSpaceAreRefused) {
  hsa_amd_svm_attribute_pair_t pair{HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED};
  for (const size_t size : {SIZE_MAX, SIZE_MAX - 4096}) {
    EXPECT_EQ(hsa_amd_svm_attributes_get(&pair, size, &pair, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_svm_attributes_set(&pair, size, &pair, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_svm_prefetch_async(&pair, size, gpu, 0, nullptr, {0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  }
}

}  // namespace

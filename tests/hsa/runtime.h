// The HSA runtime as the tests use it: initialised for each test, with its agents and pools at hand.
#pragma once

#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace Atoll::test {

class HsaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("ATOLL_GPU", gpu_name, 1);
    ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_iterate_agents(
                  [](hsa_agent_t agent, void* data) {
                    auto* test = static_cast<HsaTest*>(data);
                    hsa_device_type_t type{};
                    EXPECT_EQ(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), HSA_STATUS_SUCCESS);
                    (type == HSA_DEVICE_TYPE_GPU ? test->gpu : test->cpu) = agent;
                    return HSA_STATUS_SUCCESS;
                  },
                  this),
              HSA_STATUS_SUCCESS);
    system_pools = pools_of(cpu);
    gpu_pools = pools_of(gpu);
    ASSERT_EQ(system_pools.size(), 3U);
    ASSERT_EQ(gpu_pools.size(), 3U);
  }
  void TearDown() override { EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS); }

 public:
  static std::vector<hsa_amd_memory_pool_t> pools_of(hsa_agent_t agent) {
    std::vector<hsa_amd_memory_pool_t> pools;
    EXPECT_EQ(hsa_amd_agent_iterate_memory_pools(
                  agent,
                  [](hsa_amd_memory_pool_t pool, void* data) {
                    static_cast<std::vector<hsa_amd_memory_pool_t>*>(data)->push_back(pool);
                    return HSA_STATUS_SUCCESS;
                  },
                  &pools),
              HSA_STATUS_SUCCESS);
    return pools;
  }

  template <typename T>
  T* allocate(hsa_amd_memory_pool_t pool, size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(hsa_amd_memory_pool_allocate(pool, count * sizeof(T), 0, &pointer), HSA_STATUS_SUCCESS);
    return static_cast<T*>(pointer);
  }

  static hsa_signal_t make_signal(hsa_signal_value_t value) {
    hsa_signal_t signal{};
    EXPECT_EQ(hsa_signal_create(value, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
    return signal;
  }

  /// Waits for a signal to become 0; what has gone wrong after ten seconds fails the test.
  static void await_zero(hsa_signal_t signal) {
    EXPECT_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 10'000'000'000, HSA_WAIT_STATE_BLOCKED), 0);
  }

 protected:
  const char* gpu_name = "gfx90a:sramecc+:xnack-";
  hsa_agent_t cpu{}, gpu{};
  std::vector<hsa_amd_memory_pool_t> system_pools;  ///< fine-grained, kernarg, coarse-grained
  std::vector<hsa_amd_memory_pool_t> gpu_pools;     ///< coarse-grained and fine-grained device memory, group segment
};

}  // namespace Atoll::test

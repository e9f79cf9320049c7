// Pools, allocations, pointer queries, locking, handles for other processes.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "hsa/access.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

class HsaMemory : public HsaTest {
 protected:
  static hsa_amd_pointer_info_t info_of(const void* pointer) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    EXPECT_EQ(hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
    return info;
  }
};

TEST_F(HsaMemory, PoolsHaveTheFlagsThatHipLooksFor) {
  const auto flags = [](hsa_amd_memory_pool_t pool) {
    uint32_t value = 0;
    EXPECT_EQ(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &value), HSA_STATUS_SUCCESS);
    return value;
  };
  EXPECT_EQ(flags(system_pools[0]), HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
  EXPECT_EQ(flags(system_pools[1]),
            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
  EXPECT_EQ(flags(system_pools[2]), HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  EXPECT_EQ(flags(gpu_pools[0]), HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  EXPECT_EQ(flags(gpu_pools[1]), HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);

  hsa_amd_segment_t segment{};
  size_t size = 0;
  bool can_allocate = true;
  ASSERT_EQ(hsa_amd_memory_pool_get_info(gpu_pools[2], HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), HSA_STATUS_SUCCESS);
  EXPECT_EQ(segment, HSA_AMD_SEGMENT_GROUP);
  ASSERT_EQ(hsa_amd_memory_pool_get_info(gpu_pools[2], HSA_AMD_MEMORY_POOL_INFO_SIZE, &size), HSA_STATUS_SUCCESS);
  EXPECT_EQ(size, 64U << 10);
  ASSERT_EQ(hsa_amd_memory_pool_get_info(gpu_pools[2], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &can_allocate),
            HSA_STATUS_SUCCESS);
  EXPECT_FALSE(can_allocate);
}

TEST_F(HsaMemory, TheGpuSeesTheSystemsRegionsToo) {
  std::vector<hsa_region_t> regions;
  ASSERT_EQ(hsa_agent_iterate_regions(
                gpu,
                [](hsa_region_t region, void* data) {
                  static_cast<std::vector<hsa_region_t>*>(data)->push_back(region);
                  return HSA_STATUS_SUCCESS;
                },
                &regions),
            HSA_STATUS_SUCCESS);
  bool has_kernarg = false;
  for (const hsa_region_t region : regions) {
    uint32_t flags = 0;
    ASSERT_EQ(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags), HSA_STATUS_SUCCESS);
    has_kernarg |= (flags & HSA_REGION_GLOBAL_FLAG_KERNARG) != 0;
  }
  EXPECT_TRUE(has_kernarg);
  void* pointer = nullptr;
  ASSERT_EQ(hsa_memory_allocate(regions.back(), 100, &pointer), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_memory_free(pointer), HSA_STATUS_SUCCESS);
}

TEST_F(HsaMemory, PointerInfoKnowsAllocationsFromWithin) {
  auto* pointer = allocate<char>(gpu_pools[0], 10'000);
  int mine = 0;
  ASSERT_EQ(hsa_amd_pointer_info_set_userdata(pointer, &mine), HSA_STATUS_SUCCESS);
  const hsa_amd_pointer_info_t info = info_of(pointer + 9'999);
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_HSA);
  EXPECT_EQ(info.agentBaseAddress, pointer);
  EXPECT_EQ(info.hostBaseAddress, pointer);
  EXPECT_EQ(info.sizeInBytes, 12'288U);
  EXPECT_EQ(info.agentOwner.handle, gpu.handle);
  EXPECT_EQ(info.userData, &mine);
  EXPECT_EQ(info.global_flags, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  EXPECT_EQ(info_of(&mine).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info_of(pointer).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(HsaMemory, AnOlderCallersPointerInfoIsNotOverrun) {
  auto* pointer = allocate<char>(gpu_pools[0], 1);
  hsa_amd_pointer_info_t info;
  std::memset(&info, 0x5a, sizeof info);
  info.size = offsetof(hsa_amd_pointer_info_t, userData);
  ASSERT_EQ(hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.size, offsetof(hsa_amd_pointer_info_t, userData));
  EXPECT_EQ(info.global_flags, 0x5a5a5a5aU);
  EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_SUCCESS);
}

TEST_F(HsaMemory, AccessIsTheOwnersAndWhomItIsGivenTo) {
  auto* pointer = allocate<char>(gpu_pools[0], 1);
  EXPECT_EQ(agents_with_access(pointer), (std::set{gpu.handle}));
  ASSERT_EQ(hsa_amd_agents_allow_access(1, &cpu, nullptr, pointer), HSA_STATUS_SUCCESS);
  EXPECT_EQ(agents_with_access(pointer), (std::set{gpu.handle, cpu.handle}));
  const hsa_agent_t stranger{42};
  EXPECT_EQ(hsa_amd_agents_allow_access(1, &stranger, nullptr, pointer), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_SUCCESS);
}

TEST_F(HsaMemory, WhatCannotBeAllocatedIsRefused) {
  void* pointer = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[0], 0, 0, &pointer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[2], 64, 0, &pointer), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[0], size_t{1} << 50, 0, &pointer),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[0], SIZE_MAX, 0, &pointer), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_memory_pool_allocate({0}, 64, 0, &pointer), HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
}

TEST_F(HsaMemory, LockedMemoryKeepsItsAddressAndCountsItsLocks) {
  std::vector<char> mine(5000);
  void* agent_pointer = nullptr;
  ASSERT_EQ(hsa_amd_memory_lock(mine.data(), mine.size(), &gpu, 1, &agent_pointer), HSA_STATUS_SUCCESS);
  EXPECT_EQ(agent_pointer, mine.data());
  ASSERT_EQ(hsa_amd_memory_lock_to_pool(mine.data(), mine.size(), nullptr, 0, system_pools[2], 0, &agent_pointer),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(info_of(&mine[4999]).type, HSA_EXT_POINTER_TYPE_LOCKED);
  EXPECT_EQ(info_of(mine.data()).agentOwner.handle, cpu.handle);
  EXPECT_EQ(hsa_amd_memory_unlock(mine.data()), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info_of(mine.data()).type, HSA_EXT_POINTER_TYPE_LOCKED);
  EXPECT_EQ(hsa_amd_memory_unlock(mine.data()), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info_of(mine.data()).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(hsa_amd_memory_unlock(mine.data()), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaMemory, LargeAllocationsBeginAtHugePages) {
  void* pointer = nullptr;
  for (const size_t size : {size_t{2} << 20, (size_t{2} << 20) + 4096, size_t{5} << 20}) {
    ASSERT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[0], size, 0, &pointer), HSA_STATUS_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uint64_t>(pointer) % (2 << 20), 0u);
    EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_SUCCESS);
  }
}

// The two addresses are of the same bytes, for as long as both are there, and the host's keeps them afterwards; what
// other threads write to the same pages meanwhile is not lost.
TEST_F(HsaMemory, MemoryLockedForKernelsHasASecondAddress) {
  std::vector<uint32_t> memory(20000);
  volatile uint32_t& neighbour = memory[1010];
  std::atomic<bool> stop{false};
  uint32_t written = 0;
  // ThreadSanitizer would take the pages' move for a race.
  std::thread writer([&]() __attribute__((no_sanitize("thread"))) {
    while (!stop) neighbour = ++written;
  });
  for (uint32_t round = 1; round <= 200; ++round) {
    uint32_t* mine = &memory[1011];
    const size_t bytes = (round % 2 != 0 ? 5 : 9000) * sizeof(uint32_t);
    void* second = nullptr;
    ASSERT_EQ(hsa_amd_memory_lock_to_pool(mine, bytes, nullptr, 0, system_pools[0], 0, &second), HSA_STATUS_SUCCESS);
    EXPECT_NE(second, mine);
    EXPECT_EQ(info_of(mine).agentBaseAddress, second);
    EXPECT_EQ(info_of(second).hostBaseAddress, mine);
    auto* alias = static_cast<uint32_t*>(second);
    EXPECT_EQ(alias[4], mine[4]);
    alias[4] = round;
    EXPECT_EQ(mine[4], round);
    mine[3] = round;
    EXPECT_EQ(alias[3], round);
    ASSERT_EQ(hsa_amd_memory_unlock(mine), HSA_STATUS_SUCCESS);
    EXPECT_EQ(mine[4], round);
  }
  stop = true;
  writer.join();
  EXPECT_EQ(neighbour, written);
}

TEST_F(HsaMemory, LockedRangesMayShareAPage) {
  std::vector<uint32_t> memory(8000, 7);
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(hsa_amd_memory_lock_to_pool(&memory[100], 8000, nullptr, 0, system_pools[0], 0, &first),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_memory_lock_to_pool(&memory[2200], 8000, nullptr, 0, system_pools[0], 0, &second),
            HSA_STATUS_SUCCESS);
  static_cast<uint32_t*>(first)[0] = 1;
  static_cast<uint32_t*>(second)[0] = 2;
  EXPECT_EQ(hsa_amd_memory_unlock(&memory[100]), HSA_STATUS_SUCCESS);
  static_cast<uint32_t*>(second)[1] = 3;
  EXPECT_EQ(hsa_amd_memory_unlock(&memory[2200]), HSA_STATUS_SUCCESS);
  std::vector<uint32_t> want(8000, 7);
  want[100] = 1;
  want[2200] = 2;
  want[2201] = 3;
  EXPECT_EQ(memory, want);
}

TEST_F(HsaMemory, FillWritesWords) {
  auto* words = allocate<uint32_t>(gpu_pools[0], 100);
  ASSERT_EQ(hsa_amd_memory_fill(words + 1, 0xdeadbeef, 98), HSA_STATUS_SUCCESS);
  EXPECT_EQ(words[0], 0U);
  EXPECT_EQ(words[1], 0xdeadbeefU);
  EXPECT_EQ(words[98], 0xdeadbeefU);
  EXPECT_EQ(words[99], 0U);
  EXPECT_EQ(hsa_amd_memory_fill(reinterpret_cast<char*>(words) + 1, 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

TEST_F(HsaMemory, DeallocationCallbacksAreCalledUnlessTakenBack) {
  auto* pointer = allocate<char>(gpu_pools[0], 200);
  int calls = 0;
  const auto count = [](void*, void* data) { ++*static_cast<int*>(data); };
  const auto never = [](void*, void*) { ADD_FAILURE(); };
  ASSERT_EQ(hsa_amd_register_deallocation_callback(pointer, count, &calls), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_register_deallocation_callback(pointer, never, nullptr), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_deregister_deallocation_callback(pointer, never), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_deregister_deallocation_callback(pointer, never), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  // A callback gets the address that it was registered for, which may be inside.
  void* told = nullptr;
  const auto report = [](void* where, void* data) { *static_cast<void**>(data) = where; };
  ASSERT_EQ(hsa_amd_register_deallocation_callback(pointer + 100, report, &told), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_deregister_deallocation_callback(pointer, report), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_SUCCESS);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told, pointer + 100);
  EXPECT_EQ(hsa_amd_deregister_deallocation_callback(pointer + 100, report), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaMemory, TheWayToTheOtherAgentsPoolIsOneHop) {
  uint32_t hops = 0;
  ASSERT_EQ(
      hsa_amd_agent_memory_pool_get_info(gpu, system_pools[0], HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops),
      HSA_STATUS_SUCCESS);
  ASSERT_EQ(hops, 1U);
  hsa_amd_memory_pool_link_info_t link{};
  ASSERT_EQ(hsa_amd_agent_memory_pool_get_info(gpu, system_pools[0], HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link),
            HSA_STATUS_SUCCESS);
  EXPECT_TRUE(link.atomic_support_64bit);
  hsa_amd_memory_pool_access_t access{};
  ASSERT_EQ(hsa_amd_agent_memory_pool_get_info(cpu, gpu_pools[2], HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
}

TEST_F(HsaMemory, WhatIsNotThereIsNeitherFilledNorLocked) {
  auto* words = allocate<uint32_t>(gpu_pools[0], 1024);
  EXPECT_EQ(hsa_amd_memory_fill(words, 1, 1025), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_memory_fill(words, 1, SIZE_MAX), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_memory_fill(reinterpret_cast<void*>(0x1000), 1, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(words[0], 0U);
  void* agent_pointer = nullptr;
  EXPECT_EQ(hsa_amd_memory_lock(reinterpret_cast<void*>(0x1000), 64, nullptr, 0, &agent_pointer),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_lock(words, SIZE_MAX, nullptr, 0, &agent_pointer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  void* pointer = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[0], 64, 1U << 30, &pointer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hsa_amd_memory_pool_allocate(gpu_pools[0], 64, HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG, &pointer),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(pointer), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

TEST_F(HsaMemory, WhatIsAllocatedIsNoLongerAvailable) {
  const auto available = [](hsa_agent_t agent) {
    uint64_t bytes = 0;
    EXPECT_EQ(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &bytes),
              HSA_STATUS_SUCCESS);
    return bytes;
  };
  const uint64_t before = available(gpu), system = available(cpu);
  EXPECT_LE(before, static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * 4096);
  auto* coarse = allocate<uint8_t>(gpu_pools[0], 1 << 20);
  auto* fine = allocate<uint8_t>(gpu_pools[1], 1 << 16);
  EXPECT_EQ(available(gpu), before - (1 << 20) - (1 << 16));
  EXPECT_EQ(available(cpu), system);
  EXPECT_EQ(hsa_amd_memory_pool_free(coarse), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(fine), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(gpu), before);
}

TEST_F(HsaMemory, PoolsSayWhereTheyAreAndHowTheyAreBestCut) {
  const auto ask = [](hsa_amd_memory_pool_t pool, int attribute, auto& answer) {
    return hsa_amd_memory_pool_get_info(pool, static_cast<hsa_amd_memory_pool_info_t>(attribute), &answer);
  };
  hsa_amd_memory_pool_location_t location{};
  ASSERT_EQ(ask(gpu_pools[0], HSA_AMD_MEMORY_POOL_INFO_LOCATION, location), HSA_STATUS_SUCCESS);
  EXPECT_EQ(location, HSA_AMD_MEMORY_POOL_LOCATION_GPU);
  ASSERT_EQ(ask(system_pools[0], HSA_AMD_MEMORY_POOL_INFO_LOCATION, location), HSA_STATUS_SUCCESS);
  EXPECT_EQ(location, HSA_AMD_MEMORY_POOL_LOCATION_CPU);
  EXPECT_EQ(ask(gpu_pools[2], HSA_AMD_MEMORY_POOL_INFO_LOCATION, location), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  size_t granule = 0, recommended = 0;
  ASSERT_EQ(ask(gpu_pools[0], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, granule), HSA_STATUS_SUCCESS);
  ASSERT_EQ(ask(gpu_pools[0], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE, recommended), HSA_STATUS_SUCCESS);
  EXPECT_EQ(recommended, 2U << 20);
  EXPECT_EQ(recommended % granule, 0U);
}

}  // namespace

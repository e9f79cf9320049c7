// Virtual memory: reserved addresses, memory handles, mappings and rights to them. What hsa_ext_amd.h of ROCm 7.2 says
// of each function; what the host's pages allow is read from /proc/self/maps.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/other_process.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

constexpr size_t granule = 4096;
constexpr auto none = static_cast<hsa_access_permission_t>(HSA_ACCESS_PERMISSION_NONE);

/// "rw-s" and the like; empty where nothing is mapped.
std::string protection_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char protection[5]{};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, protection) != 3) continue;
    const auto at = reinterpret_cast<uint64_t>(address);
    if (at >= begin && at < end) return protection;
  }
  return {};
}

class HsaVirtualMemory : public HsaTest {
 protected:
  uint8_t* reserve(size_t size) {
    void* address = nullptr;
    EXPECT_EQ(hsa_amd_vmem_address_reserve_align(&address, size, 0, 0, 0), HSA_STATUS_SUCCESS);
    return static_cast<uint8_t*>(address);
  }
  hsa_amd_vmem_alloc_handle_t create(size_t size) {
    hsa_amd_vmem_alloc_handle_t handle{};
    EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools[0], size, MEMORY_TYPE_NONE, 0, &handle), HSA_STATUS_SUCCESS);
    return handle;
  }
  hsa_status_t give_access(void* address, size_t size, hsa_access_permission_t permission) {
    const hsa_amd_memory_access_desc_t right{permission, gpu};
    return hsa_amd_vmem_set_access(address, size, &right, 1);
  }
  hsa_access_permission_t access_of(void* address) {
    auto permission = HSA_ACCESS_PERMISSION_WO;
    EXPECT_EQ(hsa_amd_vmem_get_access(address, &permission, gpu), HSA_STATUS_SUCCESS);
    return permission;
  }
  static int type_of(const void* address) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    EXPECT_EQ(hsa_amd_pointer_info(address, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
    return info.type;
  }
};

TEST_F(HsaVirtualMemory, AMappingIsUsableOnceThereIsAccess) {
  uint8_t* address = reserve(4 * granule);
  EXPECT_EQ(protection_of(address), "---p");
  const auto handle = create(2 * granule);
  ASSERT_EQ(hsa_amd_vmem_map(address + granule, 2 * granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  EXPECT_EQ(access_of(address + granule), none);
  EXPECT_EQ(protection_of(address + granule), "---s");
  ASSERT_EQ(give_access(address + granule, 2 * granule, HSA_ACCESS_PERMISSION_RO), HSA_STATUS_SUCCESS);
  EXPECT_EQ(access_of(address + 3 * granule - 1), HSA_ACCESS_PERMISSION_RO);
  EXPECT_EQ(protection_of(address + granule), "r--s");
  ASSERT_EQ(give_access(address + granule, 2 * granule, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
  EXPECT_EQ(protection_of(address + granule), "rw-s");
  EXPECT_EQ(protection_of(address), "---p");
  EXPECT_EQ(protection_of(address + 3 * granule), "---p");
  address[granule] = 7;
  address[3 * granule - 1] = 9;

  // The memory stays when it is mapped somewhere else, and the handle's release leaves the mapping alone.
  ASSERT_EQ(hsa_amd_vmem_unmap(address + granule, 2 * granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(protection_of(address + granule), "---p");
  ASSERT_EQ(hsa_amd_vmem_map(address + 2 * granule, 2 * granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  ASSERT_EQ(give_access(address + 2 * granule, 2 * granule, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
  EXPECT_EQ(address[2 * granule], 7);
  EXPECT_EQ(address[4 * granule - 1], 9);

  EXPECT_EQ(hsa_amd_vmem_address_free(address, 4 * granule), HSA_STATUS_ERROR_RESOURCE_FREE);
  ASSERT_EQ(hsa_amd_vmem_unmap(address + 2 * granule, 2 * granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_address_free(address, granule), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_free(address, 4 * granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(address, 4 * granule), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(protection_of(address), "---p");  // nobody else gets the addresses
}

TEST_F(HsaVirtualMemory, OneHandleCanBeMappedTwice) {
  uint8_t* address = reserve(2 * granule);
  const auto handle = create(granule);
  ASSERT_EQ(hsa_amd_vmem_map(address, granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_vmem_map(address + granule, granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  // One call for both mappings, as they are neighbours.
  ASSERT_EQ(give_access(address, 2 * granule, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
  address[5] = 55;
  EXPECT_EQ(address[granule + 5], 55);
  hsa_amd_vmem_alloc_handle_t same{};
  ASSERT_EQ(hsa_amd_vmem_retain_alloc_handle(&same, address + granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(same.handle, handle.handle);
  EXPECT_EQ(hsa_amd_vmem_handle_release(same), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_unmap(address, 2 * granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_retain_alloc_handle(&same, address), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_address_free(address, 2 * granule), HSA_STATUS_SUCCESS);
}

TEST_F(HsaVirtualMemory, WrongArgumentsAreRefused) {
  void* address = nullptr;
  EXPECT_EQ(hsa_amd_vmem_address_reserve(&address, granule + 1, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_reserve(&address, 0, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_reserve(nullptr, granule, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_reserve_align(&address, granule, 0, 3 * granule, 0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_reserve(&address, size_t{1} << 50, 0, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  hsa_amd_vmem_alloc_handle_t handle{};
  EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools[0], 100, MEMORY_TYPE_NONE, 0, &handle),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools[2], granule, MEMORY_TYPE_NONE, 0, &handle),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools[0], size_t{1} << 45, MEMORY_TYPE_NONE, 0, &handle),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);

  uint8_t* range = reserve(2 * granule);
  handle = create(2 * granule);
  EXPECT_EQ(hsa_amd_vmem_map(range + granule, 2 * granule, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_map(range, 3 * granule, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_map(range, granule, 0, {12345}, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hsa_amd_vmem_map(range, granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_map(range, 2 * granule, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT) << "it is mapped";
  EXPECT_EQ(give_access(range, 2 * granule, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  const hsa_amd_memory_access_desc_t stranger{HSA_ACCESS_PERMISSION_RW, {42}};
  EXPECT_EQ(hsa_amd_vmem_set_access(range, granule, &stranger, 1), HSA_STATUS_ERROR_INVALID_AGENT);
  hsa_access_permission_t permission{};
  EXPECT_EQ(hsa_amd_vmem_get_access(range, &permission, {42}), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_amd_vmem_get_access(range + granule, &permission, gpu), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_unmap(range, 2 * granule), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_unmap(range, granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(range, 2 * granule), HSA_STATUS_SUCCESS);
  int descriptor = -1;
  EXPECT_EQ(hsa_amd_vmem_export_shareable_handle(&descriptor, handle, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_import_shareable_handle(-1, &handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_import_shareable_handle(STDIN_FILENO, &handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(HsaVirtualMemory, AddressesComeAsWishedAndAligned) {
  uint8_t* first = reserve(64 * granule);
  ASSERT_EQ(hsa_amd_vmem_address_free(first, 64 * granule), HSA_STATUS_SUCCESS);
  void *second = nullptr, *third = nullptr;
  ASSERT_EQ(hsa_amd_vmem_address_reserve(&second, granule, reinterpret_cast<uint64_t>(first), 0), HSA_STATUS_SUCCESS);
  EXPECT_EQ(second, first);
  ASSERT_EQ(hsa_amd_vmem_address_reserve(&third, granule, reinterpret_cast<uint64_t>(first), 0), HSA_STATUS_SUCCESS);
  EXPECT_NE(third, first) << "which is taken";
  EXPECT_EQ(hsa_amd_vmem_address_free(second, granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(third, granule), HSA_STATUS_SUCCESS);
  for (const size_t pages : {2, 3, 4, 8, 100, 2000}) {
    uint8_t* range = reserve(pages * granule);
    EXPECT_EQ(reinterpret_cast<uint64_t>(range) % std::min(std::bit_floor(pages * granule), size_t{2} << 20), 0U);
    EXPECT_EQ(hsa_amd_vmem_address_free(range, pages * granule), HSA_STATUS_SUCCESS);
  }
  for (const size_t alignment : {size_t{2} << 20, size_t{1} << 30}) {
    ASSERT_EQ(hsa_amd_vmem_address_reserve_align(&second, granule, 0, alignment, 0), HSA_STATUS_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uint64_t>(second) % alignment, 0U);
    EXPECT_EQ(hsa_amd_vmem_address_free(second, granule), HSA_STATUS_SUCCESS);
  }
}

// HIP's managed memory: the host uses it at once.
TEST_F(HsaVirtualMemory, AddressesThatAreNotRegisteredAreOrdinaryMemory) {
  void* address = nullptr;
  for (const size_t size : {granule, size_t{400'000}}) {
    ASSERT_EQ(hsa_amd_vmem_address_reserve(&address, size, 0, HSA_AMD_VMEM_ADDRESS_NO_REGISTER), HSA_STATUS_SUCCESS);
    std::memset(address, 0x5a, size);
    EXPECT_EQ(hsa_amd_vmem_address_free(address, size), HSA_STATUS_SUCCESS);
  }
}

TEST_F(HsaVirtualMemory, PointerQueriesTellReservedFromMapped) {
  uint8_t* address = reserve(2 * granule);
  const auto handle = create(granule);
  ASSERT_EQ(hsa_amd_vmem_map(address + granule, granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  EXPECT_EQ(type_of(address), HSA_EXT_POINTER_TYPE_RESERVED_ADDR);
  EXPECT_EQ(type_of(address + granule), HSA_EXT_POINTER_TYPE_HSA_VMEM);
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  ASSERT_EQ(hsa_amd_pointer_info(address + granule + 1, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.agentBaseAddress, address + granule);
  EXPECT_EQ(info.sizeInBytes, granule);
  EXPECT_EQ(info.agentOwner.handle, gpu.handle);
  hsa_amd_memory_pool_t pool{};
  auto type = MEMORY_TYPE_PINNED;
  ASSERT_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type), HSA_STATUS_SUCCESS);
  EXPECT_EQ(pool.handle, gpu_pools[0].handle);
  EXPECT_EQ(type, MEMORY_TYPE_NONE);
  EXPECT_EQ(hsa_amd_vmem_unmap(address + granule, granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(type_of(address + granule), HSA_EXT_POINTER_TYPE_RESERVED_ADDR);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(address, 2 * granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(type_of(address), HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_F(HsaVirtualMemory, HandlesTakeUpTheirPoolsMemory) {
  const auto available = [this] {
    uint64_t bytes = 0;
    EXPECT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &bytes),
              HSA_STATUS_SUCCESS);
    return bytes;
  };
  const uint64_t before = available();
  const auto handle = create(16 * granule);
  EXPECT_EQ(available(), before - 16 * granule);
  int descriptor = -1;
  ASSERT_EQ(hsa_amd_vmem_export_shareable_handle(&descriptor, handle, 0), HSA_STATUS_SUCCESS);
  hsa_amd_vmem_alloc_handle_t imported{};
  ASSERT_EQ(hsa_amd_vmem_import_shareable_handle(descriptor, &imported), HSA_STATUS_SUCCESS);
  EXPECT_EQ(imported.handle, handle.handle) << "the process knows it";
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(), before - 16 * granule);
  EXPECT_EQ(hsa_amd_vmem_handle_release(imported), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(), before);
  close(descriptor);
}

TEST_F(HsaVirtualMemory, AnotherProcessImportsAHandle) {
  uint8_t* address = reserve(granule);
  const auto handle = create(granule);
  ASSERT_EQ(hsa_amd_vmem_map(address, granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(give_access(address, granule, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
  address[0] = 11;
  int descriptor = -1;
  ASSERT_EQ(hsa_amd_vmem_export_shareable_handle(&descriptor, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(fcntl(descriptor, F_SETFD, 0), 0);
  pass_on("ATOLL_TEST_DESCRIPTOR", descriptor);
  EXPECT_EQ(OtherProcess("HsaVirtualMemory.DISABLED_TheImporter").wait(), 0);
  EXPECT_EQ(address[1], 22);
  close(descriptor);
  EXPECT_EQ(hsa_amd_vmem_unmap(address, granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(address, granule), HSA_STATUS_SUCCESS);
}

TEST_F(HsaVirtualMemory, DISABLED_TheImporter) {
  hsa_amd_vmem_alloc_handle_t handle{};
  ASSERT_EQ(hsa_amd_vmem_import_shareable_handle(passed_on<int>("ATOLL_TEST_DESCRIPTOR"), &handle), HSA_STATUS_SUCCESS);
  hsa_amd_memory_pool_t pool{};
  hsa_amd_memory_type_t type{};
  ASSERT_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type), HSA_STATUS_SUCCESS);
  EXPECT_EQ(pool.handle, gpu_pools[0].handle);
  uint8_t* address = reserve(granule);
  ASSERT_EQ(hsa_amd_vmem_map(address, granule, 0, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(give_access(address, granule, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
  EXPECT_EQ(address[0], 11);
  address[1] = 22;
}

}  // namespace

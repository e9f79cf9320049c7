// Memory and signals that several processes have: dma-buf descriptors and inter-process handles.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/other_process.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

constexpr size_t page = 4096;

class HsaSharing : public HsaTest {
 protected:
  static int type_of(const void* pointer) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    EXPECT_EQ(hsa_amd_pointer_info(pointer, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
    return info.type;
  }
  static hsa_signal_t make_shared_signal(hsa_signal_value_t value) {
    hsa_signal_t signal{};
    EXPECT_EQ(hsa_amd_signal_create(value, 0, nullptr, HSA_AMD_SIGNAL_IPC, &signal), HSA_STATUS_SUCCESS);
    return signal;
  }
  static hsa_signal_value_t await(hsa_signal_t signal, hsa_signal_value_t value) {
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, value, 30'000'000'000, HSA_WAIT_STATE_BLOCKED);
  }
};

TEST_F(HsaSharing, ExportedMemoryIsMappedByItsDescriptor) {
  auto* memory = allocate<uint8_t>(gpu_pools[0], 4 * page);
  memory[0] = 1;
  memory[3 * page + 7] = 2;
  int descriptor = -1;
  uint64_t offset = 0;
  ASSERT_EQ(hsa_amd_portable_export_dmabuf(memory + page, 2 * page, &descriptor, &offset), HSA_STATUS_SUCCESS);
  EXPECT_EQ(offset, page);
  EXPECT_EQ(memory[3 * page + 7], 2) << "exporting moves no bytes";
  void* mapped = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* bytes = static_cast<uint8_t*>(mapped);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[3 * page + 7], 2);
  bytes[page] = 3;
  EXPECT_EQ(memory[page], 3);
  memory[page + 1] = 4;
  EXPECT_EQ(bytes[page + 1], 4);

  // The memory outlives the allocation while other processes map it.
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(bytes[page + 1], 4);
  munmap(mapped, 4 * page);
  EXPECT_EQ(hsa_amd_portable_close_dmabuf(descriptor), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_portable_close_dmabuf(descriptor), HSA_STATUS_ERROR_RESOURCE_FREE);
}

TEST_F(HsaSharing, WhatCannotBeExportedIsRefused) {
  auto* device = allocate<uint8_t>(gpu_pools[0], page);
  auto* system = allocate<uint8_t>(system_pools[0], page);
  int descriptor = -2;
  uint64_t offset = 99;
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(system, page, &descriptor, &offset), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(device, page + 1, &descriptor, &offset),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(&descriptor, 4, &descriptor, &offset), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(nullptr, page, &descriptor, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(device, 0, &descriptor, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(device, page, nullptr, &offset), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(descriptor, -2);
  EXPECT_EQ(offset, 99U);
  EXPECT_EQ(hsa_amd_memory_pool_free(device), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(system), HSA_STATUS_SUCCESS);
}

// A large allocation of which little was touched: only touched pages are moved.
TEST_F(HsaSharing, ExportingCostsWhatWasTouched) {
  const size_t size = size_t{16} << 30;
  auto* memory = allocate<uint8_t>(gpu_pools[0], size);
  ASSERT_NE(memory, nullptr);
  memory[0] = 5;
  memory[size - 1] = 6;
  int descriptor = -1;
  uint64_t offset = 0;
  ASSERT_EQ(hsa_amd_portable_export_dmabuf_v2(memory, size, &descriptor, &offset, HSA_AMD_DMABUF_MAPPING_TYPE_PCIE),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(memory[0], 5);
  EXPECT_EQ(memory[size - 1], 6);
  EXPECT_EQ(lseek(descriptor, 0, SEEK_END), static_cast<off_t>(size));
  // Two huge pages at most hold what was written.
  EXPECT_GE(lseek(descriptor, 8 << 20, SEEK_DATA), static_cast<off_t>(size - (4 << 20)));
  EXPECT_EQ(hsa_amd_portable_close_dmabuf(descriptor), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSharing, WhatOthersWriteWhileMemoryIsExportedIsNotLost) {
  for (int round = 0; round < 50; ++round) {
    auto* memory = allocate<uint32_t>(gpu_pools[0], 1 << 16);
    std::atomic<bool> stop{false};
    std::atomic<uint32_t> written{0};
    std::thread writer([&]() __attribute__((no_sanitize("thread"))) {
      while (!stop) {
        const uint32_t next = written + 1;
        *static_cast<volatile uint32_t*>(memory + (1 << 15)) = next;
        written = next;
      }
    });
    while (written == 0) std::this_thread::yield();
    int descriptor = -1;
    uint64_t offset = 0;
    ASSERT_EQ(hsa_amd_portable_export_dmabuf(memory, page, &descriptor, &offset), HSA_STATUS_SUCCESS);
    stop = true;
    writer.join();
    EXPECT_EQ(memory[1 << 15], written);
    EXPECT_EQ(hsa_amd_portable_close_dmabuf(descriptor), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
  }
}

TEST_F(HsaSharing, ADescriptorIsMappedAsAGraphicsBufferIs) {
  auto* memory = allocate<uint32_t>(gpu_pools[0], 1024);
  memory[9] = 99;
  int descriptor = -1;
  uint64_t offset = 0;
  ASSERT_EQ(hsa_amd_portable_export_dmabuf(memory, page, &descriptor, &offset), HSA_STATUS_SUCCESS);
  size_t size = 0;
  void* mapped = nullptr;
  ASSERT_EQ(hsa_amd_interop_map_buffer(1, &gpu, descriptor, 0, &size, &mapped, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(size, page);
  EXPECT_EQ(static_cast<uint32_t*>(mapped)[9], 99U);
  EXPECT_EQ(type_of(mapped), HSA_EXT_POINTER_TYPE_GRAPHICS);
  EXPECT_EQ(hsa_amd_memory_pool_free(mapped), HSA_STATUS_ERROR_INVALID_ALLOCATION) << "it was not allocated";
  EXPECT_EQ(hsa_amd_interop_unmap_buffer(mapped), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_interop_unmap_buffer(mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_interop_map_buffer(1, &gpu, STDIN_FILENO, 0, &size, &mapped, nullptr, nullptr),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_portable_close_dmabuf(descriptor), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSharing, MemoryAndASignalGoToAnotherProcessAndBack) {
  auto* memory = allocate<uint32_t>(gpu_pools[0], 4096);
  memory[3000] = 33;
  hsa_amd_ipc_memory_t memory_handle{};
  ASSERT_EQ(hsa_amd_ipc_memory_create(memory, 4096 * sizeof(uint32_t), &memory_handle), HSA_STATUS_SUCCESS);
  const hsa_signal_t signal = make_shared_signal(0);
  hsa_amd_ipc_signal_t signal_handle{};
  ASSERT_EQ(hsa_amd_ipc_signal_create(signal, &signal_handle), HSA_STATUS_SUCCESS);
  pass_on("ATOLL_TEST_MEMORY", memory_handle);
  pass_on("ATOLL_TEST_SIGNAL", signal_handle);
  OtherProcess other("HsaSharing.DISABLED_TheOtherProcess");
  EXPECT_EQ(await(signal, 1), 1);
  EXPECT_EQ(memory[3001], 44U);
  memory[3002] = 55;
  hsa_signal_store_screlease(signal, 2);
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 3) << "what is left of the other process' signal is the value";
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSharing, DISABLED_TheOtherProcess) {
  const auto memory_handle = passed_on<hsa_amd_ipc_memory_t>("ATOLL_TEST_MEMORY");
  const auto signal_handle = passed_on<hsa_amd_ipc_signal_t>("ATOLL_TEST_SIGNAL");
  hsa_signal_t signal{};
  ASSERT_EQ(hsa_amd_ipc_signal_attach(&signal_handle, &signal), HSA_STATUS_SUCCESS);
  void* mapped = nullptr;
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&memory_handle, 8192 * sizeof(uint32_t), 1, &gpu, &mapped),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hsa_amd_ipc_memory_attach(&memory_handle, 4096 * sizeof(uint32_t), 1, &gpu, &mapped), HSA_STATUS_SUCCESS);
  EXPECT_EQ(type_of(mapped), HSA_EXT_POINTER_TYPE_IPC);
  auto* memory = static_cast<uint32_t*>(mapped);
  EXPECT_EQ(memory[3000], 33U);
  memory[3001] = 44;
  hsa_signal_store_screlease(signal, 1);
  EXPECT_EQ(await(signal, 2), 2);
  EXPECT_EQ(memory[3002], 55U);
  EXPECT_EQ(hsa_amd_ipc_memory_detach(mapped), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_ipc_memory_detach(mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  // A copy that this process' runtime does takes one off the other's signal, too.
  hsa_signal_store_screlease(signal, 4);
  auto* here = allocate<uint32_t>(gpu_pools[0], 2);
  ASSERT_EQ(hsa_amd_memory_async_copy(here, gpu, here + 1, gpu, 4, 0, nullptr, signal), HSA_STATUS_SUCCESS);
  EXPECT_EQ(await(signal, 3), 3);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSharing, HandlesThatAreNoLongerGoodAreRefused) {
  auto* memory = allocate<uint32_t>(gpu_pools[0], 1024);
  hsa_amd_ipc_memory_t handle{};
  ASSERT_EQ(hsa_amd_ipc_memory_create(memory, page, &handle), HSA_STATUS_SUCCESS);
  void* mapped = nullptr;
  ASSERT_EQ(hsa_amd_ipc_memory_attach(&handle, page, 0, nullptr, &mapped), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_ipc_memory_detach(mapped), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, page, 0, nullptr, &mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  // The same descriptor, and another file under it.
  auto* other = allocate<uint32_t>(gpu_pools[0], 1024);
  hsa_amd_ipc_memory_t other_handle{};
  ASSERT_EQ(hsa_amd_ipc_memory_create(other, page, &other_handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, page, 0, nullptr, &mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_free(other), HSA_STATUS_SUCCESS);

  const hsa_signal_t ordinary = make_signal(0);
  hsa_amd_ipc_signal_t signal_handle{};
  EXPECT_EQ(hsa_amd_ipc_signal_create(ordinary, &signal_handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_signal_t signal{};
  EXPECT_EQ(hsa_amd_ipc_signal_attach(&handle, &signal), HSA_STATUS_ERROR_INVALID_ARGUMENT) << "it is of memory";
  EXPECT_EQ(hsa_signal_destroy(ordinary), HSA_STATUS_SUCCESS);
}

}  // namespace

// Queues: creation, packets, faults, soft queues, masks.
#include <cstring>
#include <future>
#include <set>
#include <thread>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/kernels.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

class HsaQueue : public HsaTest {
 protected:
  static void SetUpTestSuite() { code = compile_kernels(test_kernels); }

  void SetUp() override {
    HsaTest::SetUp();
    hsa_code_object_reader_t reader{};
    ASSERT_EQ(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader), HSA_STATUS_SUCCESS);
    ASSERT_EQ(
        hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
        HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_queue_create(
                  gpu, 64, HSA_QUEUE_TYPE_MULTI,
                  [](hsa_status_t status, hsa_queue_t*, void* data) {
                    static_cast<HsaQueue*>(data)->error.set_value(status);
                  },
                  this, UINT32_MAX, UINT32_MAX, &queue),
              HSA_STATUS_SUCCESS);
    kernarg = allocate<char>(system_pools[1], 4096);
  }
  void TearDown() override {
    EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
    HsaTest::TearDown();
  }

  uint64_t symbol(const char* name, hsa_executable_symbol_info_t attribute) {
    hsa_executable_symbol_t found{};
    EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, name, &gpu, &found), HSA_STATUS_SUCCESS);
    uint64_t value = 0;
    EXPECT_EQ(hsa_executable_symbol_get_info(found, attribute, &value), HSA_STATUS_SUCCESS);
    return value;
  }

  static uint16_t header_of(hsa_packet_type_t type, bool barrier = false) {
    return static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE | int{barrier} << HSA_PACKET_HEADER_BARRIER |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  }
  /// Writes a packet as the specification says: the body first, then its first word with the header, then the doorbell.
  template <typename Packet>
  void submit(const Packet& packet) {
    static_assert(sizeof packet == 64);
    const uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) std::this_thread::yield();
    char* slot = static_cast<char*>(queue->base_address) + index % queue->size * sizeof packet;
    const char* bytes = reinterpret_cast<const char*>(&packet);
    uint32_t first = 0;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(slot + sizeof first, bytes + sizeof first, sizeof packet - sizeof first);
    __atomic_store_n(reinterpret_cast<uint32_t*>(slot), first, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, static_cast<int64_t>(index));
  }
  hsa_kernel_dispatch_packet_t dispatch(const char* kernel, uint32_t grid, uint16_t group, hsa_signal_t done) {
    hsa_kernel_dispatch_packet_t packet{};
    packet.header = header_of(HSA_PACKET_TYPE_KERNEL_DISPATCH);
    packet.setup = 1;
    packet.workgroup_size_x = group;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = grid;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = symbol(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
    packet.kernarg_address = kernarg;
    packet.completion_signal = done;
    return packet;
  }
  void set_arguments(const void* pointer, int value) {
    std::memcpy(kernarg, &pointer, sizeof pointer);
    std::memcpy(kernarg + 8, &value, sizeof value);
  }
  hsa_status_t awaited_error() {
    auto future = error.get_future();
    if (future.wait_for(std::chrono::seconds(10)) != std::future_status::ready) return HSA_STATUS_SUCCESS;
    return future.get();
  }

  static std::vector<uint8_t> code;
  std::promise<hsa_status_t> error;
  hsa_executable_t executable{};
  hsa_queue_t* queue = nullptr;
  char* kernarg = nullptr;
};
std::vector<uint8_t> HsaQueue::code;

TEST_F(HsaQueue, AKernelRunsAndItsTimesAreKept) {
  auto* data = allocate<int>(gpu_pools[0], 200);
  for (int i = 0; i < 200; ++i) data[i] = i;
  set_arguments(data, 1000);
  const hsa_signal_t done = make_signal(1);
  submit(dispatch("add.kd", 200, 64, done));
  await_zero(done);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(data[i], i + 1000 + 10 * (i % 4 + 1)) << i;
  hsa_amd_profiling_dispatch_time_t time{};
  ASSERT_EQ(hsa_amd_profiling_get_dispatch_time(gpu, done, &time), HSA_STATUS_SUCCESS);
  uint64_t now = 0;
  ASSERT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now), HSA_STATUS_SUCCESS);
  EXPECT_GT(time.start, 0U);
  EXPECT_GE(time.end, time.start);
  EXPECT_LE(time.end, now);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

TEST_F(HsaQueue, MorePacketsThanSlotsRunInOrder) {
  const hsa_signal_t done = make_signal(1000);
  for (int i = 0; i < 1000; ++i) {
    auto packet = dispatch("bump.kd", 1, 1, done);
    packet.header = header_of(HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
    submit(packet);
  }
  await_zero(done);
  const auto* counter = reinterpret_cast<const int*>(symbol("counter", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  EXPECT_EQ(*counter, 5 + 1000);
  EXPECT_EQ(hsa_queue_load_read_index_relaxed(queue), 1000U);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

// The GPU has xnack off.
TEST_F(HsaQueue, MemoryOfTheHostIsAFault) {
  std::vector<int> mine(16);
  set_arguments(mine.data(), 0);
  submit(dispatch("stray.kd", 1, 1, {0}));
  EXPECT_EQ(static_cast<int>(awaited_error()), HSA_STATUS_ERROR_MEMORY_FAULT);
  EXPECT_EQ(mine[0], 0);
}

TEST_F(HsaQueue, MemoryOfTheHostThatTheGpuHasBeenGivenIsNone) {
  std::vector<int> vector(16);
  int array[16]{};
  const auto store = [&](void* pointer) {
    set_arguments(pointer, 0);
    const hsa_signal_t done = make_signal(1);
    submit(dispatch("stray.kd", 1, 1, done));
    await_zero(done);
    EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
  };
  for (int* mine : {vector.data(), array}) {
    for (const int pool : {0, 2, -1}) {
      void* place = nullptr;
      mine[0] = 0;
      if (pool < 0) {
        ASSERT_EQ(hsa_amd_memory_lock(mine, 64, nullptr, 0, &place), HSA_STATUS_SUCCESS);
      } else {
        ASSERT_EQ(hsa_amd_memory_lock_to_pool(mine, 64, nullptr, 0, system_pools[pool], 0, &place), HSA_STATUS_SUCCESS);
      }
      store(place);
      EXPECT_EQ(mine[0], 1) << pool;
      EXPECT_EQ(hsa_amd_memory_unlock(mine), HSA_STATUS_SUCCESS);
    }
  }
  vector[0] = 0;
  hsa_amd_svm_attribute_pair_t access{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu.handle};
  ASSERT_EQ(hsa_amd_svm_attributes_set(vector.data(), 64, &access, 1), HSA_STATUS_SUCCESS);
  store(vector.data());
  EXPECT_EQ(vector[0], 1);
}

TEST_F(HsaQueue, BarriersWaitForAllOrAnyOfTheirSignals) {
  const hsa_signal_t first = make_signal(1), second = make_signal(1), all = make_signal(1), any = make_signal(1);
  hsa_barrier_and_packet_t barrier_and{};
  barrier_and.header = header_of(HSA_PACKET_TYPE_BARRIER_AND);
  barrier_and.dep_signal[0] = first;
  barrier_and.dep_signal[3] = second;
  barrier_and.completion_signal = all;
  hsa_barrier_or_packet_t barrier_or{};
  barrier_or.header = header_of(HSA_PACKET_TYPE_BARRIER_OR);
  barrier_or.dep_signal[0] = first;
  barrier_or.dep_signal[1] = second;
  barrier_or.completion_signal = any;
  submit(barrier_or);
  submit(barrier_and);
  hsa_signal_store_relaxed(second, 0);
  await_zero(any);
  EXPECT_EQ(hsa_signal_load_relaxed(all), 1);
  hsa_signal_store_relaxed(first, 0);
  await_zero(all);
  for (const hsa_signal_t signal : {first, second, all, any}) {
    EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  }
}

TEST_F(HsaQueue, ABarrierValuePacketComparesUnderItsMask) {
  const hsa_signal_t awaited = make_signal(0xF0), done = make_signal(1);
  hsa_amd_barrier_value_packet_t packet{};
  packet.header.header = header_of(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  packet.signal = awaited;
  packet.mask = 0x0F;
  packet.value = 7;
  packet.cond = HSA_SIGNAL_CONDITION_EQ;
  packet.completion_signal = done;
  submit(packet);
  EXPECT_EQ(hsa_signal_wait_relaxed(done, HSA_SIGNAL_CONDITION_EQ, 0, 1'000'000, HSA_WAIT_STATE_BLOCKED), 1);
  hsa_signal_store_relaxed(awaited, 0x77);
  await_zero(done);
  EXPECT_EQ(hsa_signal_destroy(awaited), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

TEST_F(HsaQueue, AStrayStoreGoesToTheEventHandlers) {
  static std::promise<uint64_t> faulted;
  ASSERT_EQ(hsa_amd_register_system_event_handler(
                [](const hsa_amd_event_t* event, void*) {
                  EXPECT_EQ(event->event_type, HSA_AMD_GPU_MEMORY_FAULT_EVENT);
                  faulted.set_value(event->memory_fault.virtual_address);
                  return HSA_STATUS_SUCCESS;
                },
                nullptr),
            HSA_STATUS_SUCCESS);
  set_arguments(reinterpret_cast<void*>(0x1230), 0);
  testing::internal::CaptureStderr();
  submit(dispatch("stray.kd", 1, 1, {0}));
  auto future = faulted.get_future();
  ASSERT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(future.get(), 0x1230U);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("stray"), std::string::npos) << report;
  EXPECT_NE(report.find("0x1230"), std::string::npos) << report;
}

TEST_F(HsaQueue, AStrayStoreThatNoHandlerTakesGoesToTheQueue) {
  set_arguments(reinterpret_cast<void*>(0x1230), 0);
  submit(dispatch("stray.kd", 1, 1, {0}));
  EXPECT_EQ(static_cast<int>(awaited_error()), HSA_STATUS_ERROR_MEMORY_FAULT);
}

TEST_F(HsaQueue, ATrapIsAnException) {
  submit(dispatch("trap.kd", 1, 1, {0}));
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_EXCEPTION);
}

// Errors in packets are reported as ROCr reports them.
TEST_F(HsaQueue, SizesThatDoNotFitEachOtherAreIncompatible) {
  auto packet = dispatch("bump.kd", 1, 1, {0});
  packet.setup = 4;
  submit(packet);
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
}

TEST_F(HsaQueue, TooMuchGroupMemoryIsAnInvalidAllocation) {
  auto packet = dispatch("bump.kd", 1, 1, {0});
  packet.group_segment_size = UINT32_MAX;
  submit(packet);
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(HsaQueue, WhatIsNoKernelIsAnInvalidCodeObject) {
  auto packet = dispatch("bump.kd", 1, 1, {0});
  packet.kernel_object = 0;
  submit(packet);
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

TEST_F(HsaQueue, ATooLargeWorkGroupIsAnInvalidArgument) {
  submit(dispatch("bump.kd", 1, UINT16_MAX, {0}));
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaQueue, AnUnknownTypeIsAnInvalidFormat) {
  auto packet = dispatch("bump.kd", 1, 1, {0});
  packet.header |= 0xFF;
  submit(packet);
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

TEST_F(HsaQueue, AnUnknownVendorPacketIsAnInvalidFormat) {
  hsa_amd_barrier_value_packet_t packet{};
  packet.header.header = header_of(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  packet.header.AmdFormat = 99;
  submit(packet);
  EXPECT_EQ(awaited_error(), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

TEST_F(HsaQueue, MayBeDestroyedInItsOwnErrorCallback) {
  for (int round = 0; round < 2; ++round) {
    std::promise<hsa_status_t> destroyed;
    hsa_queue_t* other = nullptr;
    ASSERT_EQ(hsa_queue_create(
                  gpu, 64, HSA_QUEUE_TYPE_MULTI,
                  [](hsa_status_t, hsa_queue_t* failed, void* data) {
                    static_cast<std::promise<hsa_status_t>*>(data)->set_value(hsa_queue_destroy(failed));
                  },
                  &destroyed, UINT32_MAX, UINT32_MAX, &other),
              HSA_STATUS_SUCCESS);
    std::swap(queue, other);
    auto packet = dispatch("bump.kd", 1, 1, {0});
    packet.workgroup_size_x = 0;
    submit(packet);
    std::swap(queue, other);
    auto future = destroyed.get_future();
    ASSERT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    EXPECT_EQ(future.get(), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_queue_destroy(other), HSA_STATUS_ERROR_INVALID_QUEUE);
  }
}

TEST_F(HsaQueue, CreationChecksItsArguments) {
  hsa_queue_t* other = nullptr;
  EXPECT_EQ(hsa_queue_create(gpu, 100, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &other),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_queue_create(gpu, 1 << 20, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &other),
            HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  EXPECT_EQ(hsa_queue_create(cpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &other),
            HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  EXPECT_EQ(hsa_queue_destroy(nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_queue_t foreign{};
  EXPECT_EQ(hsa_queue_destroy(&foreign), HSA_STATUS_ERROR_INVALID_QUEUE);
}

TEST_F(HsaQueue, IndicesChangeInEveryWay) {
  hsa_queue_t* soft = nullptr;
  const hsa_signal_t doorbell = make_signal(-1);
  ASSERT_EQ(hsa_soft_queue_create({system_pools[0].handle}, 16, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH,
                                  doorbell, &soft),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<hsa_agent_dispatch_packet_t*>(soft->base_address)[15].header, HSA_PACKET_TYPE_INVALID);
  EXPECT_EQ(soft->features, HSA_QUEUE_FEATURE_AGENT_DISPATCH);
  EXPECT_EQ(hsa_queue_add_write_index_acquire(soft, 3), 0U);
  EXPECT_EQ(hsa_queue_cas_write_index_relaxed(soft, 4, 9), 3U);
  EXPECT_EQ(hsa_queue_cas_write_index_scacq_screl(soft, 3, 9), 3U);
  EXPECT_EQ(hsa_queue_load_write_index_scacquire(soft), 9U);
  hsa_queue_store_write_index_release(soft, 11);
  EXPECT_EQ(hsa_queue_load_write_index_relaxed(soft), 11U);
  hsa_queue_store_read_index_screlease(soft, 5);
  EXPECT_EQ(hsa_queue_load_read_index_acquire(soft), 5U);
  hsa_signal_store_relaxed(soft->doorbell_signal, 10);  // the program waits on it itself
  EXPECT_EQ(hsa_signal_load_relaxed(doorbell), 10);
  EXPECT_EQ(hsa_queue_destroy(soft), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(doorbell), HSA_STATUS_SUCCESS);
}

TEST_F(HsaQueue, ComputeUnitMasksAreCutToTheUnitsThereAre) {
  uint32_t mask[4]{};
  ASSERT_EQ(hsa_amd_queue_cu_get_mask(queue, 128, mask), HSA_STATUS_SUCCESS);
  EXPECT_EQ(mask[0], UINT32_MAX);
  EXPECT_EQ(mask[3], (1U << (110 - 96)) - 1);
  const uint32_t wish[4] = {0xF, 0, 0, UINT32_MAX};
  EXPECT_EQ(static_cast<int>(hsa_amd_queue_cu_set_mask(queue, 128, wish)), HSA_STATUS_CU_MASK_REDUCED);
  ASSERT_EQ(hsa_amd_queue_cu_get_mask(queue, 128, mask), HSA_STATUS_SUCCESS);
  EXPECT_EQ(mask[0], 0xFU);
  EXPECT_EQ(mask[3], (1U << (110 - 96)) - 1);
  EXPECT_EQ(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_SUCCESS);
}

// As AMD's rocrtst looks at it: kernels are on as many compute units as the mask has, and on none of another's.
TEST_F(HsaQueue, KernelsSeeTheComputeUnitsOfTheMask) {
  constexpr uint32_t groups = 400, units = 110;
  auto* seen = allocate<int>(gpu_pools[0], groups);
  set_arguments(seen, 0);
  const auto run = [&] {
    const hsa_signal_t done = make_signal(1);
    submit(dispatch("where.kd", groups, 1, done));
    await_zero(done);
    hsa_signal_destroy(done);
    return std::set<int>(seen, seen + groups);
  };
  const std::set<int> all = run();
  EXPECT_EQ(all.size(), units);
  uint32_t mask[4] = {0xF0F00001, 0, 0x80000000, 0x2001}, others[4];
  for (int i = 0; i < 4; ++i) others[i] = ~mask[i];
  others[3] &= (1U << (units - 96)) - 1;
  ASSERT_EQ(hsa_amd_queue_cu_set_mask(queue, 128, mask), HSA_STATUS_SUCCESS);
  const std::set<int> some = run();
  EXPECT_EQ(some.size(), 12U);
  ASSERT_EQ(hsa_amd_queue_cu_set_mask(queue, 128, others), HSA_STATUS_SUCCESS);
  std::set<int> rest = run();
  EXPECT_EQ(rest.size(), units - 12);
  rest.insert(some.begin(), some.end());
  EXPECT_EQ(rest, all);
  ASSERT_EQ(hsa_amd_queue_cu_set_mask(queue, 0, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(run(), all);
}

TEST_F(HsaQueue, QueuesTellTheirAgentAndDoorbell) {
  hsa_agent_t agent{};
  EXPECT_EQ(hsa_amd_queue_get_info(queue, HSA_AMD_QUEUE_INFO_AGENT, &agent), HSA_STATUS_SUCCESS);
  EXPECT_EQ(agent.handle, gpu.handle);
  uint64_t doorbell = 0;
  EXPECT_EQ(hsa_amd_queue_get_info(queue, HSA_AMD_QUEUE_INFO_DOORBELL_ID, &doorbell), HSA_STATUS_SUCCESS);
  EXPECT_NE(doorbell, 0U);
  EXPECT_EQ(hsa_amd_queue_get_info(queue, static_cast<hsa_queue_info_attribute_t>(9), &doorbell),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_queue_get_info(nullptr, HSA_AMD_QUEUE_INFO_AGENT, &agent), HSA_STATUS_ERROR_INVALID_QUEUE);
  EXPECT_EQ(hsa_amd_queue_set_priority(queue, static_cast<hsa_amd_queue_priority_t>(-1)),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

// Destroying a queue is no error of the queue's, whenever its thread comes to see it.
TEST_F(HsaQueue, TheErrorCallbackIsNotForDestruction) {
  std::atomic<int> errors{0};
  const auto count = [](hsa_status_t, hsa_queue_t*, void* data) { ++*static_cast<std::atomic<int>*>(data); };
  for (int i = 0; i < 3000; ++i) {
    hsa_queue_t* idle = nullptr;
    ASSERT_EQ(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, count, &errors, 0, 0, &idle), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_queue_destroy(idle), HSA_STATUS_SUCCESS);
  }
  EXPECT_EQ(errors, 0);
}

}  // namespace

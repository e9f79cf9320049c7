// Many queues, threads, signals and handlers at a time, and queues that fail beside others that work. The long versions
// are hsa_load's (load.cpp).
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <thread>

#include "hsa/counter.h"
#include "hsa/kernels.h"
#include "hsa/program.h"

using namespace Atoll::test;

namespace {

class HsaLoad : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    code = compile_kernels(std::string(test_kernels) + R"(
__kernel void illegal(void) { __asm__ volatile(".long 0xbf9fffff\n"); }  // a SOPP opcode that no GFX9 has
__kernel void nowhere(void) {
  __asm__ volatile("s_mov_b32 s4, 0x123400\n s_mov_b32 s5, 0\n s_setpc_b64 s[4:5]" ::: "s4", "s5");
}
)");
  }
  void SetUp() override {
    setenv("ATOLL_GPU", "gfx90a:sramecc+:xnack-", 1);
    ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS); }

  static inline std::vector<uint8_t> code;
};

TEST_F(HsaLoad, QueuesAreSharedByThreads) {
  const Gpu gpu;
  const Kernels kernels(gpu, code);
  const uint64_t add = kernels.object("add.kd");
  std::deque<FailingQueue> queues;
  for (int i = 0; i < 16; ++i) queues.emplace_back(gpu);
  std::deque<Counter> counters;
  for (int i = 0; i < 32; ++i) counters.emplace_back(gpu, add);
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < counters.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        for (size_t round = 0; round < 40; ++round) counters[i].count(queues[(i + round) % queues.size()]);
      } catch (const Refused&) {
        ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
  for (const Counter& counter : counters) EXPECT_TRUE(counter.is_right());
}

TEST_F(HsaLoad, AQueueThatFailsLeavesTheOthersAlone) {
  const Gpu gpu;
  const Kernels kernels(gpu, code);
  const uint64_t add = kernels.object("add.kd");
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0};
  std::deque<Counter> counters;
  for (int i = 0; i < 3; ++i) counters.emplace_back(gpu, add);
  std::vector<std::thread> threads;
  for (Counter& counter : counters) {
    threads.emplace_back([&] {
      try {
        FailingQueue queue(gpu);
        do {
          counter.count(queue);
        } while (!stop);
      } catch (const Refused&) {
        ++refused;
      }
    });
  }

  struct Bad {
    const char* what;
    int status;
    const char* kernel;
    std::function<void(hsa_kernel_dispatch_packet_t&)> change;
  };
  const auto nothing = [](hsa_kernel_dispatch_packet_t&) {};
  const Bad all[] = {
      {"a stray store", HSA_STATUS_ERROR_MEMORY_FAULT, "stray.kd", nothing},
      {"a trap", HSA_STATUS_ERROR_EXCEPTION, "trap.kd", nothing},
      {"an illegal instruction", HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "illegal.kd", nothing},
      {"a wild jump", HSA_STATUS_ERROR_MEMORY_FAULT, "nowhere.kd", nothing},
      {"sizes that do not fit", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "bump.kd",
       [](auto& packet) { packet.setup = 4; }},
      {"too much LDS", HSA_STATUS_ERROR_INVALID_ALLOCATION, "bump.kd",
       [](auto& packet) { packet.group_segment_size = UINT32_MAX; }},
      {"no kernel", HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "bump.kd", [](auto& packet) { packet.kernel_object = 0; }},
      {"a large work-group", HSA_STATUS_ERROR_INVALID_ARGUMENT, "bump.kd",
       [](auto& packet) { packet.workgroup_size_x = UINT16_MAX; }},
      {"an unknown type", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "bump.kd",
       [](auto& packet) { packet.header = FailingQueue::header(static_cast<hsa_packet_type_t>(9)); }},
  };
  auto* arguments = static_cast<AddArguments*>(Gpu::allocate(gpu.kernarg, sizeof(AddArguments)));
  *arguments = {reinterpret_cast<uint32_t*>(0x1000), 0};
  for (int round = 0; round < 3; ++round) {
    for (const Bad& bad : all) {
      FailingQueue queue(gpu);
      const hsa_signal_t done = make_signal(1);
      auto packet = FailingQueue::dispatch(kernels.object(bad.kernel), arguments, 64, 64, done);
      bad.change(packet);
      queue.submit(packet);
      EXPECT_EQ(static_cast<int>(queue.await_failure(done)), bad.status) << bad.what;
      EXPECT_EQ(hsa_signal_load_relaxed(done), 1) << "the signal of what failed is left as it was";
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
  for (const Counter& counter : counters) EXPECT_TRUE(counter.is_right());
}

TEST_F(HsaLoad, ManyThreadsWaitForSignalsOfTheirOwn) {
  constexpr size_t waiters = 200, others = 2000;
  std::vector<hsa_signal_t> signals(others);
  for (hsa_signal_t& signal : signals) signal = make_signal(1);
  std::atomic<size_t> woken{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      while (hsa_signal_wait_scacquire(signals[i], HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) !=
             0) {
      }
      ++woken;
    });
  }
  for (size_t i = waiters; i < others; ++i) hsa_signal_store_screlease(signals[i], 0);
  EXPECT_EQ(woken, 0U);
  for (size_t i = 0; i < waiters; ++i) hsa_signal_store_screlease(signals[i], 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, waiters);
  for (const hsa_signal_t signal : signals) EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaLoad, ManyHandlersAreCalledOnceEach) {
  constexpr size_t count = 1000;
  struct Handled {
    hsa_signal_t signal, all;
    std::atomic<int> calls{0};
  };
  const hsa_signal_t all = make_signal(count);
  std::deque<Handled> handled;
  for (size_t i = 0; i < count; ++i) {
    Handled& each = handled.emplace_back(make_signal(1), all);
    const auto handler = [](hsa_signal_value_t, void* data) {
      auto* told = static_cast<Handled*>(data);
      ++told->calls;
      hsa_signal_subtract_screlease(told->all, 1);
      return false;
    };
    ASSERT_EQ(hsa_amd_signal_async_handler(each.signal, HSA_SIGNAL_CONDITION_EQ, 0, handler, &each),
              HSA_STATUS_SUCCESS);
  }
  for (const Handled& each : handled) hsa_signal_store_screlease(each.signal, 0);
  while (hsa_signal_wait_scacquire(all, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0) {
  }
  for (const Handled& each : handled) {
    EXPECT_EQ(each.calls, 1);
    EXPECT_EQ(hsa_signal_destroy(each.signal), HSA_STATUS_SUCCESS);
  }
  EXPECT_EQ(hsa_signal_destroy(all), HSA_STATUS_SUCCESS);
}

// A signal that is destroyed while a handler waits for it: the handler is dropped.
TEST_F(HsaLoad, HandlersOfDestroyedSignalsAreDropped) {
  for (int i = 0; i < 100; ++i) {
    const hsa_signal_t signal = make_signal(1);
    const auto never = [](hsa_signal_value_t, void*) {
      ADD_FAILURE();
      return false;
    };
    ASSERT_EQ(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, never, nullptr), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  }
}

// More than the host has mappings for, if each took two; and each has its own bounds.
TEST_F(HsaLoad, FortyThousandAllocationsAreThereAtATime) {
  const Gpu gpu;
  constexpr size_t count = 40'000, bytes = 4096;
  std::vector<uint64_t*> all(count);
  for (size_t i = 0; i < count; ++i) {
    all[i] = static_cast<uint64_t*>(Gpu::allocate(gpu.device, bytes));
    all[i][0] = all[i][bytes / sizeof(uint64_t) - 1] = i;
  }
  for (size_t i = 0; i < count; ++i) ASSERT_TRUE(all[i][0] == i && all[i][bytes / sizeof(uint64_t) - 1] == i) << i;
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  ASSERT_EQ(hsa_amd_pointer_info(all[count - 2] + 1, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.agentBaseAddress, all[count - 2]);
  EXPECT_EQ(info.sizeInBytes, bytes);
  for (uint64_t* each : all) ASSERT_EQ(hsa_amd_memory_pool_free(each), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(all.back()), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

}  // namespace

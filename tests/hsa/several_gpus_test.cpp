// Several GPUs in one process: agents and pools of each, code for each, memory of one used by another, and what the
// environment shows and hides.
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "hsa/access.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/kernels.h"
#include "hsa/other_process.h"
#include "hsa/program.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

/// A GPU with a queue, and code for it loaded into an executable that all GPUs share.
struct Gpu {
  hsa_agent_t agent{};
  std::vector<hsa_amd_memory_pool_t> pools;
  hsa_queue_t* queue = nullptr;
};

class HsaSeveralGpus : public testing::Test {
 protected:
  /// Two that link directly, and between them one of another kind.
  static constexpr const char* three = "mi250x,rx7900xtx,mi250x";

  void start(const char* gpus_of_machine) {
    setenv("ATOLL_GPU", gpus_of_machine, 1);
    ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
    started = true;
    ASSERT_EQ(hsa_iterate_agents(
                  [](hsa_agent_t agent, void* data) {
                    auto* test = static_cast<HsaSeveralGpus*>(data);
                    if (info<hsa_device_type_t>(agent, HSA_AGENT_INFO_DEVICE) == HSA_DEVICE_TYPE_CPU) {
                      test->cpu = agent;
                    } else {
                      test->gpus.push_back({agent, HsaTest::pools_of(agent)});
                    }
                    return HSA_STATUS_SUCCESS;
                  },
                  this),
              HSA_STATUS_SUCCESS);
    system_pools = HsaTest::pools_of(cpu);
  }
  void TearDown() override {
    for (const char* variable : {"ATOLL_GPUS", "ATOLL_MEMORY", "ROCR_VISIBLE_DEVICES"}) unsetenv(variable);
    if (!started) return;
    for (const Gpu& gpu : gpus)
      if (gpu.queue != nullptr) EXPECT_EQ(hsa_queue_destroy(gpu.queue), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  }

  template <typename T>
  static T info(hsa_agent_t agent, int attribute) {
    T value{};
    EXPECT_EQ(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), &value), HSA_STATUS_SUCCESS);
    return value;
  }
  static std::string text(hsa_agent_t agent, int attribute) {
    char value[64]{};
    EXPECT_EQ(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), value), HSA_STATUS_SUCCESS);
    return value;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Gpu& gpu : gpus) names.push_back(text(gpu.agent, HSA_AGENT_INFO_NAME));
    return names;
  }
  template <typename T>
  static T* allocate(hsa_amd_memory_pool_t pool, size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(hsa_amd_memory_pool_allocate(pool, count * sizeof(T), 0, &pointer), HSA_STATUS_SUCCESS);
    return static_cast<T*>(pointer);
  }

  /// Loads the code for each GPU into one executable, and gives each a queue.
  hsa_executable_t load(const std::map<std::string, std::vector<uint8_t>>& code) {
    hsa_executable_t executable{};
    EXPECT_EQ(
        hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
        HSA_STATUS_SUCCESS);
    for (Gpu& gpu : gpus) {
      const std::vector<uint8_t>& bytes = code.at(text(gpu.agent, HSA_AGENT_INFO_NAME));
      hsa_code_object_reader_t reader{};
      EXPECT_EQ(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader), HSA_STATUS_SUCCESS);
      EXPECT_EQ(hsa_executable_load_agent_code_object(executable, gpu.agent, reader, nullptr, nullptr),
                HSA_STATUS_SUCCESS);
      EXPECT_EQ(hsa_queue_create(gpu.agent, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &gpu.queue),
                HSA_STATUS_SUCCESS);
    }
    EXPECT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
    return executable;
  }
  static uint64_t symbol(hsa_executable_t executable, const Gpu& gpu, const char* name, int attribute) {
    hsa_executable_symbol_t found{};
    EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, name, &gpu.agent, &found), HSA_STATUS_SUCCESS);
    uint64_t value = 0;
    EXPECT_EQ(hsa_executable_symbol_get_info(found, static_cast<hsa_executable_symbol_info_t>(attribute), &value),
              HSA_STATUS_SUCCESS);
    return value;
  }
  /// Launches `add` with these arguments on a GPU's queue.
  hsa_signal_t add(hsa_executable_t executable, const Gpu& gpu, int* data, uint32_t count, int value) {
    auto* kernarg = allocate<char>(system_pools[1], 64);
    std::memcpy(kernarg, &data, sizeof data);
    std::memcpy(kernarg + 8, &value, sizeof value);
    hsa_kernel_dispatch_packet_t packet{};
    packet.setup = 1;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = count;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = symbol(executable, gpu, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
    packet.kernarg_address = kernarg;
    packet.completion_signal = HsaTest::make_signal(1);
    const uint64_t index = hsa_queue_add_write_index_scacq_screl(gpu.queue, 1);
    packet.header = static_cast<uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                                          HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                          HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    write_packet(*gpu.queue, index, packet);
    hsa_signal_store_screlease(gpu.queue->doorbell_signal, static_cast<int64_t>(index));
    return packet.completion_signal;
  }

  /// The same on a queue of its own, to its end: what that queue's callback was told if it failed, with what was said.
  hsa_status_t try_to_add(hsa_executable_t executable, Gpu& gpu, int* data, uint32_t count, std::string& report) {
    static std::atomic<hsa_status_t> failed;
    failed = HSA_STATUS_SUCCESS;
    hsa_queue_t* own = nullptr;
    EXPECT_EQ(hsa_queue_create(
                  gpu.agent, 64, HSA_QUEUE_TYPE_MULTI,
                  [](hsa_status_t status, hsa_queue_t*, void*) { failed = status; }, nullptr, 0, 0, &own),
              HSA_STATUS_SUCCESS);
    std::swap(gpu.queue, own);
    testing::internal::CaptureStderr();
    const hsa_signal_t done = add(executable, gpu, data, count, 100);
    while (failed == HSA_STATUS_SUCCESS &&
           hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 10'000'000, HSA_WAIT_STATE_BLOCKED) != 0) {
    }
    std::swap(gpu.queue, own);
    EXPECT_EQ(hsa_queue_destroy(own), HSA_STATUS_SUCCESS);
    report = testing::internal::GetCapturedStderr();
    return failed;
  }

  bool started = false;
  hsa_agent_t cpu{};
  std::vector<Gpu> gpus;
  std::vector<hsa_amd_memory_pool_t> system_pools;
};

TEST_F(HsaSeveralGpus, EachIsAnAgentOfItsOwn) {
  start(three);
  EXPECT_EQ(names(), (std::vector<std::string>{"gfx90a", "gfx1100", "gfx90a"}));
  std::set<uint32_t> nodes, locations, driver_ids;
  std::set<std::string> uuids;
  for (const Gpu& gpu : gpus) {
    nodes.insert(info<uint32_t>(gpu.agent, HSA_AGENT_INFO_NODE));
    locations.insert(info<uint32_t>(gpu.agent, HSA_AMD_AGENT_INFO_BDFID));
    driver_ids.insert(info<uint32_t>(gpu.agent, HSA_AMD_AGENT_INFO_DRIVER_UID));
    uuids.insert(text(gpu.agent, HSA_AMD_AGENT_INFO_UUID));
    EXPECT_EQ(info<hsa_agent_t>(gpu.agent, HSA_AMD_AGENT_INFO_NEAREST_CPU).handle, cpu.handle);
    EXPECT_EQ(gpu.pools.size(), 3U);
  }
  EXPECT_EQ(nodes, (std::set<uint32_t>{1, 2, 3}));
  EXPECT_EQ(locations.size(), 3U);
  EXPECT_EQ(driver_ids.size(), 3U);
  EXPECT_EQ(uuids.size(), 3U);
  EXPECT_EQ(info<uint32_t>(gpus[0].agent, HSA_AGENT_INFO_WAVEFRONT_SIZE), 64U);
  EXPECT_EQ(info<uint32_t>(gpus[1].agent, HSA_AGENT_INFO_WAVEFRONT_SIZE), 32U);
  EXPECT_NE(info<hsa_isa_t>(gpus[0].agent, HSA_AGENT_INFO_ISA).handle,
            info<hsa_isa_t>(gpus[1].agent, HSA_AGENT_INFO_ISA).handle);
  EXPECT_NE(info<uint32_t>(gpus[0].agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
            info<uint32_t>(gpus[1].agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT));
}

TEST_F(HsaSeveralGpus, TheyReachEachOtherDirectlyOrByWayOfTheHost) {
  start(three);
  const auto hops = [&](size_t from, size_t to) {
    std::vector<hsa_amd_memory_pool_link_info_t> links(4);
    uint32_t count = 0;
    hsa_amd_memory_pool_access_t access{};
    const auto ask = [&](hsa_amd_agent_memory_pool_info_t attribute, void* value) {
      EXPECT_EQ(hsa_amd_agent_memory_pool_get_info(gpus[from].agent, gpus[to].pools[0], attribute, value),
                HSA_STATUS_SUCCESS);
    };
    ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access);
    EXPECT_EQ(access, from == to ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                 : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &count);
    ask(HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, links.data());
    links.resize(count);
    std::vector<int> types;
    for (const auto& link : links) types.push_back(link.link_type);
    return types;
  };
  constexpr int pcie = HSA_AMD_LINK_INFO_TYPE_PCIE, xgmi = HSA_AMD_LINK_INFO_TYPE_XGMI;
  EXPECT_EQ(hops(0, 0), std::vector<int>());
  EXPECT_EQ(hops(0, 2), std::vector<int>{xgmi});
  EXPECT_EQ(hops(2, 0), std::vector<int>{xgmi});
  EXPECT_EQ(hops(0, 1), (std::vector<int>{pcie, pcie}));
  EXPECT_EQ(hops(1, 2), (std::vector<int>{pcie, pcie}));
  hsa_amd_memory_pool_access_t access{};
  ASSERT_EQ(hsa_amd_agent_memory_pool_get_info(gpus[0].agent, gpus[2].pools[2], HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                               &access),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
}

TEST_F(HsaSeveralGpus, WhoMayUseMemoryIsRemembered) {
  start(three);
  auto* memory = allocate<int>(gpus[1].pools[0], 100);
  EXPECT_EQ(agents_with_access(memory), (std::set<uint64_t>{gpus[1].agent.handle}));
  const hsa_agent_t others[] = {gpus[0].agent, gpus[2].agent};
  ASSERT_EQ(hsa_amd_agents_allow_access(2, others, nullptr, memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(agents_with_access(memory),
            (std::set<uint64_t>{gpus[0].agent.handle, gpus[1].agent.handle, gpus[2].agent.handle}));
  EXPECT_EQ(agents_with_access(allocate<int>(system_pools[0], 100)).size(), 4U);
}

TEST_F(HsaSeveralGpus, KernelsOfEachReadAndWriteTheOthersMemory) {
  const std::map<std::string, std::vector<uint8_t>> code{{"gfx90a", compile_kernels(test_kernels)},
                                                         {"gfx1100", compile_kernels(test_kernels, "gfx1100")}};
  start(three);
  const hsa_executable_t executable = load(code);
  std::set<uint64_t> objects;
  for (const Gpu& gpu : gpus)
    objects.insert(symbol(executable, gpu, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT));
  EXPECT_EQ(objects.size(), 3U) << "each has its own";
  constexpr uint32_t count = 20'000;
  auto* memory = allocate<int>(gpus[2].pools[0], count);
  const hsa_agent_t others[] = {gpus[0].agent, gpus[1].agent};
  ASSERT_EQ(hsa_amd_agents_allow_access(2, others, nullptr, memory), HSA_STATUS_SUCCESS);
  for (uint32_t i = 0; i < count; ++i) memory[i] = static_cast<int>(i);
  for (size_t g = 0; g < gpus.size(); ++g) {
    const hsa_signal_t done = add(executable, gpus[g], memory, count, 1000 << 4 * g);
    HsaTest::await_zero(done);
    hsa_amd_profiling_dispatch_time_t time{};
    EXPECT_EQ(hsa_amd_profiling_get_dispatch_time(gpus[g].agent, done, &time), HSA_STATUS_SUCCESS);
  }
  const int added = 1000 + (1000 << 4) + (1000 << 8);
  for (uint32_t i = 0; i < count; ++i)
    ASSERT_EQ(memory[i], static_cast<int>(i) + added + 3 * 10 * (static_cast<int>(i) % 4 + 1)) << i;
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

// hsa_ext_amd.h, hsa_amd_agents_allow_access: agents that are not in the list have no access any longer.
TEST_F(HsaSeveralGpus, WhoIsNotAllowedToFaultsAndIsToldWhoseMemoryItIs) {
  const std::map<std::string, std::vector<uint8_t>> code{{"gfx90a", compile_kernels(test_kernels)},
                                                         {"gfx1100", compile_kernels(test_kernels, "gfx1100")}};
  start(three);
  const hsa_executable_t executable = load(code);
  constexpr uint32_t count = 4096;
  auto* memory = allocate<int>(gpus[1].pools[0], count);
  auto* shared = allocate<int>(system_pools[0], count);
  const auto allow = [&](std::vector<hsa_agent_t> agents) {
    ASSERT_EQ(hsa_amd_agents_allow_access(static_cast<uint32_t>(agents.size()), agents.data(), nullptr, memory),
              HSA_STATUS_SUCCESS);
  };
  std::string report;
  for (const size_t other : {0u, 2u}) {
    EXPECT_EQ(try_to_add(executable, gpus[1], memory, count, report), HSA_STATUS_SUCCESS) << report;
    EXPECT_EQ(try_to_add(executable, gpus[other], shared, count, report), HSA_STATUS_SUCCESS) << report;
    EXPECT_EQ(static_cast<int>(try_to_add(executable, gpus[other], memory, count, report)),
              HSA_STATUS_ERROR_MEMORY_FAULT);
    EXPECT_NE(report.find("device memory (16384 bytes"), std::string::npos) << report;
    EXPECT_NE(report.find("of GPU 1; GPU " + std::to_string(other) + " has not been given access"), std::string::npos)
        << report;
    allow({gpus[other].agent});
    EXPECT_EQ(try_to_add(executable, gpus[other], memory, count, report), HSA_STATUS_SUCCESS) << report;
    allow({gpus[other == 0 ? 2 : 0].agent});
    EXPECT_EQ(static_cast<int>(try_to_add(executable, gpus[other], memory, count, report)),
              HSA_STATUS_ERROR_MEMORY_FAULT);
    allow({cpu});
  }
  EXPECT_EQ(memory[0], 2 * 100 + 2 * 100 + 4 * 10) << "what faulted has stored nothing";

  // Freed memory is no longer counted.
  allow({gpus[0].agent});
  ASSERT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
  memory = allocate<int>(gpus[1].pools[0], count);
  EXPECT_EQ(static_cast<int>(try_to_add(executable, gpus[0], memory, count, report)), HSA_STATUS_ERROR_MEMORY_FAULT);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSeveralGpus, RunKernelsAtTheSameTime) {
  const std::map<std::string, std::vector<uint8_t>> code{{"gfx90a", compile_kernels(test_kernels)},
                                                         {"gfx1100", compile_kernels(test_kernels, "gfx1100")}};
  start(three);
  const hsa_executable_t executable = load(code);
  constexpr uint32_t count = 50'000;
  std::vector<int*> memory;
  std::vector<hsa_signal_t> done;
  for (int round = 0; round < 3; ++round) {
    for (const Gpu& gpu : gpus) {
      memory.push_back(allocate<int>(gpu.pools[0], count));
      done.push_back(add(executable, gpu, memory.back(), count, 100));
    }
  }
  for (const hsa_signal_t signal : done) HsaTest::await_zero(signal);
  for (size_t i = 0; i < memory.size(); ++i)
    for (uint32_t item = 0; item < count; item += 97)
      ASSERT_EQ(memory[i][item], 100 + 10 * (static_cast<int>(item) % 4 + 1)) << i;
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSeveralGpus, CodeForAnotherKindIsRefusedByName) {
  const std::vector<uint8_t> code = compile_kernels(test_kernels);
  start("mi250x,rx7900xtx");
  hsa_code_object_reader_t reader{};
  hsa_executable_t executable{};
  ASSERT_EQ(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
            HSA_STATUS_SUCCESS);
  testing::internal::CaptureStderr();
  EXPECT_NE(hsa_executable_load_agent_code_object(executable, gpus[1].agent, reader, nullptr, nullptr),
            HSA_STATUS_SUCCESS);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gfx1100"), std::string::npos);
  EXPECT_EQ(hsa_executable_load_agent_code_object(executable, gpus[0].agent, reader, nullptr, nullptr),
            HSA_STATUS_SUCCESS);
  hsa_executable_symbol_t found{};
  EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, "add.kd", &gpus[0].agent, &found), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, "add.kd", &gpus[1].agent, &found),
            HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSeveralGpus, CopiesGoFromOneToAnother) {
  start(three);
  constexpr size_t count = 300'000;
  auto* from = allocate<int>(gpus[0].pools[0], count);
  auto* to = allocate<int>(gpus[1].pools[0], count);
  for (size_t i = 0; i < count; ++i) from[i] = static_cast<int>(7 * i);
  const hsa_signal_t done = HsaTest::make_signal(1);
  ASSERT_EQ(hsa_amd_memory_async_copy(to, gpus[1].agent, from, gpus[0].agent, count * sizeof(int), 0, nullptr, done),
            HSA_STATUS_SUCCESS);
  HsaTest::await_zero(done);
  EXPECT_EQ(std::memcmp(from, to, count * sizeof(int)), 0);

  // Each GPU has as many copy engines as its kind has; the source's copy.
  uint32_t engines = 0, of_other = 0;
  ASSERT_EQ(hsa_amd_memory_copy_engine_status(gpus[1].agent, gpus[0].agent, &engines), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_memory_copy_engine_status(gpus[0].agent, gpus[1].agent, &of_other), HSA_STATUS_SUCCESS);
  EXPECT_NE(engines, of_other);
  std::memset(to, 0, count * sizeof(int));
  const auto first = static_cast<hsa_amd_sdma_engine_id_t>(1);
  hsa_signal_store_relaxed(done, 1);
  ASSERT_EQ(hsa_amd_memory_async_copy_on_engine(to, gpus[1].agent, from, gpus[0].agent, count * sizeof(int), 0, nullptr,
                                                done, first, false),
            HSA_STATUS_SUCCESS);
  HsaTest::await_zero(done);
  EXPECT_EQ(std::memcmp(from, to, count * sizeof(int)), 0);

  // The upper left quarter of a square.
  std::memset(to, 0, count * sizeof(int));
  const hsa_pitched_ptr_t target{to, 400, 400 * 100}, source{from, 400, 400 * 100};
  const hsa_dim3_t corner{0, 0, 0}, range{200, 50, 1};
  hsa_signal_store_relaxed(done, 1);
  ASSERT_EQ(hsa_amd_memory_async_copy_rect(&target, &corner, &source, &corner, &range, gpus[0].agent, hsaDeviceToDevice,
                                           0, nullptr, done),
            HSA_STATUS_SUCCESS);
  HsaTest::await_zero(done);
  for (size_t row = 0; row < 100; ++row)
    for (size_t column = 0; column < 100; ++column)
      ASSERT_EQ(to[row * 100 + column], row < 50 && column < 50 ? from[row * 100 + column] : 0);
}

TEST_F(HsaSeveralGpus, MemoryIsAsLargeAsAskedForAndItsPoolsShareIt) {
  setenv("ATOLL_MEMORY", "1G", 1);
  start(three);
  constexpr size_t megabyte = 1 << 20;
  for (const Gpu& gpu : gpus) {
    size_t size = 0;
    ASSERT_EQ(hsa_amd_memory_pool_get_info(gpu.pools[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &size), HSA_STATUS_SUCCESS);
    EXPECT_EQ(size, 1024 * megabyte);
  }
  void* memory = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpus[0].pools[0], 1025 * megabyte, 0, &memory),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
  ASSERT_EQ(hsa_amd_memory_pool_allocate(gpus[0].pools[0], 700 * megabyte, 0, &memory), HSA_STATUS_SUCCESS);
  const auto available = [&](size_t gpu) {
    return info<uint64_t>(gpus[gpu].agent, HSA_AMD_AGENT_INFO_MEMORY_AVAIL) / megabyte;
  };
  EXPECT_EQ(available(0), 324U);
  EXPECT_EQ(available(1), 1024U);
  void* more = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpus[0].pools[1], 400 * megabyte, 0, &more),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpus[1].pools[0], 400 * megabyte, 0, &more), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(more), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(0), 1024U);
}

TEST_F(HsaSeveralGpus, NoMoreIsFreeThanTheHostHas) {
  setenv("ATOLL_MEMORY", "40T", 1);
  start("mi250x,mi250x");
  size_t host = 0;
  ASSERT_EQ(hsa_amd_memory_pool_get_info(system_pools[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &host), HSA_STATUS_SUCCESS);
  for (const Gpu& gpu : gpus) EXPECT_EQ(info<uint64_t>(gpu.agent, HSA_AMD_AGENT_INFO_MEMORY_AVAIL), host / 4096 * 4096);
  // Each GPU has memory that the other lacks.
  void* memory = nullptr;
  ASSERT_EQ(hsa_amd_memory_pool_allocate(gpus[0].pools[0], host / 2 / 4096 * 4096, 0, &memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info<uint64_t>(gpus[1].agent, HSA_AMD_AGENT_INFO_MEMORY_AVAIL), host - host / 2 / 4096 * 4096);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSeveralGpus, SoManyOfAKindAreThereAsTheNumberSays) {
  setenv("ATOLL_GPUS", "4", 1);
  start("mi100");
  EXPECT_EQ(names(), std::vector<std::string>(4, "gfx908"));
}

// The rules are those of ROCr (core/runtime/amd_filter_device.cpp): the list's order, and its end at the first entry
// that is no GPU or has been named.
TEST_F(HsaSeveralGpus, VisibleDevicesAreThoseOfTheVariableInItsOrder) {
  setenv("ROCR_VISIBLE_DEVICES", " 2,1", 1);
  start(three);
  EXPECT_EQ(names(), (std::vector<std::string>{"gfx90a", "gfx1100"}));
  EXPECT_EQ(info<uint32_t>(gpus[0].agent, HSA_AGENT_INFO_NODE), 3U);
  EXPECT_EQ(info<uint32_t>(gpus[1].agent, HSA_AGENT_INFO_NODE), 2U);
}

TEST_F(HsaSeveralGpus, VisibleDevicesEndAtTheFirstThatIsNone) {
  setenv("ROCR_VISIBLE_DEVICES", "1,3,0", 1);
  start(three);
  EXPECT_EQ(names(), std::vector<std::string>{"gfx1100"});
}

TEST_F(HsaSeveralGpus, VisibleDevicesEndWhereOneIsNamedAgain) {
  setenv("ROCR_VISIBLE_DEVICES", "1,0,1,2", 1);
  start(three);
  EXPECT_EQ(names(), (std::vector<std::string>{"gfx1100", "gfx90a"}));
}

TEST_F(HsaSeveralGpus, VisibleDevicesMayBeNone) {
  setenv("ROCR_VISIBLE_DEVICES", "", 1);
  start(three);
  EXPECT_EQ(names(), std::vector<std::string>());
  bool xnack = true;
  EXPECT_EQ(hsa_system_get_info(static_cast<hsa_system_info_t>(HSA_AMD_SYSTEM_INFO_XNACK_ENABLED), &xnack),
            HSA_STATUS_SUCCESS);
  EXPECT_FALSE(xnack);
}

TEST_F(HsaSeveralGpus, VisibleDevicesAreNamedByTheBeginningOfTheirUuid) {
  start(three);
  const std::string uuid = text(gpus[1].agent, HSA_AMD_AGENT_INFO_UUID);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  gpus.clear();
  setenv("ROCR_VISIBLE_DEVICES", uuid.substr(0, 12).c_str(), 1);
  start(three);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(text(gpus[0].agent, HSA_AMD_AGENT_INFO_UUID), uuid);
}

// As ranks of an MPI program do it that see one GPU each.
TEST_F(HsaSeveralGpus, ProcessesShareMemoryOfGpusThatTheOtherDoesNotSee) {
  setenv("ROCR_VISIBLE_DEVICES", "0", 1);
  start(three);
  auto* memory = allocate<int>(gpus[0].pools[0], 1000);
  memory[999] = 41;
  hsa_amd_ipc_memory_t handle{};
  ASSERT_EQ(hsa_amd_ipc_memory_create(memory, 4000, &handle), HSA_STATUS_SUCCESS);
  pass_on("ATOLL_TEST_HANDLE", handle);
  setenv("ROCR_VISIBLE_DEVICES", "2", 1);
  OtherProcess other("HsaSeveralGpus.DISABLED_AddsToMemoryOfAnotherProcess");
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(memory[999], 42);
}

TEST_F(HsaSeveralGpus, DISABLED_AddsToMemoryOfAnotherProcess) {
  start(three);
  const auto handle = passed_on<hsa_amd_ipc_memory_t>("ATOLL_TEST_HANDLE");
  void* memory = nullptr;
  ASSERT_EQ(hsa_amd_ipc_memory_attach(&handle, 4000, 1, &gpus[0].agent, &memory), HSA_STATUS_SUCCESS);
  static_cast<int*>(memory)[999] += 1;
  hsa_amd_pointer_info_t about{};
  about.size = sizeof about;
  ASSERT_EQ(hsa_amd_pointer_info(memory, &about, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(about.agentOwner.handle, gpus[0].agent.handle) << "counts as this process's first GPU's";
  EXPECT_EQ(hsa_amd_ipc_memory_detach(memory), HSA_STATUS_SUCCESS);
}

}  // namespace

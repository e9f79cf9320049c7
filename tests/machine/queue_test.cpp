// AQL queues: packets of every type, what starts when, and what becomes of a queue whose packet fails.
#include "machine/queue/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "fixture.h"
#include "machine/queue/signal.h"

namespace Atoll::machine {
namespace {

using aql::PacketType;
using support::ErrorKind;
using testing::HasSubstr;

uint64_t handle(aql::Signal& signal) { return reinterpret_cast<uint64_t>(&signal); }

constexpr uint16_t header(PacketType type, bool barrier) {
  return static_cast<uint16_t>(static_cast<unsigned>(type) | (barrier ? 1u << 8 : 0) | 2u << 9 | 2u << 11);
}

class QueueTest : public testing::Test {
 protected:
  /// What a kernel does is decided by its packet's reserved2, the test's own number.
  void start(std::function<WaveState(Wave&, uint64_t number)> body, QueueOptions options = {}, unsigned threads = 2) {
    queue.reset();
    code.reset();
    GpuOptions gpu_options;
    gpu_options.threads = threads;
    gpu = test::make_gpu(
        "gfx90a",
        [body = std::move(body)](Wave& wave, uint64_t budget) {
          wave.instructions += budget;
          aql::KernelDispatchPacket packet;
          std::memcpy(&packet, wave.work_group->dispatch->submission.packet.data(), sizeof packet);
          return body(wave, packet.reserved2);
        },
        gpu_options);
    code =
        test::load(*gpu, test::assemble_kernel("gfx90a", {"next_free_vgpr 4", "next_free_sgpr 8", "accum_offset 4"}));
    if (options.size == 0) options.size = 16;
    options.on_error = [this](const QueueError& error) {
      const std::lock_guard lock(mutex);
      errors.push_back(error);
      add(errors_seen, 1);
    };
    auto made = gpu->create_queue(std::move(options));
    ASSERT_TRUE(made) << made.error().message;
    queue = std::move(*made);
  }

  /// Writes a packet the way a producer must: body first, header last; does not ring.
  template <typename Packet>
  uint64_t write(Packet packet) {
    aql::Queue& abi = *queue->abi();
    const uint64_t id = __atomic_fetch_add(&abi.write_dispatch_id, 1, __ATOMIC_RELAXED);
    while (id - __atomic_load_n(&abi.read_dispatch_id, __ATOMIC_ACQUIRE) >= abi.size) std::this_thread::yield();
    auto* slot = reinterpret_cast<uint8_t*>(abi.base_address) + (id % abi.size) * 64;
    std::memcpy(slot + 2, reinterpret_cast<const uint8_t*>(&packet) + 2, 62);
    __atomic_store_n(reinterpret_cast<uint16_t*>(slot), packet.header, __ATOMIC_RELEASE);
    return id;
  }
  template <typename Packet>
  void submit(const Packet& packet) {
    queue->ring_doorbell(write(packet));
  }

  aql::KernelDispatchPacket kernel(uint64_t number, aql::Signal* completion, bool barrier = true,
                                   uint32_t work_groups = 1) {
    auto packet = test::packet_for(*code, {64 * work_groups, 1, 1}, {64, 1, 1});
    packet.header = header(PacketType::kernel_dispatch, barrier);
    packet.reserved2 = number;
    packet.completion_signal = completion == nullptr ? 0 : handle(*completion);
    return packet;
  }
  static aql::BarrierPacket barrier(PacketType type, std::vector<aql::Signal*> dependencies, aql::Signal& completion) {
    aql::BarrierPacket packet{};
    packet.header = header(type, false);
    for (size_t i = 0; i < dependencies.size(); ++i) packet.dep_signal[i] = handle(*dependencies[i]);
    packet.completion_signal = handle(completion);
    return packet;
  }
  static void await(const aql::Signal& signal, int64_t value) {
    EXPECT_EQ(wait(signal, Condition::eq, value, 20'000'000'000, false), value);
  }
  static void give_it_time() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

  std::unique_ptr<Gpu> gpu;
  std::shared_ptr<LoadedCode> code;
  std::mutex mutex;
  std::vector<QueueError> errors;
  aql::Signal errors_seen{};
  std::unique_ptr<Queue> queue;  // before the rest goes
};

WaveState end(Wave&, uint64_t) { return WaveState::ended; }

TEST_F(QueueTest, TheQueueDescribesItself) {
  aql::Signal doorbell{};
  start(end, {.size = 64, .multi_producer = false, .doorbell = &doorbell});
  const aql::Queue& abi = *queue->abi();
  EXPECT_EQ(abi.size, 64u);
  EXPECT_EQ(abi.type, 1u);
  EXPECT_EQ(abi.features, 1u);
  EXPECT_EQ(abi.doorbell_signal, handle(doorbell));
  EXPECT_EQ(abi.base_address % 64, 0u);
  EXPECT_EQ(abi.group_segment_aperture_base_hi, shared_aperture_hi);
  EXPECT_EQ(abi.private_segment_aperture_base_hi, private_aperture_hi);
  EXPECT_EQ(abi.read_dispatch_id_field_base_byte_offset, 128u);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(*reinterpret_cast<uint16_t*>(abi.base_address + i * 64), 1u);
  EXPECT_FALSE(gpu->create_queue({.size = 48}));
  EXPECT_FALSE(gpu->create_queue({.size = 0}));
}

TEST_F(QueueTest, AKernelCompletesItsSignalAndFreesItsSlot) {
  std::atomic<uint64_t> queue_seen{0}, id_seen{0};
  start([&](Wave& wave, uint64_t) {
    queue_seen = wave.work_group->dispatch->submission.queue_address;
    id_seen = wave.work_group->dispatch->submission.dispatch_id;
    return WaveState::ended;
  });
  aql::Signal done{};
  store(done, 2);
  const uint64_t before = now_ns();
  submit(kernel(0, &done));
  await(done, 1);
  submit(kernel(0, &done));
  await(done, 0);
  EXPECT_GE(done.start_ts, before);
  EXPECT_GE(done.end_ts, done.start_ts);
  EXPECT_LE(done.end_ts, now_ns());
  EXPECT_EQ(queue->abi()->read_dispatch_id, 2u);
  EXPECT_EQ(*reinterpret_cast<uint16_t*>(queue->abi()->base_address), 1u);
  EXPECT_EQ(queue_seen, reinterpret_cast<uint64_t>(queue->abi()));
  EXPECT_EQ(id_seen, 1u);
}

TEST_F(QueueTest, ThousandsOfPacketsFromSeveralProducers) {
  std::atomic<uint64_t> sum{0};
  start([&](Wave&, uint64_t number) {
    sum += number;
    return WaveState::ended;
  });
  constexpr int producers = 3, each = 1000;
  aql::Signal left{};
  store(left, producers * each);
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i < each; ++i) submit(kernel(static_cast<uint64_t>(p * each + i), &left, i % 3 == 0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  await(left, 0);
  EXPECT_EQ(sum, uint64_t{producers * each} * (producers * each - 1) / 2);
}

TEST_F(QueueTest, PacketsWithAnInvalidHeaderAreAwaited) {
  start(end);
  aql::Signal done{};
  store(done, 2);
  // The second packet is written and rung for before the first has its header.
  aql::Queue& abi = *queue->abi();
  auto* slots = reinterpret_cast<aql::KernelDispatchPacket*>(abi.base_address);
  const auto packet = kernel(0, &done);
  std::memcpy(reinterpret_cast<uint8_t*>(&slots[0]) + 2, reinterpret_cast<const uint8_t*>(&packet) + 2, 62);
  std::memcpy(reinterpret_cast<uint8_t*>(&slots[1]) + 2, reinterpret_cast<const uint8_t*>(&packet) + 2, 62);
  abi.write_dispatch_id = 2;
  __atomic_store_n(&slots[1].header, packet.header, __ATOMIC_RELEASE);
  queue->ring_doorbell(1);
  give_it_time();
  EXPECT_EQ(load(done), 2);
  __atomic_store_n(&slots[0].header, packet.header, __ATOMIC_RELEASE);
  queue->ring_doorbell(0);
  await(done, 0);
}

TEST_F(QueueTest, TheBarrierBitWaitsForWhatWasBefore) {
  std::atomic<bool> gate{false};
  std::atomic<unsigned> violations{0}, ended{0};
  start([&](Wave&, uint64_t number) {
    if (number < 3 && !gate) return WaveState::ready;
    if (number == 3 && ended != 3) ++violations;
    ++ended;
    return WaveState::ended;
  });
  aql::Signal done{};
  store(done, 4);
  for (uint64_t i = 0; i < 3; ++i) submit(kernel(i, &done, false));
  submit(kernel(3, &done, true));
  give_it_time();
  EXPECT_EQ(load(done), 4);
  gate = true;
  await(done, 0);
  EXPECT_EQ(violations, 0u);
}

TEST_F(QueueTest, WithoutTheBarrierBitKernelsOverlap) {
  for (const unsigned threads : {1u, 3u}) {
    std::atomic<bool> second_ran{false};
    start(
        [&](Wave&, uint64_t number) {
          if (number == 1) second_ran = true;
          return second_ran ? WaveState::ended : WaveState::ready;  // the first waits for the second
        },
        {}, threads);
    aql::Signal done{};
    store(done, 2);
    submit(kernel(0, &done, false, 5));
    submit(kernel(1, &done, false, 5));
    await(done, 0);
    queue.reset();
  }
}

TEST_F(QueueTest, OverlappingKernelsOfOneWorkGroupEachRunOnSeveralThreads) {
  std::atomic<unsigned> running{0};
  std::atomic<bool> met{false};
  start([&](Wave&, uint64_t) {
    ++running;
    for (unsigned i = 0; i < 100 && !met; ++i) {
      if (running == 2) met = true;
      std::this_thread::yield();
    }
    --running;
    return met ? WaveState::ended : WaveState::ready;
  });
  aql::Signal done{};
  store(done, 2);
  queue->ring_doorbell(write(kernel(0, &done, false)));
  submit(kernel(1, &done, false));
  await(done, 0);
  EXPECT_TRUE(met);
  queue.reset();
}

TEST_F(QueueTest, BarrierAndWaitsForAllOfItsSignals) {
  start(end);
  // That a signal was 0 once is enough, if that was seen. On a busy host it may take some time: then more is given.
  bool was_enough = false;
  for (std::chrono::milliseconds time{5}; !was_enough && time < std::chrono::seconds(10); time *= 10) {
    aql::Signal a{}, b{}, passed{}, kernel_done{};
    store(a, 1);
    store(b, 1);
    store(passed, 1);
    store(kernel_done, 1);
    submit(barrier(PacketType::barrier_and, {&a, &b}, passed));
    submit(kernel(0, &kernel_done, false));
    store(a, 0);
    std::this_thread::sleep_for(time);
    EXPECT_EQ(load(passed), 1);
    EXPECT_EQ(load(kernel_done), 1) << "nothing starts after a barrier packet that waits";
    store(a, 5);
    store(b, 0);
    was_enough = wait(passed, Condition::eq, 0, 2'000'000'000, false) == 0;
    store(a, 0);
    await(passed, 0);
    await(kernel_done, 0);
  }
  EXPECT_TRUE(was_enough);
}

TEST_F(QueueTest, BarrierOrWaitsForOneOfItsSignals) {
  start(end);
  aql::Signal a{}, b{}, passed{};
  store(a, 1);
  store(b, 1);
  store(passed, 1);
  submit(barrier(PacketType::barrier_or, {&a, &b}, passed));
  give_it_time();
  EXPECT_EQ(load(passed), 1);
  store(b, 0);
  await(passed, 0);
  store(passed, 1);
  submit(barrier(PacketType::barrier_or, {}, passed));  // nothing to wait for
  await(passed, 0);
}

TEST_F(QueueTest, BarrierValueComparesUnderItsMask) {
  start(end);
  struct Case {
    Condition condition;
    int64_t before, after;
  };
  for (const Case& c : {Case{Condition::eq, 0x107, 0x103}, Case{Condition::ne, 0x103, 0x104},
                        Case{Condition::lt, 0x103, 0x102}, Case{Condition::gte, 0x102, 0x103}}) {
    aql::Signal signal{}, passed{};
    store(signal, c.before);
    store(passed, 1);
    aql::BarrierValuePacket packet{};
    packet.header = header(PacketType::vendor_specific, true);
    packet.amd_format = 2;
    packet.signal = handle(signal);
    packet.value = 3;
    packet.mask = 0xFF;
    packet.condition = static_cast<uint32_t>(c.condition);
    packet.completion_signal = handle(passed);
    submit(packet);
    give_it_time();
    EXPECT_EQ(load(passed), 1);
    store(signal, c.after);
    await(passed, 0);
  }
}

TEST_F(QueueTest, AgentDispatchGoesToItsHandler) {
  std::vector<uint16_t> types;
  start(end, {.on_agent_dispatch = [&](const aql::AgentDispatchPacket& packet) {
          types.push_back(packet.type);
          return packet.type != 9;
        }});
  aql::Signal done{};
  store(done, 1);
  aql::AgentDispatchPacket packet{};
  packet.header = header(PacketType::agent_dispatch, true);
  packet.type = 8;
  packet.completion_signal = handle(done);
  submit(packet);
  await(done, 0);
  packet.type = 9;
  submit(packet);
  await(errors_seen, 1);
  EXPECT_THAT(types, testing::ElementsAre(8, 9));
}

TEST_F(QueueTest, APacketThatMakesNoSenseStopsTheQueue) {
  aql::Signal inactive{};
  start(end, {.queue_inactive_signal = handle(inactive)});
  aql::Signal done{};
  store(done, 1);
  auto packet = kernel(0, &done);
  packet.header = header(static_cast<PacketType>(77), false);
  submit(packet);
  await(errors_seen, 1);
  submit(kernel(0, &done));
  give_it_time();
  EXPECT_EQ(load(done), 1) << "nothing runs after an error";
  EXPECT_EQ(load(errors_seen), 1);
  EXPECT_EQ(errors[0].kind, ErrorKind::invalid_argument);
  EXPECT_THAT(errors[0].message, HasSubstr("unknown type 77"));
  EXPECT_EQ(load(inactive), 1);
}

TEST_F(QueueTest, ErrorsTellTheirKind) {
  const auto error_of = [&](const std::function<void(aql::KernelDispatchPacket&)>& change) {
    errors.clear();
    store(errors_seen, 0);
    start(end);
    aql::Signal done{};
    store(done, 1);
    auto packet = kernel(0, &done);
    change(packet);
    submit(packet);
    await(errors_seen, 1);
    EXPECT_EQ(load(done), 1);
    queue.reset();
    return errors[0].packet_fault;
  };
  EXPECT_EQ(error_of([](auto& packet) { packet.group_segment_size = 1 << 20; }), PacketFault::group_memory);
  EXPECT_EQ(error_of([](auto& packet) { packet.private_segment_size = 1 << 20; }), PacketFault::none);
  EXPECT_EQ(error_of([](auto& packet) { packet.workgroup_size_x = 2000; }), PacketFault::work_group_size);
  EXPECT_EQ(error_of([](auto& packet) { packet.kernel_object = 4096; }), PacketFault::kernel_object);
  EXPECT_EQ(error_of([](auto& packet) { packet.setup = 0; }), PacketFault::dimensions);
  EXPECT_EQ(error_of([](auto& packet) { packet.header = header(static_cast<PacketType>(77), false); }),
            PacketFault::format);
}

TEST_F(QueueTest, AFaultIsReportedWithItsPacket) {
  start([](Wave& wave, uint64_t number) {
    if (number == 0) return WaveState::ended;
    wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::abort, .pc = wave.pc});
    return WaveState::faulted;
  });
  aql::Signal done{};
  store(done, 5);
  submit(kernel(0, &done));
  submit(kernel(1, &done, true, 100));
  submit(kernel(0, &done));
  await(errors_seen, 1);
  give_it_time();
  EXPECT_EQ(load(done), 4) << "only the first completed";
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, ErrorKind::aborted);
  EXPECT_EQ(errors[0].packet_id, 1u);
  EXPECT_EQ(errors[0].completion_signal, handle(done));
  ASSERT_TRUE(errors[0].fault);
  EXPECT_EQ(errors[0].fault->kernel, "k");
}

TEST_F(QueueTest, SignalsThatAreNoneAreErrors) {
  start(end);
  aql::Signal done{};
  auto packet = kernel(0, &done);
  packet.completion_signal = 0x40;
  submit(packet);
  await(errors_seen, 1);
  EXPECT_THAT(errors[0].message, HasSubstr("0x40"));
}

TEST_F(QueueTest, AQueueMayBeDestroyedOrInactivatedWhileAKernelRuns) {
  for (const bool inactivate : {false, true}) {
    std::atomic<bool> running{false};
    start([&](Wave&, uint64_t) {
      running = true;
      return WaveState::ready;
    });
    aql::Signal done{};
    store(done, 1);
    submit(kernel(0, &done, true, 20));
    while (!running) std::this_thread::yield();
    if (inactivate) {
      queue->inactivate();
      await(errors_seen, 1);
    }
    queue.reset();
    EXPECT_EQ(load(done), 1);
  }
}

TEST_F(QueueTest, QueuesWaitForEachOther) {
  std::atomic<unsigned> step{0};
  start([&](Wave&, uint64_t number) {
    if (step < number) return WaveState::ready;
    step = static_cast<unsigned>(number + 1);
    return WaveState::ended;
  });
  auto other = gpu->create_queue({.size = 16}).value();
  aql::Signal done{};
  store(done, 10);
  for (uint64_t i = 0; i < 10; ++i) {
    if (i % 2 == 1) queue.swap(other);
    submit(kernel(i, &done));
    if (i % 2 == 1) queue.swap(other);
  }
  await(done, 0);
  EXPECT_EQ(step, 10u);
}

}  // namespace
}  // namespace Atoll::machine

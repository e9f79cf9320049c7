// A program that uses most of the runtime once, and checks the results: memory, code, a queue, dispatches, copies,
// signals and their handlers. The tests run it in surroundings where something fails. It ends with 0 if all results are
// right, or when the runtime has refused something by a status, which it prints; with 1 if a result is wrong. What it
// waits for, it waits for without a limit, as programs do.
//
//     hsa_whole_program KERNELS.co
#include <cstdio>
#include <fstream>
#include <iterator>

#include "hsa/program.h"

using namespace Atoll::test;

namespace {

struct Wrong {
  const char* what;
};

void check(bool right, const char* what) {
  if (!right) throw Wrong{what};
}

struct Arguments {
  uint32_t* data;
  uint32_t value;
};

/// The amount that the kernel `add` adds at an index, besides its argument.
uint32_t in_table(uint32_t index) { return (index % 4 + 1) * 10; }

void run_kernel(const Gpu& gpu, const Kernels& kernels, FailingQueue& queue, uint32_t groups) {
  const uint32_t count = groups * 64;
  auto* data = static_cast<uint32_t*>(Gpu::allocate(gpu.device, count * sizeof(uint32_t)));
  ATOLL_MUST(hsa_amd_memory_fill, data, 7, count);
  auto* arguments = static_cast<Arguments*>(Gpu::allocate(gpu.kernarg, sizeof(Arguments)));
  *arguments = {data, 100};
  const hsa_signal_t done = make_signal(2);
  for (int i = 0; i < 2; ++i)
    queue.submit(FailingQueue::dispatch(kernels.object("add.kd"), arguments, count, 64, done));
  queue.await(done);
  for (uint32_t i = 0; i < count; ++i) check(data[i] == 7 + 2 * (100 + in_table(i)), "what a kernel computed");
  ATOLL_MUST(hsa_signal_destroy, done);
  ATOLL_MUST(hsa_amd_memory_pool_free, arguments);
  ATOLL_MUST(hsa_amd_memory_pool_free, data);
}

/// A barrier packet, a copy and a handler, each of which waits for the one before.
void run_chain(const Gpu& gpu, FailingQueue& queue) {
  constexpr size_t bytes = 1 << 18;
  auto* from = static_cast<uint8_t*>(Gpu::allocate(gpu.system, bytes));
  auto* to = static_cast<uint8_t*>(Gpu::allocate(gpu.device, bytes));
  std::memset(from, 9, bytes);
  const hsa_signal_t begin = make_signal(1), passed = make_signal(1), copied = make_signal(1), handled = make_signal(1);
  hsa_barrier_and_packet_t barrier{};
  barrier.header = FailingQueue::header(HSA_PACKET_TYPE_BARRIER_AND);
  barrier.dep_signal[0] = begin;
  barrier.completion_signal = passed;
  queue.submit(barrier);
  ATOLL_MUST(hsa_amd_memory_async_copy, to, gpu.agent, from, gpu.host, bytes, 1, &passed, copied);
  static hsa_signal_t told;  // the handler may be called when this function has been left
  told = handled;
  const auto handler = [](hsa_signal_value_t, void* data) {
    hsa_signal_store_screlease(*static_cast<hsa_signal_t*>(data), 0);
    return false;
  };
  ATOLL_MUST(hsa_amd_signal_async_handler, copied, HSA_SIGNAL_CONDITION_LT, 1, handler, &told);
  hsa_signal_store_screlease(begin, 0);
  queue.await(passed);
  queue.await(handled);
  if (hsa_signal_load_relaxed(copied) != 0) throw Refused{"the copy", HSA_STATUS_ERROR};
  for (size_t i = 0; i < bytes; ++i) check(to[i] == 9, "what was copied");
  std::vector<hsa_signal_t> signals(12, begin);
  std::vector<hsa_signal_condition_t> conditions(signals.size(), HSA_SIGNAL_CONDITION_NE);
  conditions.back() = HSA_SIGNAL_CONDITION_EQ;
  std::vector<hsa_signal_value_t> values(signals.size(), 0);
  const uint32_t found = hsa_amd_signal_wait_any(static_cast<uint32_t>(signals.size()), signals.data(),
                                                 conditions.data(), values.data(), 0, HSA_WAIT_STATE_BLOCKED, nullptr);
  check(found == signals.size() - 1 || found == UINT32_MAX, "which signal has changed");
  for (const hsa_signal_t signal : {begin, passed, copied, handled}) ATOLL_MUST(hsa_signal_destroy, signal);
  ATOLL_MUST(hsa_amd_memory_pool_free, from);
  ATOLL_MUST(hsa_amd_memory_pool_free, to);
}

void lock_memory(const Gpu& gpu) {
  std::vector<uint32_t> memory(5000, 3);
  void* second = nullptr;
  hsa_agent_t agent = gpu.agent;
  ATOLL_MUST(hsa_amd_memory_lock_to_pool, memory.data(), memory.size() * 4, &agent, 1, gpu.system, 0, &second);
  static_cast<uint32_t*>(second)[10] = 4;
  check(memory[10] == 4, "what was written at a second address");
  ATOLL_MUST(hsa_amd_memory_unlock, memory.data());
  check(memory[10] == 4 && memory[11] == 3, "memory that was locked");
}

void run(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const Gpu gpu;
  const Kernels kernels(gpu, file);
  FailingQueue queue(gpu);
  run_kernel(gpu, kernels, queue, 1);
  run_kernel(gpu, kernels, queue, 3000);
  run_chain(gpu, queue);
  lock_memory(gpu);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  hsa_status_t status = hsa_init();
  if (status != HSA_STATUS_SUCCESS) {
    std::printf("hsa_init: status %x\n", static_cast<unsigned>(status));
    return 0;
  }
  int result = 0;
  try {
    run(argv[1]);
    std::puts("right");
  } catch (const Refused& refused) {
    std::printf("%s: status %x\n", refused.call, static_cast<unsigned>(refused.status));
  } catch (const Wrong& wrong) {
    std::printf("wrong: %s\n", wrong.what);
    result = 1;
  }
  status = hsa_shut_down();
  if (status != HSA_STATUS_SUCCESS) std::printf("hsa_shut_down: status %x\n", static_cast<unsigned>(status));
  return result;
}

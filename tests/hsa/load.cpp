// Loads for the runtime that take longer than a test may, and what they cost: tests/hsa/soak runs them and writes
// docs/reliability.md. Each prints one line of JSON, and ends with 0 if all results were right.
//
//     hsa_load dispatches KERNELS THREADS QUEUES COUNT   dispatches from threads that share queues
//     hsa_load allocations COUNT                         live at a time
//     hsa_load waiters KERNELS SIGNALS WAITERS           a dispatch beside threads that wait for signals
//     hsa_load queues KERNELS COUNT                      a dispatch beside idle queues
//     hsa_load faults KERNELS COUNT                      queues that fail beside one that works
//     hsa_load starts COUNT                              hsa_init and hsa_shut_down, in threads and in forks
//     hsa_load calls SEED COUNT                          calls with random arguments
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "hsa/counter.h"
#include "hsa/program.h"
#include "hsa/random_calls.h"

using namespace Atoll::test;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Processor time of this process.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The part of one processor that the process takes while this thread sleeps.
double idle_share() {
  std::this_thread::sleep_for(std::chrono::seconds(1));  // what has just gone to sleep looks around for some time
  const auto start = Clock::now();
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(4));
  return (processor_seconds() - before) / seconds_since(start);
}

std::vector<uint8_t> read_file(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The median time of a dispatch that is waited for, in the best of some rounds: the host may have other work in the
/// others.
double dispatch_microseconds(FailingQueue& queue, Counter& counter) {
  constexpr int rounds = 10;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> times(1000);
    for (double& time : times) {
      const auto start = Clock::now();
      counter.count(queue);
      time = seconds_since(start) * 1e6;
    }
    std::ranges::sort(times);
    best = std::min(best, times[times.size() / 2]);
  }
  return best;
}

int dispatches(const char* path, size_t thread_count, size_t queue_count, size_t count) {
  const std::vector<uint8_t> file = read_file(path);
  const Gpu gpu;
  const Kernels kernels(gpu, file);
  std::deque<FailingQueue> queues;
  for (size_t i = 0; i < queue_count; ++i) queues.emplace_back(gpu);
  std::deque<Counter> counters;
  for (size_t i = 0; i < thread_count; ++i) counters.emplace_back(gpu, kernels.object("add.kd"));
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (size_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      try {
        for (size_t round = 0; round < count / thread_count; ++round)
          counters[i].count(queues[(i + round) % queue_count]);
      } catch (const Refused&) {
        ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const bool right = refused == 0 && std::ranges::all_of(counters, &Counter::is_right);
  fmt::print(R"({{"threads": {}, "queues": {}, "dispatches": {}, "seconds": {:.2f}, "right": {}}})"
             "\n",
             thread_count, queue_count, count / thread_count * thread_count, seconds_since(start), right);
  return right ? 0 : 1;
}

int allocations(size_t count) {
  const Gpu gpu;
  std::vector<uint64_t*> all(count);
  const auto start = Clock::now();
  for (size_t i = 0; i < count; ++i) {
    all[i] = static_cast<uint64_t*>(Gpu::allocate(gpu.device, 4096));
    all[i][0] = i;
  }
  const double allocated = seconds_since(start);
  bool right = true;
  for (size_t i = 0; i < count; ++i) right &= all[i][0] == i;
  const auto middle = Clock::now();
  for (uint64_t* each : all) ATOLL_MUST(hsa_amd_memory_pool_free, each);
  fmt::print(R"({{"allocations": {}, "microseconds_each": {:.2f}, "microseconds_each_freed": {:.2f}, "right": {}}})"
             "\n",
             count, allocated / static_cast<double>(count) * 1e6,
             seconds_since(middle) / static_cast<double>(count) * 1e6, right);
  return right ? 0 : 1;
}

int waiters(const char* path, size_t signal_count, size_t waiter_count) {
  const std::vector<uint8_t> file = read_file(path);
  const Gpu gpu;
  const Kernels kernels(gpu, file);
  FailingQueue queue(gpu);
  Counter counter(gpu, kernels.object("add.kd"));
  dispatch_microseconds(queue, counter);
  const double alone = dispatch_microseconds(queue, counter);
  std::vector<hsa_signal_t> signals(signal_count);
  for (hsa_signal_t& signal : signals) signal = make_signal(1);
  std::vector<std::thread> threads;
  std::atomic<size_t> woken{0};
  for (size_t i = 0; i < waiter_count; ++i) {
    threads.emplace_back([&, i] {
      const hsa_signal_t mine = signals[i * (signal_count / waiter_count)];
      while (hsa_signal_wait_scacquire(mine, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0) {
      }
      ++woken;
    });
  }
  const double share = idle_share();
  const double beside = dispatch_microseconds(queue, counter);
  const bool waited = woken == 0;
  for (const hsa_signal_t signal : signals) hsa_signal_store_screlease(signal, 0);
  for (std::thread& thread : threads) thread.join();
  const bool right = waited && woken == waiter_count && counter.is_right();
  fmt::print(R"({{"signals": {}, "waiters": {}, "share_of_a_processor": {:.4f}, "dispatch_us_alone": {:.2f}, )"
             R"("dispatch_us": {:.2f}, "right": {}}})"
             "\n",
             signal_count, waiter_count, share, alone, beside, right);
  return right ? 0 : 1;
}

int idle_queues(const char* path, size_t count) {
  const std::vector<uint8_t> file = read_file(path);
  const Gpu gpu;
  const Kernels kernels(gpu, file);
  FailingQueue queue(gpu);
  Counter counter(gpu, kernels.object("add.kd"));
  dispatch_microseconds(queue, counter);
  const double alone = dispatch_microseconds(queue, counter);
  std::deque<FailingQueue> idle;
  for (size_t i = 0; i < count; ++i) {
    idle.emplace_back(gpu);
    counter.count(idle.back());
  }
  const double share = idle_share();
  const double beside = dispatch_microseconds(queue, counter);
  const bool right = counter.is_right();
  fmt::print(R"({{"idle_queues": {}, "share_of_a_processor": {:.4f}, "dispatch_us_alone": {:.2f}, )"
             R"("dispatch_us": {:.2f}, "right": {}}})"
             "\n",
             count, share, alone, beside, right);
  return right ? 0 : 1;
}

int faults(const char* path, size_t count) {
  const std::vector<uint8_t> file = read_file(path);
  const Gpu gpu;
  const Kernels kernels(gpu, file);
  std::atomic<bool> stop{false};
  bool worker_right = false;
  std::thread worker([&] {
    try {
      FailingQueue queue(gpu);
      Counter counter(gpu, kernels.object("add.kd"));
      while (!stop) counter.count(queue);
      worker_right = counter.is_right();
    } catch (const Refused&) {
    }
  });
  auto* arguments = static_cast<AddArguments*>(Gpu::allocate(gpu.kernarg, sizeof(AddArguments)));
  *arguments = {reinterpret_cast<uint32_t*>(0x1000), 0};
  bool statuses_right = true;
  const uint64_t stray = kernels.object("stray.kd"), trap = kernels.object("trap.kd");
  for (size_t i = 0; i < count; ++i) {
    FailingQueue queue(gpu);
    const hsa_signal_t done = make_signal(1);
    queue.submit(FailingQueue::dispatch(i % 2 == 0 ? stray : trap, arguments, 64, 64, done));
    const int wanted = i % 2 == 0 ? int{HSA_STATUS_ERROR_MEMORY_FAULT} : int{HSA_STATUS_ERROR_EXCEPTION};
    statuses_right &= static_cast<int>(queue.await_failure(done)) == wanted;
    ATOLL_MUST(hsa_signal_destroy, done);
  }
  stop = true;
  worker.join();
  const bool right = statuses_right && worker_right;
  fmt::print(R"({{"faults": {}, "right": {}}})"
             "\n",
             count, right);
  return right ? 0 : 1;
}

/// Starts and stops the runtime, of which other threads may have the reference that keeps it.
int starts(size_t count) {
  std::atomic<bool> right{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (size_t round = 0; round < count / 8; ++round) {
        if (hsa_init() != HSA_STATUS_SUCCESS || hsa_shut_down() != HSA_STATUS_SUCCESS) right = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const size_t forks = std::max<size_t>(1, count / 20);
  for (size_t i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(hsa_init() == HSA_STATUS_SUCCESS && hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) right = false;
  }
  fmt::print(R"({{"starts": {}, "forks": {}, "right": {}}})"
             "\n",
             count / 8 * 8, forks, right.load());
  return right ? 0 : 1;
}

int run(int argc, char** argv) {
  const std::string_view what = argv[1];
  const auto number = [&](int index) { return index < argc ? std::strtoull(argv[index], nullptr, 10) : 0; };
  if (what == "dispatches" && argc == 6) return dispatches(argv[2], number(3), number(4), number(5));
  if (what == "allocations" && argc == 3) return allocations(number(2));
  if (what == "waiters" && argc == 5) return waiters(argv[2], number(3), number(4));
  if (what == "queues" && argc == 4) return idle_queues(argv[2], number(3));
  if (what == "faults" && argc == 4) return faults(argv[2], number(3));
  if (what == "starts" && argc == 3) return starts(number(2));
  if (what == "calls" && argc == 4) return random_calls(number(2), number(3));
  std::fputs("hsa_load: unknown load; load.cpp lists them\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    const bool starts_itself = std::string_view(argv[1]) == "starts";
    if (!starts_itself) ATOLL_MUST(hsa_init);
    const int result = run(argc, argv);
    if (!starts_itself) ATOLL_MUST(hsa_shut_down);
    return result;
  } catch (const Refused& refused) {
    fmt::print(stderr, "{}: status {:#x}\n", refused.call, static_cast<unsigned>(refused.status));
    return 1;
  }
}

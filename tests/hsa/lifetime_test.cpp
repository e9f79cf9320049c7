// The runtime's beginning and end where they are not the program's: in callbacks, in forks, and without threads to be
// had.
#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"

using namespace Atoll::test;

namespace {

class HsaLifetimes : public testing::Test {
 protected:
  void SetUp() override { setenv("ATOLL_GPU", "mi250x", 1); }

  /// Arguments and result of a handler.
  struct Exchange {
    std::atomic<bool> entered{false}, left{false};
    std::atomic<hsa_status_t> status{HSA_STATUS_SUCCESS};
  };

  /// Has `handler` called with an Exchange on one of the runtime's threads.
  static void call_later(hsa_amd_signal_handler handler, Exchange& exchange) {
    hsa_signal_t signal;
    ASSERT_EQ(hsa_signal_create(1, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, handler, &exchange), HSA_STATUS_SUCCESS);
    hsa_signal_store_screlease(signal, 0);
  }

  static void await(const std::atomic<bool>& event) {
    while (!event.load()) std::this_thread::yield();
  }

  /// hsa_init, something that takes a thread, hsa_shut_down.
  static bool works() {
    if (hsa_init() != HSA_STATUS_SUCCESS) return false;
    Exchange exchange;
    call_later(
        [](hsa_signal_value_t, void* data) {
          static_cast<Exchange*>(data)->left = true;
          return false;
        },
        exchange);
    await(exchange.left);
    return hsa_shut_down() == HSA_STATUS_SUCCESS;
  }
};

TEST_F(HsaLifetimes, AHandlerMayShutDown) {
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  Exchange exchange;
  call_later(
      [](hsa_signal_value_t, void* data) {
        auto* exchange = static_cast<Exchange*>(data);
        exchange->status = hsa_shut_down();
        exchange->left = true;
        return false;
      },
      exchange);
  await(exchange.left);
  EXPECT_EQ(exchange.status, HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
  EXPECT_TRUE(works());
}

TEST_F(HsaLifetimes, AHandlerMayCallInitDuringAShutdown) {
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  Exchange exchange;
  call_later(
      [](hsa_signal_value_t, void* data) {
        auto* exchange = static_cast<Exchange*>(data);
        exchange->entered = true;
        // Until the shutdown has begun, this one's or the other's.
        while ((exchange->status = hsa_init()) == HSA_STATUS_SUCCESS) hsa_shut_down();
        exchange->left = true;
        return false;
      },
      exchange);
  await(exchange.entered);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  await(exchange.left);
  EXPECT_EQ(exchange.status, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_TRUE(works());
}

TEST_F(HsaLifetimes, AForkBeginsAnew) {
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  Exchange exchange;  // the runtime has threads, which the child has not
  call_later(
      [](hsa_signal_value_t, void* data) {
        static_cast<Exchange*>(data)->left = true;
        return false;
      },
      exchange);
  await(exchange.left);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that hangs
    if (hsa_shut_down() != HSA_STATUS_ERROR_NOT_INITIALIZED) _exit(1);
    if (hsa_iterate_agents([](hsa_agent_t, void*) { return HSA_STATUS_SUCCESS; }, nullptr) !=
        HSA_STATUS_ERROR_NOT_INITIALIZED) {
      _exit(2);
    }
    _exit(works() && works() ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

// Calls that make signals, allocate or wait hold the runtime's mutexes at times. A child must find them free.
TEST_F(HsaLifetimes, AForkAmongThreadsAtWorkBeginsAnew) {
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        std::vector<hsa_signal_t> signals(50);
        for (hsa_signal_t& signal : signals) EXPECT_EQ(hsa_signal_create(1, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
        hsa_signal_group_t group{};
        EXPECT_EQ(hsa_signal_group_create(2, signals.data(), 0, nullptr, &group), HSA_STATUS_SUCCESS);
        EXPECT_EQ(hsa_signal_group_destroy(group), HSA_STATUS_SUCCESS);
        for (const hsa_signal_t signal : signals) EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    std::fflush(nullptr);  // for children that end by exit()
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a child that hangs
      if (hsa_shut_down() != HSA_STATUS_ERROR_NOT_INITIALIZED) _exit(1);
      hsa_signal_t signal{};
      hsa_signal_group_t group{};
      if (hsa_init() != HSA_STATUS_SUCCESS || hsa_signal_create(1, 0, nullptr, &signal) != HSA_STATUS_SUCCESS) _exit(2);
      if (hsa_signal_group_create(1, &signal, 0, nullptr, &group) != HSA_STATUS_SUCCESS) _exit(3);
      if (hsa_signal_destroy(signal) != HSA_STATUS_SUCCESS || hsa_shut_down() != HSA_STATUS_SUCCESS) _exit(4);
#if __has_feature(address_sanitizer)
      _exit(0);  // what the threads had that are not in the child would count as leaked
#endif
      if (i % 2 == 0) _exit(0);
      std::exit(0);  // with what is registered for the end
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << i;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

/// Passes a barrier packet through a queue, between hsa_init and hsa_shut_down.
bool passes_a_barrier() {
  const auto find = [](hsa_agent_t agent, void* data) {
    hsa_device_type_t type{};
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = agent;
    return HSA_STATUS_SUCCESS;
  };
  hsa_agent_t gpu{};
  hsa_queue_t* queue = nullptr;
  hsa_signal_t passed{};
  if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(find, &gpu) != HSA_STATUS_SUCCESS ||
      hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue) != HSA_STATUS_SUCCESS ||
      hsa_signal_create(1, 0, nullptr, &passed) != HSA_STATUS_SUCCESS)
    return false;
  auto* packet = static_cast<hsa_barrier_and_packet_t*>(queue->base_address);
  packet->completion_signal = passed;
  __atomic_store_n(&packet->header, uint16_t{HSA_PACKET_TYPE_BARRIER_AND}, __ATOMIC_RELEASE);
  hsa_queue_store_write_index_screlease(queue, 1);
  hsa_signal_store_screlease(queue->doorbell_signal, 0);
  hsa_signal_wait_scacquire(passed, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  return hsa_shut_down() == HSA_STATUS_SUCCESS;
}

// rocrtst's IPC test after another one does this. The C library tells who holds a lock for writing by the thread's ID,
// which is another in the child.
TEST_F(HsaLifetimes, AForkAfterAShutdownBeginsAnew) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(passes_a_barrier());
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a child that hangs
      _exit(passes_a_barrier() && passes_a_barrier() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
}

// HIP's destructors wait in a child that only exits. No thread of the child changes what the parent's GPU would.
TEST_F(HsaLifetimes, InAForkWaitsForTheParentsSignalsEnd) {
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  hsa_signal_t signal{}, other{};
  ASSERT_EQ(hsa_signal_create(1, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_signal_create(1, 0, nullptr, &other), HSA_STATUS_SUCCESS);
  struct Wait {
    hsa_signal_condition_t condition;
    hsa_signal_value_t compare, expected;
  };
  for (const bool begins_anew : {false, true}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a child that hangs
      if (begins_anew && hsa_init() != HSA_STATUS_SUCCESS) _exit(1);
      for (const auto& [condition, compare, expected] : {Wait{HSA_SIGNAL_CONDITION_LT, 1, 0},
                                                         {HSA_SIGNAL_CONDITION_EQ, -5, -5},
                                                         {HSA_SIGNAL_CONDITION_GTE, 9, 9},
                                                         {HSA_SIGNAL_CONDITION_NE, 9, 10}}) {
        for (const auto wait : {hsa_signal_wait_relaxed, hsa_signal_wait_scacquire})
          if (wait(signal, condition, compare, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != expected) _exit(2);
        if (hsa_signal_load_relaxed(signal) != expected) _exit(3);
      }
      hsa_signal_store_relaxed(other, 7);
      if (hsa_signal_load_relaxed(other) != 7) _exit(4);
      _exit(hsa_signal_destroy(other) == HSA_STATUS_SUCCESS ? 5 : 0);  // it is the parent's
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 1);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

/// Destroyed at exit after whatever was registered while the program ran, as HIP's objects are.
struct StaticObject {
  std::atomic<bool> is_used{false}, used_to_the_end{false};
  ~StaticObject() {
    if (is_used) _exit(used_to_the_end ? 0 : 1);
  }
} static_object;

// A handler may use what the program's destructors take away, and be late.
TEST_F(HsaLifetimes, AtExitHandlersEndBeforeDestructorsBegin) {
  const auto run = [] {
    alarm(60);
    if (hsa_init() != HSA_STATUS_SUCCESS) _exit(2);
    Exchange exchange;
    call_later(
        [](hsa_signal_value_t, void* data) {
          static_object.is_used = true;
          static_cast<Exchange*>(data)->entered = true;
          usleep(100'000);
          static_object.used_to_the_end = true;
          return false;
        },
        exchange);
    await(exchange.entered);
    std::exit(3);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

// One that waits for the thread that ends the program is not waited for.
TEST_F(HsaLifetimes, AHandlerThatNeverEndsDoesNotKeepTheProgram) {
  const auto run = [] {
    alarm(60);
    if (hsa_init() != HSA_STATUS_SUCCESS) _exit(2);
    static Exchange exchange;
    call_later(
        [](hsa_signal_value_t, void* data) {
          static_cast<Exchange*>(data)->entered = true;
          for (;;) pause();
          return false;
        },
        exchange);
    await(exchange.entered);
    std::exit(3);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(3), "");
}

// A program in which no thread can be made, from some point on.
TEST_F(HsaLifetimes, WithoutThreadsFunctionsSayThatResourcesAreOut) {
  const TemporaryDirectory directory;
  write_file(directory / "threadless.c", R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
static int refuses;
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  if (refuses) return EAGAIN;
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}
static hsa_agent_t gpu;
static hsa_status_t find(hsa_agent_t agent, void* data) {
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_GPU) gpu = agent;
  return HSA_STATUS_SUCCESS;
}
static bool handle(hsa_signal_value_t value, void* data) { return false; }
static void call(void* data) {}
static void say(const char* name, hsa_status_t status) { printf("%s %x\n", name, status); }
static void try_all(void) {
  hsa_signal_t never, done;
  hsa_queue_t* queue = 0;
  static char from[100], to[100];
  hsa_signal_create(1, 0, 0, &never);
  hsa_signal_create(1, 0, 0, &done);
  say("queue", hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, 0, 0, 0, 0, &queue));
  if (queue != 0) hsa_queue_destroy(queue);
  say("handler", hsa_amd_signal_async_handler(never, HSA_SIGNAL_CONDITION_EQ, 0, handle, 0));
  say("function", hsa_amd_async_function(call, 0));
  say("copy", hsa_amd_memory_async_copy(to, gpu, from, gpu, sizeof to, 1, &never, done));
}
int main(void) {
  refuses = 1;
  if (hsa_init() == HSA_STATUS_SUCCESS) hsa_shut_down();
  refuses = 0;
  say("init", hsa_init());
  hsa_iterate_agents(find, 0);
  refuses = 1;
  try_all();
  refuses = 0;
  try_all();
  return hsa_shut_down();
}
)");
  const std::string library = ATOLL_HSA_LIBRARY;
  const auto compiled =
      run_command("cd " + directory.path().string() +
                  " && " ATOLL_COMPILER " -I" ATOLL_HSA_HEADERS
                  " -include stdbool.h -x c threadless.c -o threadless -x none -rdynamic " +
                  library + " -Wl,-rpath," + std::filesystem::path(library).parent_path().string() + " 2>&1");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const auto run = run_command(directory / "threadless" + " 2>/dev/null");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "init 0\n"
            "queue 1008\nhandler 1008\nfunction 1008\ncopy 1008\n"
            "queue 0\nhandler 0\nfunction 0\ncopy 0\n");
}

}  // namespace

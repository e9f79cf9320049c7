// Handles that are none, in functions that have no status by which to say so: all of them, as hsa.h declares them.
#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <string>

#include "hsa/interface/rocm_7_2.h"

namespace {

using Function = std::function<void(hsa_signal_t)>;

/// The functions of signals without a status, by name.
std::map<std::string, Function> signal_functions() {
  std::map<std::string, Function> functions;
#define ATOLL_LOAD(name) functions[#name] = [](hsa_signal_t signal) { static_cast<void>(name(signal)); };
#define ATOLL_CHANGE(name) functions[#name] = [](hsa_signal_t signal) { static_cast<void>(name(signal, 0)); };
#define ATOLL_SWAP(name) functions[#name] = [](hsa_signal_t signal) { static_cast<void>(name(signal, 0, 0)); };
#define ATOLL_WAIT(name) \
  functions[#name] = [](hsa_signal_t signal) { name(signal, HSA_SIGNAL_CONDITION_EQ, 0, 0, HSA_WAIT_STATE_BLOCKED); };
#define ATOLL_ORDERS(KIND, operation)      \
  KIND(hsa_signal_##operation##_relaxed)   \
  KIND(hsa_signal_##operation##_scacquire) \
  KIND(hsa_signal_##operation##_screlease) KIND(hsa_signal_##operation##_scacq_screl)
  ATOLL_LOAD(hsa_signal_load_relaxed)
  ATOLL_LOAD(hsa_signal_load_scacquire)
  ATOLL_CHANGE(hsa_signal_store_relaxed)
  ATOLL_CHANGE(hsa_signal_store_screlease)
  ATOLL_CHANGE(hsa_signal_silent_store_relaxed)
  ATOLL_CHANGE(hsa_signal_silent_store_screlease)
  ATOLL_ORDERS(ATOLL_CHANGE, exchange)
  ATOLL_ORDERS(ATOLL_SWAP, cas)
  ATOLL_ORDERS(ATOLL_CHANGE, add)
  ATOLL_ORDERS(ATOLL_CHANGE, subtract)
  ATOLL_ORDERS(ATOLL_CHANGE, and)
  ATOLL_ORDERS(ATOLL_CHANGE, or)
  ATOLL_ORDERS(ATOLL_CHANGE, xor)
  ATOLL_WAIT(hsa_signal_wait_relaxed)
  ATOLL_WAIT(hsa_signal_wait_scacquire)
  return functions;
}

std::map<std::string, std::function<void(hsa_queue_t*)>> queue_functions() {
  std::map<std::string, std::function<void(hsa_queue_t*)>> functions;
#define ATOLL_QUEUE_LOAD(name) functions[#name] = [](hsa_queue_t* queue) { static_cast<void>(name(queue)); };
#define ATOLL_QUEUE_CHANGE(name) functions[#name] = [](hsa_queue_t* queue) { static_cast<void>(name(queue, 0)); };
#define ATOLL_QUEUE_SWAP(name) functions[#name] = [](hsa_queue_t* queue) { static_cast<void>(name(queue, 0, 0)); };
  ATOLL_QUEUE_LOAD(hsa_queue_load_read_index_relaxed)
  ATOLL_QUEUE_LOAD(hsa_queue_load_read_index_scacquire)
  ATOLL_QUEUE_LOAD(hsa_queue_load_write_index_relaxed)
  ATOLL_QUEUE_LOAD(hsa_queue_load_write_index_scacquire)
  ATOLL_QUEUE_CHANGE(hsa_queue_store_read_index_relaxed)
  ATOLL_QUEUE_CHANGE(hsa_queue_store_read_index_screlease)
  ATOLL_QUEUE_CHANGE(hsa_queue_store_write_index_relaxed)
  ATOLL_QUEUE_CHANGE(hsa_queue_store_write_index_screlease)
  ATOLL_QUEUE_CHANGE(hsa_queue_add_write_index_relaxed)
  ATOLL_QUEUE_CHANGE(hsa_queue_add_write_index_scacquire)
  ATOLL_QUEUE_CHANGE(hsa_queue_add_write_index_screlease)
  ATOLL_QUEUE_CHANGE(hsa_queue_add_write_index_scacq_screl)
  ATOLL_QUEUE_SWAP(hsa_queue_cas_write_index_relaxed)
  ATOLL_QUEUE_SWAP(hsa_queue_cas_write_index_scacquire)
  ATOLL_QUEUE_SWAP(hsa_queue_cas_write_index_screlease)
  ATOLL_QUEUE_SWAP(hsa_queue_cas_write_index_scacq_screl)
  return functions;
}

void begin() {
  setenv("ATOLL_GPU", "mi250x", 1);
  if (hsa_init() != HSA_STATUS_SUCCESS) _exit(99);
}

constexpr uint64_t unmapped = 0x10000;  // below what Linux maps for programs

TEST(HsaWrongHandles, SignalsThatAreNotMappedAreReported) {
  for (const auto& [name, function] : signal_functions()) {
    EXPECT_EXIT((begin(), function({unmapped})), testing::KilledBySignal(SIGSEGV),
                "atoll: " + name + ": 0x10000 is not a signal: no memory is mapped there");
    EXPECT_EXIT((begin(), function({0})), testing::KilledBySignal(SIGSEGV),
                "atoll: " + name + ": 0x0 is the null handle");
  }
}

TEST(HsaWrongHandles, SignalsThatWereDestroyedAreReported) {
  for (const auto& [name, function] : signal_functions())
    EXPECT_EXIT(([&] {
                  begin();
                  hsa_signal_t signal{};
                  hsa_signal_create(0, 0, nullptr, &signal);
                  function(signal);  // nothing is said of a live one
                  hsa_signal_destroy(signal);
                  function(signal);
                  _exit(0);
                }()),
                testing::ExitedWithCode(0), "^atoll: " + name + ": 0x[0-9a-f]+ is a signal that was destroyed\n$");
}

TEST(HsaWrongHandles, QueuesThatAreNotMappedAreReported) {
  for (const auto& [name, function] : queue_functions())
    EXPECT_EXIT((begin(), function(reinterpret_cast<hsa_queue_t*>(unmapped))), testing::KilledBySignal(SIGSEGV),
                "atoll: " + name + ": 0x10000 is not a queue: no memory is mapped there");
}

// Functions of hsa.h without a status that take a signal or a queue.
TEST(HsaWrongHandles, TheListsAreWhole) {
  std::ifstream file(ATOLL_HSA_HEADERS "/hsa/hsa.h");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::regex declaration("(void|hsa_signal_value_t|uint64_t) HSA_API\\s+(hsa_(signal|queue)_\\w+)\\(");
  const auto signals = signal_functions();
  const auto queues = queue_functions();
  size_t found = 0;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), declaration); at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[2];
    if (std::regex_search(name, std::regex("_(acquire|release|acq_rel)$"))) continue;  // older names of the same
    EXPECT_TRUE(signals.contains(name) || queues.contains(name)) << name;
    ++found;
  }
  EXPECT_EQ(found, signals.size() + queues.size());
}

// What the packet processor finds.
struct Queue {
  hsa_queue_t* queue = nullptr;
  Queue() {
    begin();
    hsa_agent_t gpu{};
    hsa_iterate_agents(
        [](hsa_agent_t agent, void* data) {
          hsa_device_type_t type{};
          hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
          if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = agent;
          return HSA_STATUS_SUCCESS;
        },
        &gpu);
    const auto failed = [](hsa_status_t, hsa_queue_t*, void*) { _exit(3); };
    if (hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, failed, nullptr, 0, 0, &queue) != HSA_STATUS_SUCCESS) _exit(98);
  }
  void submit(hsa_signal_t depends_on, hsa_signal_t done) const {
    auto* packet = static_cast<hsa_barrier_and_packet_t*>(queue->base_address);
    packet->dep_signal[0] = depends_on;
    packet->completion_signal = done;
    __atomic_store_n(&packet->header, uint16_t{HSA_PACKET_TYPE_BARRIER_AND}, __ATOMIC_RELEASE);
    hsa_queue_store_write_index_screlease(queue, 1);
    hsa_signal_store_screlease(queue->doorbell_signal, 0);
  }
};

TEST(HsaWrongHandles, ACompletionSignalThatWasDestroyedIsReported) {
  EXPECT_EXIT(([&] {
                const Queue queue;
                hsa_signal_t begin_now{}, done{};
                hsa_signal_create(1, 0, nullptr, &begin_now);
                hsa_signal_create(1, 0, nullptr, &done);
                queue.submit(begin_now, done);
                hsa_signal_destroy(done);
                hsa_signal_store_screlease(begin_now, 0);
                while (hsa_queue_load_read_index_scacquire(queue.queue) != 1) usleep(1000);
                usleep(100'000);
                _exit(0);
              }()),
              testing::ExitedWithCode(0), "completion signal 0x[0-9a-f]+ of a packet was destroyed before the packet");
}

TEST(HsaWrongHandles, ARingThatIsNotMappedFailsTheQueue) {
  EXPECT_EXIT(([&] {
                const Queue queue;
                munmap(queue.queue->base_address, 4096);
                hsa_signal_store_screlease(queue.queue->doorbell_signal, 0);
                usleep(10'000'000);
                _exit(0);
              }()),
              testing::ExitedWithCode(3), "the ring at 0x[0-9a-f]+ is not mapped");
}

}  // namespace

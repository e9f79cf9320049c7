// A program that knows nothing of tools, for tools_test.cpp: it makes a signal and a queue, and waits for two barrier
// packets, the second of which comes with the first.
#include <hsa/hsa.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace {

bool is(hsa_status_t status, const char* what) {
  if (status != HSA_STATUS_SUCCESS) std::printf("%s: status %d\n", what, status);
  return status == HSA_STATUS_SUCCESS;
}

}  // namespace

int main() {
  if (!is(hsa_init(), "hsa_init")) return 1;
  hsa_agent_t gpu{};
  const auto find = [](hsa_agent_t agent, void* data) {
    hsa_device_type_t type{};
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = agent;
    return HSA_STATUS_SUCCESS;
  };
  if (!is(hsa_iterate_agents(find, &gpu), "hsa_iterate_agents")) return 1;
  hsa_signal_t signal{};
  if (!is(hsa_signal_create(2, 0, nullptr, &signal), "hsa_signal_create")) return 1;
  const hsa_signal_value_t before = hsa_signal_load_acquire(signal);
  hsa_queue_t* queue = nullptr;
  if (!is(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, 0, 0, &queue), "hsa_queue_create"))
    return 1;
  auto* packets = static_cast<hsa_barrier_and_packet_t*>(queue->base_address);
  const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 2);
  for (uint64_t i = index; i < index + 2; ++i) {
    hsa_barrier_and_packet_t& packet = packets[i % queue->size];
    hsa_barrier_and_packet_t body{};
    body.completion_signal = signal;
    // The queue looks at the header meanwhile.
    constexpr size_t header_bytes = sizeof packet.header;
    std::memcpy(reinterpret_cast<char*>(&packet) + header_bytes, reinterpret_cast<const char*>(&body) + header_bytes,
                sizeof packet - header_bytes);
    __atomic_store_n(&packet.header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
  }
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index + 1));
  const hsa_signal_value_t after =
      hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, before - 2, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  std::printf("client: from %" PRId64 " to %" PRId64 ", queue of %u, %" PRIu64 " read\n", before, after, queue->size,
              hsa_queue_load_read_index_acquire(queue));
  return is(hsa_queue_destroy(queue), "hsa_queue_destroy") && is(hsa_signal_destroy(signal), "hsa_signal_destroy") &&
                 is(hsa_shut_down(), "hsa_shut_down")
             ? 0
             : 1;
}

// A tool library for tools_test.cpp, compiled against the system's own hsa_api_trace.h: it counts the calls of two
// functions and makes signals begin at another value. What it sees it prints.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace {

decltype(hsa_signal_create)* next_signal_create;
decltype(hsa_queue_create)* next_queue_create;
int signals, queues;

hsa_status_t count_signal(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t* agents,
                          hsa_signal_t* signal) {
  ++signals;
  return next_signal_create(value + 1000, consumers, agents, signal);
}

hsa_status_t count_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                         void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t scratch,
                         uint32_t group, hsa_queue_t** queue) {
  ++queues;
  return next_queue_create(agent, size, type, callback, data, scratch, group, queue);
}

}  // namespace

extern "C" bool OnLoad(HsaApiTable* table, uint64_t version, uint64_t failed_count, const char* const* failed) {
  // The runtime is ready for calls.
  int agents = 0;
  const auto count = [](hsa_agent_t, void* data) {
    ++*static_cast<int*>(data);
    return HSA_STATUS_SUCCESS;
  };
  if (table->core_->hsa_iterate_agents_fn(count, &agents) != HSA_STATUS_SUCCESS) return false;
  std::printf("counting tool: version %" PRIu64 ", core table of %u bytes, %d agents, %" PRIu64 " failed%s%s\n",
              version, table->core_->version.minor_id, agents, failed_count, failed_count != 0 ? ": " : "",
              failed_count != 0 ? failed[0] : "");
  next_signal_create = table->core_->hsa_signal_create_fn;
  next_queue_create = table->core_->hsa_queue_create_fn;
  table->core_->hsa_signal_create_fn = count_signal;
  table->core_->hsa_queue_create_fn = count_queue;
  return true;
}

extern "C" void OnUnload() { std::printf("counting tool: %d signals, %d queues\n", signals, queues); }

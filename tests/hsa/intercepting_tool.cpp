// A tool library for tools_test.cpp that has every queue of the program's made as an intercept queue: two handlers see
// its packets, the later one first, and it marks each packet. It says itself that it is a tool.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "hsa/interface/api_tables.h"

using namespace Atoll::hsa;

extern "C" {
extern const uint32_t HSA_AMD_TOOL_PRIORITY;
const uint32_t HSA_AMD_TOOL_PRIORITY = 7;
}

namespace {

HsaApiTable* tables;

struct Packet {
  uint16_t header;
  uint8_t rest[62];
};

void packet_reported(const InterceptMarker* marker, hsa_queue_t*, uint64_t packet_id) {
  std::printf("intercepting tool: marker %" PRIu64 " at packet %" PRIu64 "\n", marker->user_data[0], packet_id);
}

void mark(const void* packets, uint64_t count, uint64_t index, void* data,
          hsa_amd_queue_intercept_packet_writer write) {
  std::printf("intercepting tool: %s handler, packet %" PRIu64 ", %" PRIu64 " of them\n",
              static_cast<const char*>(data), index, count);
  for (uint64_t i = 0; i < count; ++i) {
    Packet pair[2];
    InterceptMarker marker{};
    marker.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
    marker.format = InterceptMarker::format_number;
    marker.callback = packet_reported;
    marker.user_data[0] = 40 + index + i;
    std::memcpy(&pair[0], &marker, sizeof marker);
    std::memcpy(&pair[1], static_cast<const Packet*>(packets) + i, sizeof(Packet));
    write(pair, 2);
  }
}

void look(const void* packets, uint64_t count, uint64_t index, void* data,
          hsa_amd_queue_intercept_packet_writer write) {
  std::printf("intercepting tool: %s handler, packet %" PRIu64 ", %" PRIu64 " of them\n",
              static_cast<const char*>(data), index, count);
  write(packets, count);
}

hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                    void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t scratch, uint32_t group,
                    hsa_queue_t** queue) {
  const AmdExtTable& amd = *tables->amd_ext;
  const hsa_status_t status =
      amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data, scratch, group, queue);
  if (status != HSA_STATUS_SUCCESS) return status;
  static char first[] = "first", second[] = "second";
  amd.hsa_amd_queue_intercept_register_fn(*queue, mark, first);
  return amd.hsa_amd_queue_intercept_register_fn(*queue, look, second);
}

}  // namespace

extern "C" bool OnLoad(HsaApiTable* given, uint64_t, uint64_t, const char* const*);
extern "C" bool OnLoad(HsaApiTable* given, uint64_t, uint64_t, const char* const*) {
  std::printf("intercepting tool: loaded\n");
  tables = given;
  tables->core->hsa_queue_create_fn = create;
  return true;
}

// hsa: the tables of function pointers that the runtime hands to tools (profilers, tracers), which may replace any
// entry: every call of a program's goes through them (entry_points.cpp). Layout and versions are those of
// hsa_api_trace.h of ROCm 7.2, for tools are compiled with that; tests/hsa/tools_test.cpp compares the two.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>

#include <cstdint>

#include "hsa/interface/api_functions.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/interface/rocm_7_2_extensions.h"

extern "C" {

// Functions for tools only, in the AMD extensions' table: queues whose packets a tool sees before the GPU
// (intercept_queue.cpp), and notification of new queues.
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void* pkts, uint64_t pkt_count);
typedef void (*hsa_amd_queue_intercept_handler)(const void* pkts, uint64_t pkt_count, uint64_t user_pkt_index,
                                                void* data, hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t* queue, hsa_agent_t agent, void* data);
hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
                                            void (*callback)(hsa_status_t status, hsa_queue_t* source, void* data),
                                            void* data, uint32_t private_segment_size, uint32_t group_segment_size,
                                            hsa_queue_t** queue);
hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t* queue, hsa_amd_queue_intercept_handler callback,
                                              void* user_data);
hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback, void* user_data);

}  // extern "C"

namespace Atoll::hsa {

/// A vendor packet that a tool inserts before another packet. It is not sent to the GPU but reports the other packet's
/// index to the tool.
struct InterceptMarker {
  static constexpr uint8_t format_number = 0xFE;  ///< AMD_AQL_FORMAT_INTERCEPT_MARKER

  uint16_t header;
  uint8_t format, reserved[5];
  void (*callback)(const InterceptMarker* packet, hsa_queue_t* queue, uint64_t packet_id);
  uint64_t user_data[6];
};
static_assert(sizeof(InterceptMarker) == 64);

struct ApiTableVersion {
  uint32_t major, minor, step, reserved;  ///< `minor` is the table's size in bytes
};

#define ATOLL_SLOT(function) decltype(::function)* function##_fn;
struct CoreApiTable {
  ApiTableVersion version;
  ATOLL_HSA_CORE_FUNCTIONS(ATOLL_SLOT)
};
struct AmdExtTable {
  ApiTableVersion version;
  ATOLL_HSA_AMD_FUNCTIONS(ATOLL_SLOT, ATOLL_SLOT)
};
struct FinalizerExtTable {
  ApiTableVersion version;
  ATOLL_HSA_FINALIZER_FUNCTIONS(ATOLL_SLOT)
};
struct ImageExtTable {
  ApiTableVersion version;
  ATOLL_HSA_IMAGE_FUNCTIONS(ATOLL_SLOT)
};
struct PcSamplingExtTable {
  ApiTableVersion version;
  ATOLL_HSA_PC_SAMPLING_FUNCTIONS(ATOLL_SLOT)
};
#undef ATOLL_SLOT

/// Callbacks for changes of a queue's scratch memory. All are null: scratch belongs to the host thread that executes a
/// wave, so a queue's never changes.
struct ToolsApiTable {
  ApiTableVersion version;
  void* scratch_events[6];
};

struct HsaApiTable {
  ApiTableVersion version;
  CoreApiTable* core;
  AmdExtTable* amd_ext;
  FinalizerExtTable* finalizer_ext;
  ImageExtTable* image_ext;
  ToolsApiTable* tools;
  PcSamplingExtTable* pc_sampling_ext;
};

/// Returns the tables that calls go through and that tools change.
HsaApiTable& api_tables();
/// Resets every entry to Atoll's own function.
void reset_api_tables();

}  // namespace Atoll::hsa

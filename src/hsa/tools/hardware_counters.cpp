// hsa: AMD's AQL profile extension, which writes the packets that program hardware counters and thread traces. Atoll's
// GPUs have neither: no event is valid, lists of events and of their coordinates are empty, and packets and buffers for
// them are refused. In ROCm the functions are those of a library of its own, libhsa-amd-aqlprofile64.so.
// Source: hsa_ven_amd_aqlprofile.h of ROCm 7.2.
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include "hsa/interface/attribute.h"
#include "hsa/interface/rocm_7_2_extensions.h"
#include "hsa/runtime.h"

using namespace Atoll::hsa;

namespace {

thread_local const char* last_error = "";

hsa_status_t fail(hsa_status_t status, const char* reason) {
  last_error = reason;
  return status;
}

/// What is answered to a profile, which must be one of the GPU's.
hsa_status_t refuse(const hsa_ven_amd_aqlprofile_profile_t* profile, const void* output) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (profile == nullptr || output == nullptr) {
    return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is null");
  }
  const Agent* agent = Runtime::get()->find_agent(profile->agent);
  if (agent == nullptr || !agent->is_gpu()) return fail(HSA_STATUS_ERROR_INVALID_AGENT, "the agent is no GPU");
  return fail(HSA_STATUS_ERROR, "this GPU has no hardware counters and no thread trace");
}

}  // namespace

uint32_t hsa_ven_amd_aqlprofile_version_major() { return HSA_AQLPROFILE_VERSION_MAJOR; }
uint32_t hsa_ven_amd_aqlprofile_version_minor() { return HSA_AQLPROFILE_VERSION_MINOR; }

hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char** str) {
  if (str == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *str = last_error;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_aqlprofile_validate_event(hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t* event,
                                                   bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (event == nullptr || result == nullptr) return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is null");
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr || !found->is_gpu()) return fail(HSA_STATUS_ERROR_INVALID_AGENT, "the agent is no GPU");
  return give(result, false);
}

hsa_status_t hsa_ven_amd_aqlprofile_start(hsa_ven_amd_aqlprofile_profile_t* profile,
                                          hsa_ext_amd_aql_pm4_packet_t* aql_start_packet) {
  return refuse(profile, aql_start_packet);
}

hsa_status_t hsa_ven_amd_aqlprofile_stop(const hsa_ven_amd_aqlprofile_profile_t* profile,
                                         hsa_ext_amd_aql_pm4_packet_t* aql_stop_packet) {
  return refuse(profile, aql_stop_packet);
}

hsa_status_t hsa_ven_amd_aqlprofile_read(const hsa_ven_amd_aqlprofile_profile_t* profile,
                                         hsa_ext_amd_aql_pm4_packet_t* aql_read_packet) {
  return refuse(profile, aql_read_packet);
}

hsa_status_t hsa_ven_amd_aqlprofile_att_marker(hsa_ven_amd_aqlprofile_profile_t* profile,
                                               hsa_ext_amd_aql_pm4_packet_t* aql_marker_packet, uint32_t,
                                               hsa_ven_amd_aqlprofile_att_marker_channel_t) {
  return refuse(profile, aql_marker_packet);
}

hsa_status_t hsa_ven_amd_aqlprofile_legacy_get_pm4(const hsa_ext_amd_aql_pm4_packet_t* aql_packet, void* data) {
  if (aql_packet == nullptr || data == nullptr) return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is null");
  return fail(HSA_STATUS_ERROR, "this GPU has no hardware counters and no thread trace");
}

hsa_status_t hsa_ven_amd_aqlprofile_get_info(const hsa_ven_amd_aqlprofile_profile_t* profile,
                                             hsa_ven_amd_aqlprofile_info_type_t, void* value) {
  return refuse(profile, value);
}

hsa_status_t hsa_ven_amd_aqlprofile_iterate_data(const hsa_ven_amd_aqlprofile_profile_t* profile,
                                                 hsa_ven_amd_aqlprofile_data_callback_t callback, void*) {
  return refuse(profile, reinterpret_cast<const void*>(callback));
}

hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_ids(hsa_ven_amd_aqlprofile_eventname_callback_t callback) {
  return callback == nullptr ? fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is null") : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_coord(hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t, uint32_t,
                                                        hsa_ven_amd_aqlprofile_coordinate_callback_t callback, void*) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is null");
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr || !found->is_gpu()) return fail(HSA_STATUS_ERROR_INVALID_AGENT, "the agent is no GPU");
  return HSA_STATUS_SUCCESS;
}

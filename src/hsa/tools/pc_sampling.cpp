// hsa: PC sampling, for which Atoll's GPUs have no hardware: they list no configuration, so that every session that is
// asked for is one that the agent does not have, and no handle of a session is valid.
// Source: hsa_ven_amd_pc_sampling.h of ROCm 7.2.
#include "hsa/interface/api_names.h"
#include "hsa/runtime.h"

using namespace Atoll::hsa;

namespace {

hsa_status_t refuse_session(hsa_agent_t agent) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  return found == nullptr || !found->is_gpu() ? HSA_STATUS_ERROR_INVALID_AGENT : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t refuse_handle() {
  return is_initialized() ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

}  // namespace

hsa_status_t hsa_ven_amd_pcs_iterate_configuration(
    hsa_agent_t agent, hsa_ven_amd_pcs_iterate_configuration_callback_t configuration_callback, void*) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr || !found->is_gpu()) return HSA_STATUS_ERROR_INVALID_AGENT;
  return configuration_callback == nullptr ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_pcs_create(hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t, hsa_ven_amd_pcs_units_t, size_t,
                                    size_t, size_t, hsa_ven_amd_pcs_data_ready_callback_t, void*, hsa_ven_amd_pcs_t*) {
  return refuse_session(agent);
}

hsa_status_t hsa_ven_amd_pcs_create_from_id(uint32_t, hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t,
                                            hsa_ven_amd_pcs_units_t, size_t, size_t, size_t,
                                            hsa_ven_amd_pcs_data_ready_callback_t, void*, hsa_ven_amd_pcs_t*) {
  return refuse_session(agent);
}

hsa_status_t hsa_ven_amd_pcs_destroy(hsa_ven_amd_pcs_t) { return refuse_handle(); }
hsa_status_t hsa_ven_amd_pcs_start(hsa_ven_amd_pcs_t) { return refuse_handle(); }
hsa_status_t hsa_ven_amd_pcs_stop(hsa_ven_amd_pcs_t) { return refuse_handle(); }
hsa_status_t hsa_ven_amd_pcs_flush(hsa_ven_amd_pcs_t) { return refuse_handle(); }

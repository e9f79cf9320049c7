// hsa: times of dispatches and copies. The machine and the copy engine write them to completion signals always, in
// nanoseconds of the one clock that there is, so that nothing needs to be switched on or converted.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll::hsa;

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int enable) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const auto record = Runtime::get()->queues.find(queue);
  if (!record || !record->machine) return HSA_STATUS_ERROR_INVALID_QUEUE;
  record->machine->set_profiling(enable != 0);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool) {
  return is_initialized() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* time) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (time == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr || !found->is_gpu()) return HSA_STATUS_ERROR_INVALID_AGENT;
  const Signal* completion = signal_of(signal);
  if (completion == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *time = {completion->abi.start_ts, completion->abi.end_ts};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t* time) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (time == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Signal* completion = signal_of(signal);
  if (completion == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *time = {completion->abi.start_ts, completion->abi.end_ts};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t agent_tick,
                                                             uint64_t* system_tick) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (system_tick == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr || !found->is_gpu()) return HSA_STATUS_ERROR_INVALID_AGENT;
  *system_tick = agent_tick;
  return HSA_STATUS_SUCCESS;
}

// Streaming performance monitors: hardware counters that are written to memory while kernels run. Atoll has none; the
// status is that of a GPU whose driver lacks them.

namespace {

hsa_status_t no_performance_monitor(hsa_agent_t agent) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  return found == nullptr || !found->is_gpu() ? HSA_STATUS_ERROR_INVALID_AGENT : HSA_STATUS_ERROR;
}

}  // namespace

hsa_status_t hsa_amd_spm_acquire(hsa_agent_t preferred_agent) { return no_performance_monitor(preferred_agent); }
hsa_status_t hsa_amd_spm_release(hsa_agent_t preferred_agent) { return no_performance_monitor(preferred_agent); }
hsa_status_t hsa_amd_spm_set_dest_buffer(hsa_agent_t preferred_agent, size_t, uint32_t*, uint32_t*, void*, bool*) {
  return no_performance_monitor(preferred_agent);
}

// hsa: delivering faults.
#include "hsa/fault.h"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "hsa/interface/callback.h"
#include "hsa/interface/status.h"
#include "hsa/runtime.h"

namespace Atoll::hsa {

hsa_status_t queue_status(const machine::QueueError& error) {
  if (error.fault) {
    switch (error.fault->fault.kind) {
      case machine::Fault::Kind::scratch_overflow:
      case machine::Fault::Kind::lds_overflow:
        return static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
      default:
        return status_of(error.kind);
    }
  }
  switch (error.packet_fault) {
    case machine::PacketFault::format:
      return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    case machine::PacketFault::dimensions:
      return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    case machine::PacketFault::group_memory:
      return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    case machine::PacketFault::kernel_object:
      return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    case machine::PacketFault::work_group_size:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case machine::PacketFault::none:
      break;
  }
  return status_of(error.kind);
}

void FaultDelivery::add_handler(hsa_amd_system_event_callback_t callback, void* data) {
  const std::scoped_lock lock(mutex_);
  handlers_.emplace_back(callback, data);
}

bool FaultDelivery::deliver_event(const std::optional<machine::FaultReport>& report, hsa_agent_t gpu) {
  hsa_amd_event_t event{};
  event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
  event.memory_fault.agent = gpu;
  event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  if (report) event.memory_fault.virtual_address = report->fault.address;

  bool handled = false;
  const InCallback marked;
  std::unique_lock lock(mutex_);
  for (auto handler = handlers_.begin(); handler != handlers_.end(); ++handler) {
    lock.unlock();  // it may call in; handlers stay where they are
    handled |= handler->first(&event, handler->second) == HSA_STATUS_SUCCESS;
    lock.lock();
  }
  return handled;
}

namespace {

/// Says why a queue stopped; out of memory, only that it did.
void say_why(const machine::QueueError& error, const hsa_queue_t& queue) {
  try {
    const std::string text = error.fault
                                 ? error.fault->to_string()
                                 : fmt::format("queue {}, packet {}: {}", queue.id, error.packet_id, error.message);
    std::fputs(("atoll: " + text + "\n").c_str(), stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("atoll: a queue stopped, and memory is out\n", stderr);
  }
}

}  // namespace

void FaultDelivery::deliver(const machine::QueueError& error, hsa_agent_t gpu, hsa_queue_t* queue,
                            QueueCallback callback, void* data) {
  say_why(error, *queue);
  const hsa_status_t status = queue_status(error);
  const bool is_memory_fault = static_cast<int>(status) == HSA_STATUS_ERROR_MEMORY_FAULT;
  if (is_memory_fault && deliver_event(error.fault, gpu)) return;
  if (callback != nullptr) {
    const InCallback marked;
    callback(status, queue, data);
  } else if (is_memory_fault) {
    std::abort();
  }
}

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Runtime::get()->faults.add_handler(callback, data);
  return HSA_STATUS_SUCCESS;
}

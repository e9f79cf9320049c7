// hsa: delivers kernel faults to the program: the report on standard error, then the system event handlers or the
// queue's error callback. Source: hsa_ext_amd.h, hsa_amd_register_system_event_handler; HSA runtime specification,
// hsa_queue_create.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "machine/queue/queue.h"
#include "machine/wave/dispatch.h"

namespace Atoll::hsa {

using QueueCallback = void (*)(hsa_status_t status, hsa_queue_t* source, void* data);

class FaultDelivery {
 public:
  void add_handler(hsa_amd_system_event_callback_t callback, void* data);

  /// Handles a stopped queue: prints the reason on standard error. Memory faults go to the event handlers. Unhandled
  /// ones and all other errors go to the queue's callback (HIP's ends the process). An unhandled memory fault ends the
  /// process, as on hardware.
  void deliver(const machine::QueueError& error, hsa_agent_t gpu, hsa_queue_t* queue, QueueCallback callback,
               void* data);

 private:
  bool deliver_event(const std::optional<machine::FaultReport>& report, hsa_agent_t gpu);

  std::mutex mutex_;
  std::list<std::pair<hsa_amd_system_event_callback_t, void*>> handlers_;  ///< entries are never removed
};

/// Returns the status for the callback of a stopped queue: the codes of ROCr's queue error handler.
hsa_status_t queue_status(const machine::QueueError& error);

}  // namespace Atoll::hsa

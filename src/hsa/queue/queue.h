// hsa: the books of queues: which hsa_queue_t is which machine::Queue, with its doorbell.
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hsa/agent.h"
#include "hsa/queue/signal.h"
#include "machine/queue/queue.h"
#include "settings/compute_unit_mask.h"

namespace Atoll::hsa {

/// A queue of a GPU, or a soft queue, whose packets the program itself processes.
struct QueueRecord {
  std::unique_ptr<machine::Queue> machine;  ///< null for a soft queue
  const GpuAgent* agent = nullptr;          ///< whose it is; null for a soft queue
  machine::Memory* memory = nullptr;        ///< of a soft queue: what it is allocated from
  uint64_t soft = 0;                        ///< of a soft queue: where its packets are, and the amd_queue_t after them
  Signal* doorbell = nullptr;               ///< the runtime's own; null for a soft queue
  Signal* inactive = nullptr;               ///< the amd_queue_t's queue_inactive_signal
  settings::ComputeUnitMask compute_unit_mask;  ///< empty: all of them
  hsa_amd_queue_priority_t priority = HSA_AMD_QUEUE_PRIORITY_NORMAL;

  ~QueueRecord();
};

class Queues {
 public:
  void add(hsa_queue_t* queue, std::shared_ptr<QueueRecord> record);
  std::shared_ptr<QueueRecord> find(const hsa_queue_t* queue) const;
  /// Takes it out of the books and ends it; false when it is not there. One that is destroyed in its own callback ends
  /// when another queue is made or destroyed: its thread has to come back first.
  bool remove(const hsa_queue_t* queue);
  void clear();

 private:
  using Records = std::vector<std::shared_ptr<QueueRecord>>;
  Records take_ended();

  mutable std::mutex mutex_;
  std::map<const hsa_queue_t*, std::shared_ptr<QueueRecord>> queues_;
  Records ending_;  ///< destroyed in their own callbacks
};

}  // namespace Atoll::hsa

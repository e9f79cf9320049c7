// hsa: queues whose packets a tool sees, and may change, before the GPU does.
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>

#include <atomic>
#include <memory>

#include "hsa/fault.h"
#include "hsa/interface/api_tables.h"
#include "hsa/queue/signal.h"
#include "machine/queue/queue.h"

namespace Atoll::hsa {

/// Whom the errors of the wrapped queue are told, in the name of the intercepting queue.
struct InterceptErrors {
  QueueCallback callback;
  void* data;
  std::atomic<hsa_queue_t*> queue{nullptr};
};

/// A queue that wraps one of the GPU's, whose place it takes in the books: programs write to its ring, and ringing its
/// doorbell has the packets go through the tools' handlers to the wrapped queue.
class InterceptQueue : public machine::Queue {
 public:
  /// Takes over `wrapped`, which it destroys in the end, and to which `errors` belongs. Null without memory.
  static std::unique_ptr<InterceptQueue> make(hsa_queue_t* wrapped, uint32_t size, Signal& doorbell,
                                              std::unique_ptr<InterceptErrors> errors);

  virtual hsa_queue_t* handle() = 0;
  /// Adds a handler, which gets packets before those that were added earlier, and the last of them the packets that the
  /// GPU gets.
  virtual void add_handler(hsa_amd_queue_intercept_handler handler, void* data) = 0;
};

}  // namespace Atoll::hsa

// machine: an AQL queue: the ring buffer and amd_queue_t that programs write to, and the packet processor that reads
// it. Source: HSA system architecture, "User mode queuing", "AQL"; user guide, "Kernel Dispatch".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/queue/aql.h"
#include "machine/wave/dispatch.h"
#include "support/error.h"

namespace Atoll::machine {

class Gpu;

/// Errors in a packet found before it runs, as far as GPUs distinguish them.
enum class PacketFault : uint8_t {
  none,
  format,           ///< an unknown type, or handles that are no signals
  dimensions,       ///< grid and work-group sizes that do not fit each other
  group_memory,     ///< more LDS than a work-group may have
  kernel_object,    ///< no kernel
  work_group_size,  ///< more work-items than a work-group may have
};

/// Why a queue was stopped: malformed packet, kernel fault, ...
struct QueueError {
  support::ErrorKind kind = support::ErrorKind::invalid_argument;
  std::string message{};
  PacketFault packet_fault = PacketFault::none;
  uint64_t packet_id = 0;
  uint64_t completion_signal = 0;      ///< of the failed packet; it is left as it was, as hardware leaves it
  std::optional<FaultReport> fault{};  ///< when the kernel faulted
};

class Queue {
 public:
  /// Stops processing; packets that were not started are dropped. Not on the queue's own thread, for which it waits.
  virtual ~Queue() = default;
  virtual bool is_own_thread() const = 0;  ///< whether the caller runs on the queue's thread: in one of its callbacks

  virtual aql::Queue* abi() = 0;  ///< the amd_queue_t; its address is what hsa_queue_t* is
  /// The doorbell rang: packets up to and including `packet_id` are written.
  virtual void ring_doorbell(uint64_t packet_id) = 0;
  /// No packet is processed any more, and what runs is stopped (hsa_queue_inactivate).
  virtual void inactivate() = 0;
  virtual void set_profiling(bool enabled) = 0;  ///< dispatch times are written to completion signals always
  /// The compute units that dispatches from now on use, as far as waves can observe it; empty: all.
  virtual void set_compute_units(std::vector<uint16_t> numbers) = 0;
};

struct QueueOptions {
  uint32_t size = 0;  ///< packets, a power of two
  bool multi_producer = true, cooperative = false;
  aql::Signal* doorbell = nullptr;                      ///< the caller's; kept in the amd_queue_t
  Observer* observer = nullptr;                         ///< of doorbells and barrier packets; null: none
  uint64_t queue_inactive_signal = 0;                   ///< set to 1 once the queue has been inactivated or has failed
  std::function<void(const QueueError&)> on_error{};    ///< from the queue's thread; the queue is stopped then
  std::function<void(const aql::Queue&)> on_destroy{};  ///< when nothing is processed any more
  /// Agent dispatch packets, which a GPU has no use for but a queue made by hsa_soft_queue_create has.
  std::function<bool(const aql::AgentDispatchPacket&)> on_agent_dispatch{};
};

}  // namespace Atoll::machine

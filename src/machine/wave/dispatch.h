// machine: one kernel launch, from an AQL packet or from the C++ API, and what became of it.
//
// The packet says how many work-items and where the arguments are, the kernel descriptor what the kernel needs.
// prepare() checks both against the GPU and works out the figures that the scheduler and the waves' initial
// state need.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/queue/aql.h"
#include "machine/wave/cluster.h"
#include "machine/wave/wave.h"
#include "object/code_object.h"
#include "object/kernel_descriptor.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

class Gpu;
class LoadedCode;
class Memory;
class Observer;
class ResidentGroup;
struct StoppedWorkGroup;

/// One row of `--stats`.
struct KernelStatistics {
  std::string kernel;
  uint64_t calls = 0, work_groups = 0, waves = 0, wave_instructions = 0;
  uint64_t interpreted_instructions = 0;  ///< of them, by the compiled engine: it had no code yet, or has none
  double seconds = 0;
};

/// A fault with everything that its report shows.
struct FaultReport {
  Fault fault;
  std::string kernel;       ///< name, demangled
  std::string instruction;  ///< disassembled, or its bytes where it is none
  std::string function;     ///< around the PC, when it isn't the kernel itself
  std::string source;       ///< "file.hip:12:5", empty without DWARF
  std::string owner;        ///< what lies nearest to the address, in words
  bool lane_known = true;   ///< otherwise lane and work-item are the wave's first active ones
  uint32_t work_group[3]{};
  uint32_t work_item[3]{};  ///< of the faulting lane
  uint32_t wave = 0;
  std::string origin;              ///< of a jump to where there is no code: the call, where it can be told
  std::vector<std::string> waves;  ///< of a hang: where those of the work-group are, and what they wait for
  std::string core_file;  ///< where the state of the GPU was written (core_dump.h), or why it was not; empty: nowhere
  std::string to_string() const;  ///< several lines, for standard error
  /// What kind of error the launcher gets: memory_fault, illegal_instruction or aborted.
  support::ErrorKind error_kind() const;
};

/// A kernel as the packet processor sees it: its descriptor decoded once, its name, and what it has cost so far.
struct Kernel {
  std::string name;     ///< without ".kd"
  uint64_t object = 0;  ///< address of the descriptor
  uint64_t entry = 0;   ///< address of the first instruction
  object::KernelDescriptor descriptor{};
  uint16_t named_vgprs = 0, named_agprs = 0;  ///< of those allocated, the first so many are all that the code names
  std::optional<std::array<uint32_t, 3>> cluster_size;  ///< work-groups of a cluster, if it is to run in clusters
  bool watches_exceptions = false;       ///< enables floating-point exceptions, or its code can read them
  std::weak_ptr<const LoadedCode> code;  ///< what it belongs to

  /// What a wave took a host thread the last time, in nanoseconds; 0 until known.
  std::atomic<uint64_t> wave_ns{0};
  /// Whether its work-groups have been seen to wait, which may be for each other.
  std::atomic<bool> waits{false};

  std::mutex mutex;  ///< of the statistics
  KernelStatistics statistics;
};

/// The kernel whose descriptor lies at `object` in `code`. Errors: `code` has no kernel there, or the descriptor asks
/// for more than the processor has.
support::Result<std::shared_ptr<Kernel>> make_kernel(uint64_t object, const std::shared_ptr<const LoadedCode>& code,
                                                     const target::Processor& processor);

/// What a launch needs, checked: registers, LDS and scratch fit the GPU.
struct Dispatch {
  Gpu* gpu = nullptr;
  aql::KernelDispatchPacket packet{};  ///< a copy: the slot in the ring is the program's again as soon as the dispatch
                                       ///< has begun
  uint64_t packet_address =
      0;                       ///< of another copy, which the dispatch pointer of the waves points to; 0: there is none
  uint64_t queue_address = 0;  ///< of the amd_queue_t
  uint64_t dispatch_id = 0;    ///< the packet's number in its queue
  AddressBounds bounds{};      ///< of the memory that it may touch
  std::shared_ptr<Kernel> kernel;
  std::shared_ptr<const LoadedCode> code;  ///< the kernel's; kept loaded while it runs
  Observer* observer = nullptr;            ///< of dispatches, work-groups, waves and barriers (observer.h); null: none

  uint32_t grid_size[3]{};                             ///< work-items; 1 in dimensions that the packet does not use
  uint32_t work_group_size[3]{};                       ///< work-items of a whole work-group
  uint32_t work_groups[3]{};                           ///< the grid in work-groups, partial ones included
  uint64_t work_group_count = 0;                       ///< their product
  std::optional<Clusters> clusters;                    ///< GFX12.5; not set: work-groups are on their own
  std::unique_ptr<ClusterBarrier[]> cluster_barriers;  ///< of each cluster
  uint32_t wave_size = 64;
  uint32_t lds_bytes = 0;  ///< of a work-group, static and dynamic
  uint32_t scratch_bytes_per_lane = 0;
  uint32_t scratch_bytes_per_wave = 0;
  std::shared_ptr<const std::vector<uint16_t>>
      compute_units;          ///< the numbers of those that its queue may use; null: all
  uint64_t max_resident = 1;  ///< work-groups that may have begun and not ended at the same time

  // Progress, shared by the host threads that run it. What changes with every few work-groups has a cache line of its
  // own.
  alignas(64) std::atomic<uint64_t> next_work_group{0};  ///< the first that no thread has taken yet
  std::atomic<uint64_t> work_groups_left{0}, wave_instructions{0}, interpreted_instructions{0}, waves{0};
  alignas(64) std::atomic<bool> cancelled{false};     ///< a fault, a timeout or Ctrl-C: waves stop at the next chance
  std::atomic<bool> offered{false};                   ///< to the scheduler's other threads
  std::atomic<bool> suspects_blocked{false};          ///< waves were seen to wait lately
  std::atomic<bool> done{false};                      ///< set last: nothing runs any more, and the figures are final
  uint64_t start_ns = 0, end_ns = 0;                  ///< CLOCK_MONOTONIC
  uint64_t deadline_ns = UINT64_MAX;                  ///< when it is timed out
  const std::atomic<uint64_t>* interrupts = nullptr;  ///< Gpu's count of them
  uint64_t interrupts_seen = 0;                       ///< that count when it started
  std::function<void(Dispatch&)> on_done;             ///< called by the thread that ends it, just before `done` is set
  Memory* packet_memory = nullptr;                    ///< that `packet_address` is a slot of

  std::mutex mutex;  ///< of what follows
  // Work-groups set aside half-way so that others get their turn (scheduler.h).
  std::map<uint64_t, std::unique_ptr<ResidentGroup>> preempted;  ///< by work-group number
  uint64_t last_resumed = UINT64_MAX;                            ///< the number of which
  std::atomic<size_t> preemption_count{0};                       ///< of `set_aside`, to be read without the mutex
  // Work-groups that threads took and gave back before they began, as ranges.
  std::vector<std::pair<uint64_t, uint64_t>> given_back;
  std::atomic<size_t> given_back_count{0};  ///< of ranges, to be read without the mutex
  uint64_t launch_credit = 0;               ///< how many new work-groups may begin before those set aside go on
  uint64_t fruitless_rounds =
      0;  ///< turns in a row of work-groups set aside in which none got on, or that got on no further
  // Why it was cancelled: the first reason counts.
  std::optional<support::Error> error;
  std::optional<FaultReport> fault;  ///< when the reason is a fault
  // Where a core file is wanted: what becomes of it once the last wave has stopped, and the waves until then.
  std::function<void(Dispatch&)> dump_core;
  std::vector<StoppedWorkGroup> stopped;

  Dispatch();
  ~Dispatch();

  /// Whether a thread that looks for work may find a work-group to begin, or one to begin or to go on with.
  bool has_unbegun() const {
    return next_work_group.load(std::memory_order_relaxed) < work_group_count ||
           given_back_count.load(std::memory_order_relaxed) != 0;
  }
  bool has_work() const { return has_unbegun() || preemption_count.load(std::memory_order_relaxed) != 0; }
};

/// Whether a dispatch under way is to be given up: it was cancelled, is late at the time `now` (now_ns()), or somebody
/// has interrupted the GPU.
bool must_stop(const Dispatch& dispatch, uint64_t now);

/// Instructions of the work-groups that no thread has taken yet, counted for whole waves, if they run as many as those
/// that have ended did; nothing until some have.
std::optional<uint64_t> instructions_ahead(const Dispatch& dispatch);

/// Fills in the figures from packet and kernel, which must be set. Errors, as HSA distinguishes them:
/// invalid_argument (a malformed packet), out_of_resources (LDS, scratch or work-group larger than the GPU's).
support::Result<void> prepare(Dispatch& dispatch, const target::GpuModel& model);

}  // namespace Atoll::machine

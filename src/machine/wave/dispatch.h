// machine: one kernel launch while it runs, and what became of it.
//
// A Dispatch holds what its waves start with (launch_state.h), which is constant, and its progress, which the host
// threads that run it share.
#pragma once

#include <array>
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

#include "machine/wave/cluster.h"
#include "machine/wave/launch_state.h"
#include "machine/wave/wave.h"
#include "support/error.h"

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
  std::string origin;              ///< for a jump to an address without code: the call, if known
  std::vector<std::string> waves;  ///< of a hang: where those of the work-group are, and what they wait for
  std::string core_file;  ///< where the state of the GPU was written (core_dump.h), or why it was not; empty: nowhere
  std::string to_string() const;  ///< several lines, for standard error
  /// Kind of error that the launcher gets: memory_fault, illegal_instruction or aborted.
  support::ErrorKind error_kind() const;
};

/// A kernel that can be launched: its name, its code, and what it has cost so far. What its waves start with is in each
/// launch (launch_state.h).
struct Kernel {
  std::string name;                      ///< without ".kd"
  uint64_t object = 0;                   ///< address that launches name it by: HSA's kernel object, otherwise the entry
  uint64_t entry = 0;                    ///< address of the first instruction
  std::weak_ptr<const LoadedCode> code;  ///< what it belongs to

  /// Host time of the last wave in nanoseconds; 0 until known.
  std::atomic<uint64_t> wave_ns{0};
  /// Whether its work-groups have been seen to wait, which may be for each other.
  std::atomic<bool> waits{false};

  std::mutex mutex;  ///< of the statistics
  KernelStatistics statistics;
};

/// Where a launch came from, for its queue, checkers of order and core files.
struct Submission {
  uint64_t queue_address = 0;        ///< of the amd_queue_t
  uint64_t dispatch_id = 0;          ///< number of its packet in that queue
  uint64_t completion_signal = 0;    ///< handle of the signal that its end decrements; 0: none
  bool waits_for_earlier = false;    ///< starts when all earlier packets of the queue have ended (barrier bit)
  std::array<uint8_t, 64> packet{};  ///< copy of its slot in the ring, which the program may reuse at once
};

/// How far a dispatch is: shared by the host threads that run it. What changes with every few work-groups has a cache
/// line of its own.
struct DispatchProgress {
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

  std::mutex mutex;  ///< of what follows
  // Work-groups that are preempted, so that others get their turn (scheduler.h).
  std::map<uint64_t, std::unique_ptr<ResidentGroup>> preempted;  ///< by work-group number
  uint64_t last_resumed = UINT64_MAX;                            ///< the number of which
  std::atomic<size_t> preemption_count{0};                       ///< size of `preempted`, to be read without the mutex
  // Work-groups that threads took and gave back before they began, as ranges.
  std::vector<std::pair<uint64_t, uint64_t>> given_back;
  std::atomic<size_t> given_back_count{0};  ///< of ranges, to be read without the mutex
  uint64_t launch_credit = 0;               ///< how many new work-groups may begin before preempted ones go on
  uint64_t fruitless_rounds = 0;            ///< turns in a row of preempted work-groups without progress
  // Why it was cancelled: the first reason counts.
  std::optional<support::Error> error;
  std::optional<FaultReport> fault;  ///< when the reason is a fault
  // Where a core file is wanted: what becomes of it once the last wave has stopped, and the waves until then.
  std::function<void(Dispatch&)> dump_core;
  std::vector<StoppedWorkGroup> stopped;

  DispatchProgress();
  ~DispatchProgress();
};

/// One launch: what its waves start with, and how far it is.
struct Dispatch {
  Gpu* gpu = nullptr;
  LaunchState launch;  ///< unchanged once the first work-group begins
  Submission submission;
  std::shared_ptr<Kernel> kernel;
  Observer* observer = nullptr;  ///< of dispatches, work-groups, waves and barriers (observer.h); null: none
  std::unique_ptr<ClusterBarrier[]> cluster_barriers;          ///< of each of the launch's clusters
  std::shared_ptr<const std::vector<uint16_t>> compute_units;  ///< that its queue may use; null: all
  Memory* packet_memory = nullptr;                             ///< `packet_slot` is a slot of it
  uint64_t packet_slot = 0;  ///< a copy of the packet for the waves' dispatch pointer; 0: no copy
  DispatchProgress progress;

  Dispatch() = default;
  ~Dispatch();

  /// Sets what the waves start with; none has begun.
  void set_launch(LaunchState state);

  /// Whether a thread that looks for work may find a work-group to begin, or one to begin or to go on with.
  bool has_unbegun() const {
    return progress.next_work_group.load(std::memory_order_relaxed) < launch.work_group_count ||
           progress.given_back_count.load(std::memory_order_relaxed) != 0;
  }
  bool has_work() const { return has_unbegun() || progress.preemption_count.load(std::memory_order_relaxed) != 0; }
};

/// Returns whether a dispatch should be stopped: cancelled, past its deadline at time `now` (now_ns()), or interrupted.
bool must_stop(const Dispatch& dispatch, uint64_t now);

/// Instructions of the work-groups that no thread has taken yet, counted for whole waves, if they run as many as those
/// that have ended did; nothing until some have.
std::optional<uint64_t> instructions_ahead(const Dispatch& dispatch);

}  // namespace Atoll::machine

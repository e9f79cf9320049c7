// observe: the happens-before order of dispatches and copies ("runs"), as queues, signals and the host define it. It is
// independent of the order in which they were executed.
//
// Ordering rules of the HSA system architecture ("Architected Queuing Language", "Signals"):
// - A packet with the barrier bit starts when all earlier packets of its queue have ended; other packets do not wait.
// - A barrier packet, and the packets behind it, wait for its signals.
// - A run decrements its completion signal when it has ended. An observer of the signal (the host, a barrier packet, a
//   copy) is ordered after it.
// - Packets and copies are ordered after everything that the host has observed when it rings the doorbell or requests
//   the copy. The host's threads count as one, because their communication is not visible. Waves of different
//   dispatches can also synchronise by atomics. What a wave acquires that way is passed on to runs that are ordered
//   after its dispatch.
//
// Each run has an epoch in a vector clock (vector_clock.h). Runs of a queue with the barrier bit form one chain, which
// is totally ordered; every other run is a chain of its own. A dispatch without a queue (from the C++ library) is
// ordered by time: after all runs that had ended when it began.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "machine/observer.h"
#include "observe/race/race_tasks.h"
#include "observe/race/vector_clock.h"

namespace Atoll::observe {

/// The happens-before frontier of a queue, signal or host thread.
struct RunClock {
  VectorClock runs;   ///< by chain
  VectorClock waves;  ///< by task: clocks acquired by atomics from waves of dispatches that may still run

  void learn(const RunClock& more) {
    runs.learn(more.runs);
    waves.learn(more.waves);
  }
};

class RunOrder {
 public:
  /// A run that begins. `is_fresh`: no other run is active, and everything before is ordered before it and all later
  /// runs, so older history can be dropped. Number 0: out of numbers.
  struct Begun {
    uint32_t number = 0;
    bool is_fresh = false;
  };

  Begun dispatch_begins(const machine::Dispatch& dispatch);
  /// `waves`: what its waves have acquired from waves of other dispatches.
  void dispatch_ends(const machine::Dispatch& dispatch, uint32_t number, const VectorClock& waves);

  /// Starts a copy on the calling thread.
  Begun copy_starts(uint64_t copy, std::span<const uint64_t> signals);
  void copy_ends(uint32_t number, uint64_t completion_signal);
  /// Handles a synchronous copy by the host.
  uint32_t host_copies();

  void queue_made(uint64_t queue);
  void doorbell(uint64_t queue, uint64_t packets);
  /// `writers`: dispatches that changed the signals themselves; observers of the signals are ordered after all of them.
  void barrier_packet(const machine::BarrierPacketEvent& packet, std::span<const uint32_t> writers);
  void signal_seen(uint64_t signal, std::span<const uint32_t> writers);
  void signal_changes(uint64_t signal, bool replaces);
  void signal_shown(uint64_t signal);
  void copy_submitted(uint64_t copy);

  /// Returns whether a run is ordered before another, which has not ended. Lock-free.
  bool comes_before(uint32_t earlier, uint32_t later) const;
  /// Returns the clock of other runs' waves that a run starts with, acquired by atomics of earlier runs. Lock-free
  /// while the run has not ended.
  const VectorClock& waves_known(uint32_t run) const {
    const Shared& before = runs_[run].before;
    return before ? before->waves : nothing_->waves;
  }
  /// Returns whether unordered runs may have existed since the last fresh one.
  bool any_unordered() const { return unordered_.load(std::memory_order_relaxed); }

 private:
  using Shared = std::shared_ptr<const RunClock>;

  /// A run's row. Its order is fixed when it begins.
  struct Run {
    uint64_t begin = 0;
    std::atomic<uint64_t> end{0};
    Moment place{};  ///< its epoch in other clocks; task 0: ordered by time
    Shared before;
  };
  struct Queue {
    uint32_t chain = 0, time = 0;
    RunClock complete;                             ///< frontier of the next packet without a barrier bit
    RunClock started;                              ///< in addition, frontier of the next packet with a barrier bit
    std::deque<std::pair<uint64_t, Shared>> rung;  ///< the host's frontier at the doorbell, by packet index
  };

  Shared host_now();
  Shared known_to_host(Queue& queue, uint64_t packet);
  Queue* queue_at(uint64_t address);
  uint32_t begins(Shared before, Moment place);
  bool is_fresh(const VectorClock& host) const;
  void start_afresh();
  void completes(uint64_t signal, const RunClock& clock);
  RunClock after(uint32_t number) const;

  GrowingTable<Run> runs_;
  std::atomic<bool> unordered_{false};
  const Shared nothing_ = std::make_shared<const RunClock>();

  std::mutex mutex_;  ///< protects the following members
  uint64_t now_ = 1;
  uint32_t last_chain_ = 0;
  uint32_t outstanding_ = 0;
  std::map<uint64_t, Queue> queues_;      ///< by the address of the amd_queue_t
  std::map<uint64_t, RunClock> signals_;  ///< frontiers of observers, by signal
  std::set<uint64_t> shown_;              ///< signals that the host can read unobserved
  std::map<uint64_t, Shared> submitted_;  ///< copies: the host's frontier at the request
  RunClock host_;
  Shared host_shared_;                 ///< shared copy of the host's frontier; null: out of date
  std::map<uint32_t, uint32_t> live_;  ///< live chains, with their last time
  std::vector<uint32_t> numbers_;      ///< their numbers
};

}  // namespace Atoll::observe

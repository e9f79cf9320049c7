// observe: which dispatches and copies ("runs") come after which, as queues, signals and the host order them, whenever
// they happened to be executed.
//
// What orders them, by the HSA system architecture ("Architected Queuing Language", "Signals"):
// - a packet with the barrier bit starts when all packets before it in its queue have ended; others need not wait;
// - a barrier packet is passed when its signals were seen, and so are the packets behind it;
// - a run takes one off its completion signal when it has ended, and who sees the signal then comes after it: the host,
//   a barrier packet, a copy;
// - what the host knows when it rings a doorbell, or asks for a copy, the packets and the copy know. Threads of the
//   host count as one, as what they tell each other is not seen.
// Waves of different dispatches can also synchronise by atomics: what a wave learnt so, those know who come after its
// dispatch.
//
// A run has a place in a vector clock (vector_clock.h): the runs of a queue that have the barrier bit are one chain, in
// which each knows all before it, every other run is a chain of its own. A dispatch of which no queue tells (the C++
// library's) is ordered by time: after what had ended when it began.
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

/// What is complete for somebody.
struct RunClock {
  VectorClock runs;   ///< by chain
  VectorClock waves;  ///< by task: of dispatches that may go on, what was learnt of their waves by atomics

  void learn(const RunClock& more) {
    runs.learn(more.runs);
    waves.learn(more.waves);
  }
};

class RunOrder {
 public:
  /// Of a run that begins. `is_fresh`: nothing else runs, and it and all that will come know of everything before, so
  /// that nothing has to be kept of that. Number 0: there are no more numbers.
  struct Begun {
    uint32_t number = 0;
    bool is_fresh = false;
  };

  Begun dispatch_begins(const machine::Dispatch& dispatch);
  /// `waves`: what its waves have learnt of those of other dispatches.
  void dispatch_ends(const machine::Dispatch& dispatch, uint32_t number, const VectorClock& waves);

  /// A copy starts on the calling thread.
  Begun copy_starts(uint64_t copy, std::span<const uint64_t> signals);
  void copy_ends(uint32_t number, uint64_t completion_signal);
  /// A copy that the host makes itself, at once.
  uint32_t host_copies();

  void queue_made(uint64_t queue);
  void doorbell(uint64_t queue, uint64_t packets);
  /// `writers`: dispatches that have changed the signals themselves, which are known whole to who sees that.
  void barrier_packet(const machine::BarrierPacketEvent& packet, std::span<const uint32_t> writers);
  void signal_seen(uint64_t signal, std::span<const uint32_t> writers);
  void signal_changes(uint64_t signal, bool replaces);
  void signal_shown(uint64_t signal);
  void copy_submitted(uint64_t copy);

  /// Whether a run comes before another, which has not ended. Without a lock.
  bool comes_before(uint32_t earlier, uint32_t later) const;
  /// What a run knows of waves of others from its start, by the atomics of those before it. Without a lock, as long as
  /// the run has not ended.
  const VectorClock& waves_known(uint32_t run) const {
    const Shared& before = runs_[run].before;
    return before ? before->waves : nothing_->waves;
  }
  /// Whether there have been runs without an order between them, or may have been, since the last that was fresh.
  bool any_unordered() const { return unordered_.load(std::memory_order_relaxed); }

 private:
  using Shared = std::shared_ptr<const RunClock>;

  /// A row of the table: the order is settled when the run begins.
  struct Run {
    uint64_t begin = 0;
    std::atomic<uint64_t> end{0};
    Moment place{};  ///< in others' clocks; task 0: it is ordered by time
    Shared before;
  };
  struct Queue {
    uint32_t chain = 0, time = 0;
    RunClock complete;                             ///< what the next packet without a barrier bit comes after
    RunClock started;                              ///< what one with a barrier bit comes after as well
    std::deque<std::pair<uint64_t, Shared>> rung;  ///< what the host knew when it rang for the packets before that one
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

  std::mutex mutex_;  ///< of all that follows
  uint64_t now_ = 1;
  uint32_t last_chain_ = 0;
  uint32_t outstanding_ = 0;
  std::map<uint64_t, Queue> queues_;      ///< by the address of the amd_queue_t
  std::map<uint64_t, RunClock> signals_;  ///< what those know who see it
  std::set<uint64_t> shown_;              ///< signals that the host reads unseen
  std::map<uint64_t, Shared> submitted_;  ///< copies: what the host knew
  RunClock host_;
  Shared host_shared_;                 ///< a copy of it; null: has changed
  std::map<uint32_t, uint32_t> live_;  ///< chains of runs that something is kept of, with the last time
  std::vector<uint32_t> numbers_;      ///< of those runs
};

}  // namespace Atoll::observe

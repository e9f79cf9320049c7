// memory_model: execution barriers: what makes a sequence of barrier operations well-formed, and which operations it
// puts in order. A checker of traces: it is given what the waves of a work-group or cluster did, and says which rules
// of the model are broken.
//
// A barrier object counts arrivals up to the count that it expects; then it is complete and counts from zero again. The
// operations between two completions are a phase. A wait depends on one phase: it ends after all its operations. Waves
// that wait have to have joined the object, can leave it (drop), and can join only one of objects that exclude each
// other, as the named barriers of GFX12.5 do. A thread of the model is a wave, as barrier operations are convergent.
// Source: user guide, "Execution Barriers"; the names of rules and relations are the guide's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error.h"

namespace Atoll::memory_model {

enum class BarrierAction : uint8_t {
  init,    ///< expects `count` arrivals from now on, and has none
  join,    ///< the thread can wait for the object
  drop,    ///< the thread leaves: one arrival less is expected
  arrive,  ///< one arrival more; with a `count`, that many are expected first
  wait,    ///< stands in the trace where it ends
  other    ///< not a barrier operation: something whose order is asked for
};
std::string_view name(BarrierAction action);

struct BarrierEvent {
  unsigned thread = 0;
  BarrierAction action = BarrierAction::other;
  unsigned object = 0;  ///< the barrier object
  unsigned count = 0;   ///< of init; of arrive, 0 for none
};

/// What was done, in the order in which it ended: that of the lines of a thread is program-order, and that of the
/// operations that change an object barrier-modification-order.
struct BarrierTrace {
  std::vector<BarrierEvent> events;
  std::vector<std::pair<unsigned, unsigned>>
      exclusive;  ///< objects that are barrier-mutually-exclusive, either way round

  bool excludes(unsigned one, unsigned other) const;
};

enum class BarrierRule : uint8_t {
  starts_with_init,  ///< the first operation that changes an object is its init
  positive_count,    ///< an init or arrive has an object expect more arrivals than there are
  joined_before_drop,
  drop_leaves_count,        ///< a drop does not make the expected count negative
  arrive_ends_before_drop,  ///< a thread waits for what it has arrived at before it drops the object
  joined_before_wait,
  join_precedes_phase,    ///< the join comes before some operation of the phase that its wait depends on
  wait_ends_after_phase,  ///< a wait ends only when its barrier has been completed
};
/// The rule in words: "a wait ends only when ...".
std::string_view text(BarrierRule rule);

struct BarrierViolation {
  BarrierRule rule;
  size_t event;         ///< which one breaks it
  std::string message;  ///< with the event and why: "event 3 (thread 1 waits for barrier 2): ..."
};

/// What is known of a trace: the rules that it breaks, and for each event those before which it ended.
class BarrierOrder {
 public:
  explicit BarrierOrder(const BarrierTrace& trace);

  const std::vector<BarrierViolation>& violations() const { return violations_; }
  /// Barrier-executes-before: whether the first event has to have ended before the second one can.
  bool executes_before(size_t first, size_t second) const;
  /// The events that barrier-participate-in a wait, in order; none for any other event.
  const std::vector<size_t>& participants(size_t wait) const { return participants_[wait]; }

 private:
  friend class BarrierChecker;
  std::vector<BarrierViolation> violations_;
  std::vector<std::vector<size_t>> participants_;
  std::vector<unsigned> thread_, place_;  ///< of each event: its thread, and its place in it, from 1
  std::vector<std::vector<unsigned>>
      clocks_;  ///< of each event and thread: how many of its events come before or are it
};

/// Reads a trace from text: a line for each event, "THREAD ACTION [OBJECT [COUNT]]", or "exclusive OBJECT OBJECT"; what
/// follows a # is a comment. Threads and objects are numbers.
support::Result<BarrierTrace> parse_barrier_trace(std::string_view text);

}  // namespace Atoll::memory_model

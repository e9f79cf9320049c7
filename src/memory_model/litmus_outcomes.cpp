// memory_model: the outcomes of a litmus test, by looking at every execution of it.
//
// An execution says from which write each read reads (reads-from) and in which order the writes to a location are
// (coherence order). The model allows it by these rules, those of C++ with the scopes of HSA:
//
//   happens-before   program order and synchronizes-with, transitively, whatever the scopes. A release synchronizes
//   with
//                    the acquire that reads from it or from its release sequence (read-modify-writes only, as in
//                    C++20), where each of the two threads is in the other's scope. Fences release and acquire for the
//                    atomics after and before them, or for a barrier of the work-group between them.
//   coherence        what happens before an access is not what it overtakes in its location's history
//   atomicity        nothing is written between the read and the write of a read-modify-write
//   no thin air      no value depends on itself; registers carry dependencies, so that load buffering is allowed else
//   seq_cst          those in each other's scope are in one order that the rest agrees with (the partial SC order of
//                    Lahav et al., "Repairing Sequential Consistency in C/C++11", PLDI 2017)
//
// Two accesses of which one writes race if neither happens before the other, unless both are atomic and in each other's
// scope. A program that has an execution with a race has no meaning.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "memory_model/litmus.h"

namespace Atoll::memory_model {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

constexpr size_t max_events = 64;
constexpr uint64_t max_candidates = 500'000;
constexpr unsigned nobody = ~0u;

/// A relation over events: a bit set of successors for each.
class Relation {
 public:
  explicit Relation(size_t size) : rows_(size) {}
  void add(unsigned from, unsigned to) { rows_[from] |= uint64_t{1} << to; }
  bool has(unsigned from, unsigned to) const { return (rows_[from] >> to & 1) != 0; }
  uint64_t row(unsigned from) const { return rows_[from]; }
  size_t size() const { return rows_.size(); }

  Relation& operator|=(const Relation& other) {
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i] |= other.rows_[i];
    return *this;
  }
  /// First this one, then the other.
  Relation then(const Relation& other) const {
    Relation result(size());
    for (size_t i = 0; i < rows_.size(); ++i)
      for (uint64_t rest = rows_[i]; rest != 0; rest &= rest - 1)
        result.rows_[i] |= other.rows_[static_cast<size_t>(std::countr_zero(rest))];
    return result;
  }
  void close() {
    for (size_t k = 0; k < rows_.size(); ++k)
      for (uint64_t& row : rows_)
        if ((row >> k & 1) != 0) row |= rows_[k];
  }
  bool reflexive_somewhere() const {
    for (unsigned i = 0; i < rows_.size(); ++i)
      if (has(i, i)) return true;
    return false;
  }
  bool cyclic() const {
    Relation closed = *this;
    closed.close();
    return closed.reflexive_somewhere();
  }
  template <typename Keep>
  void filter(Keep keep) {
    for (unsigned i = 0; i < rows_.size(); ++i)
      for (uint64_t rest = rows_[i]; rest != 0; rest &= rest - 1) {
        const auto to = static_cast<unsigned>(std::countr_zero(rest));
        if (!keep(i, to)) rows_[i] &= ~(uint64_t{1} << to);
      }
  }

 private:
  std::vector<uint64_t> rows_;
};

/// A read-modify-write that writes is two events, the read first.
struct Event {
  unsigned thread = nobody;  ///< nobody: an initial value
  const LitmusStatement* statement = nullptr;
  bool reads = false, writes = false;
  unsigned location = 0;
  unsigned place = 0;            ///< in its thread
  unsigned other_half = nobody;  ///< of a read-modify-write

  bool fence() const { return statement != nullptr && statement->action == LitmusAction::fence; }
  bool barrier() const { return statement != nullptr && statement->action == LitmusAction::barrier; }
  bool accesses() const { return reads || writes; }
  Order order() const { return statement == nullptr ? Order::not_atomic : statement->order; }
  bool atomic() const { return order() != Order::not_atomic; }
  bool synchronizing() const { return order() >= Order::monotonic; }
  bool sequentially_consistent() const { return order() == Order::seq_cst; }
  bool releases() const {
    return (writes || fence()) && (order() == Order::release || order() == Order::acq_rel || sequentially_consistent());
  }
  bool acquires() const {
    return (reads || fence()) && (order() == Order::acquire || order() == Order::acq_rel || sequentially_consistent());
  }
};

/// The executions of a test in which the same compare-and-exchanges succeed.
class Executions {
 public:
  Executions(const LitmusTest& test, uint64_t succeeding, std::set<LitmusOutcome>& outcomes, LitmusResult& result)
      : test_(test), outcomes_(outcomes), result_(result) {
    for (unsigned i = 0; i < test.locations.size(); ++i) events_.push_back({.writes = true, .location = i});
    unsigned exchanges = 0;
    for (unsigned thread = 0; thread < test.threads.size(); ++thread) {
      for (const LitmusStatement& each : test.threads[thread].statements) {
        const bool conditional = each.action == LitmusAction::compare_exchange;
        add(thread, each, !conditional || (succeeding >> exchanges++ & 1) != 0);
      }
    }
  }

  size_t size() const { return events_.size(); }

  /// False if there are too many.
  bool run() {
    program_order_ = barrier_order_ = Relation(size());
    for (unsigned a = 0; a < size(); ++a)
      for (unsigned b = 0; b < size(); ++b) add_fixed_order(a, b);
    reads_from_.assign(size(), nobody);
    return choose_source(0);
  }

 private:
  void add(unsigned thread, const LitmusStatement& statement, bool succeeds) {
    Event event{.thread = thread, .statement = &statement, .location = statement.location};
    event.place = static_cast<unsigned>(events_.size());
    const bool access = statement.action != LitmusAction::fence && statement.action != LitmusAction::barrier;
    const bool reads = access && statement.action != LitmusAction::store;
    const bool writes = access && statement.action != LitmusAction::load && succeeds;
    if (reads || !access) {
      event.reads = reads;
      if (writes) event.other_half = static_cast<unsigned>(events_.size() + 1);
      events_.push_back(event);
    }
    if (writes) {
      event.place = static_cast<unsigned>(events_.size());
      event.other_half = reads ? event.place - 1 : nobody;
      event.reads = false;
      event.writes = true;
      events_.push_back(event);
    }
  }

  /// How many barriers of its thread are before an event.
  unsigned barriers_before(const Event& event) const {
    return static_cast<unsigned>(std::ranges::count_if(events_, [&](const Event& each) {
      return each.barrier() && each.thread == event.thread && each.place < event.place;
    }));
  }

  void add_fixed_order(unsigned a, unsigned b) {
    const Event &first = events_[a], &second = events_[b];
    if (first.thread == nobody ? second.thread != nobody : first.thread == second.thread && first.place < second.place)
      program_order_.add(a, b);
    // With a barrier between them, the one before it has ended when the one after it begins.
    if (first.thread == nobody || second.thread == nobody || first.thread == second.thread) return;
    const auto group = static_cast<size_t>(Scope::workgroup);
    if (test_.threads[first.thread].instance[group] != test_.threads[second.thread].instance[group]) return;
    const unsigned before = barriers_before(first), after = barriers_before(second);
    const unsigned all = barriers_before({.thread = first.thread, .place = nobody});
    if (before < after && before < all) barrier_order_.add(a, b);
  }

  bool inclusive(unsigned a, unsigned b) const {
    const Event &one = events_[a], &other = events_[b];
    return one.thread == nobody || other.thread == nobody ||
           test_.inclusive(one.thread, one.statement->scope, other.thread, other.statement->scope);
  }

  // What reads read, and the order of writes.

  bool choose_source(unsigned read) {
    while (read < size() && !events_[read].reads) ++read;
    if (read == size()) return choose_coherence();
    for (unsigned write = 0; write < size(); ++write) {
      if (!events_[write].writes || events_[write].location != events_[read].location) continue;
      if (write == events_[read].other_half || barrier_order_.has(read, write)) continue;
      reads_from_[read] = write;
      if (!choose_source(read + 1)) return false;
    }
    return true;
  }

  bool choose_coherence() {
    if (!compute_values()) return ++result_.candidates <= max_candidates;
    coherence_.clear();
    for (unsigned location = 0; location < test_.locations.size(); ++location) {
      coherence_.push_back({location});  // the initial value is first
      for (unsigned write = 0; write < size(); ++write)
        if (events_[write].writes && events_[write].thread != nobody && events_[write].location == location)
          coherence_.back().push_back(write);
    }
    return permute(0);
  }

  bool permute(size_t location) {
    if (location == coherence_.size()) {
      consider();
      return ++result_.candidates <= max_candidates;
    }
    do {
      if (!permute(location + 1)) return false;
    } while (std::next_permutation(coherence_[location].begin() + 1, coherence_[location].end()));
    return true;
  }

  // Values.

  /// The read that gave a register its value before a place in its thread.
  unsigned source_of(unsigned thread, unsigned register_number, unsigned place) const {
    unsigned found = nobody;
    for (unsigned i = 0; i < size(); ++i) {
      const Event& each = events_[i];
      if (each.thread == thread && each.reads && each.place < place && each.statement->result == register_number)
        found = i;
    }
    return found;
  }

  int64_t value_of(const Event& event, const LitmusValue& value) const {
    if (!value.is_register) return value.number;
    const unsigned source = source_of(event.thread, value.register_number, event.place);
    return source == nobody ? 0 : values_[source];
  }

  /// Whether there are values that agree: none depends on itself, and compare-and-exchanges succeed as assumed.
  bool compute_values() {
    Relation depends(size());
    for (unsigned i = 0; i < size(); ++i) {
      const Event& each = events_[i];
      if (each.reads) depends.add(reads_from_[i], i);
      if (!each.writes || each.thread == nobody) continue;
      const LitmusStatement& statement = *each.statement;
      if (statement.action == LitmusAction::add || statement.action == LitmusAction::compare_exchange)
        depends.add(each.other_half, i);
      for (const LitmusValue* value : {&statement.value, &statement.expected})
        if (value->is_register) depends.add(source_of(each.thread, value->register_number, each.place), i);
    }
    if (depends.cyclic()) return false;
    values_.assign(size(), 0);
    for (size_t round = 0; round < size(); ++round)  // as long as the longest chain of dependencies can be
      for (unsigned i = 0; i < size(); ++i) values_[i] = value_of_event(i);
    return std::ranges::all_of(events_, [&](const Event& each) {
      if (each.statement == nullptr || each.statement->action != LitmusAction::compare_exchange || !each.reads)
        return true;
      const bool equal = values_[each.place] == value_of(each, each.statement->expected);
      return equal == (each.other_half != nobody);
    });
  }

  int64_t value_of_event(unsigned number) const {
    const Event& event = events_[number];
    if (event.thread == nobody) return test_.initial[event.location];
    if (event.reads) return values_[reads_from_[number]];
    if (!event.writes) return 0;
    const int64_t value = value_of(event, event.statement->value);
    if (event.statement->action != LitmusAction::add) return value;
    return static_cast<int64_t>(static_cast<uint64_t>(values_[event.other_half]) + static_cast<uint64_t>(value));
  }

  // The rules.

  Relation location_order() const {
    Relation order(size());
    for (const auto& writes : coherence_)
      for (size_t i = 0; i < writes.size(); ++i)
        for (size_t j = i + 1; j < writes.size(); ++j) order.add(writes[i], writes[j]);
    return order;
  }

  /// From a read to the writes that are after the one that it reads from.
  Relation from_read(const Relation& coherence) const {
    Relation order(size());
    for (unsigned read = 0; read < size(); ++read) {
      if (!events_[read].reads) continue;
      for (unsigned write = 0; write < size(); ++write)
        if (coherence.has(reads_from_[read], write) && write != events_[read].other_half) order.add(read, write);
    }
    return order;
  }

  /// The writes whose release sequence a read reads from.
  std::vector<unsigned> heads_of(unsigned read) const {
    std::vector<unsigned> heads;
    for (unsigned write = reads_from_[read]; events_[write].thread != nobody && heads.size() < size();) {
      heads.push_back(write);
      if (events_[write].other_half == nobody) break;
      write = reads_from_[events_[write].other_half];
    }
    return heads;
  }

  /// The releases that a write is for: itself, or the fences before it; likewise the acquires that a read is for.
  std::vector<unsigned> releases_of(unsigned write) const {
    std::vector<unsigned> releases;
    if (!events_[write].synchronizing()) return releases;
    for (unsigned i = 0; i < size(); ++i)
      if (events_[i].releases() && (i == write || (events_[i].fence() && program_order_.has(i, write))))
        releases.push_back(i);
    return releases;
  }
  std::vector<unsigned> acquires_of(unsigned read) const {
    std::vector<unsigned> acquires;
    if (!events_[read].synchronizing()) return acquires;
    for (unsigned i = 0; i < size(); ++i)
      if (events_[i].acquires() && (i == read || (events_[i].fence() && program_order_.has(read, i))))
        acquires.push_back(i);
    return acquires;
  }

  Relation happens_before() const {
    Relation order = program_order_;
    for (unsigned read = 0; read < size(); ++read) {
      if (!events_[read].reads || !inclusive(reads_from_[read], read)) continue;
      for (const unsigned write : heads_of(read))
        for (const unsigned release : releases_of(write))
          for (const unsigned acquire : acquires_of(read))
            if (inclusive(release, acquire)) order.add(release, acquire);
    }
    for (unsigned a = 0; a < size(); ++a)
      for (unsigned b = 0; b < size(); ++b)
        if (events_[a].fence() && events_[b].fence() && barrier_order_.has(a, b) && events_[a].releases() &&
            events_[b].acquires() && inclusive(a, b))
          order.add(a, b);
    order.close();
    return order;
  }

  bool atomicity_holds(const Relation& coherence, const Relation& from_reads) const {
    for (unsigned read = 0; read < size(); ++read) {
      const unsigned write = events_[read].other_half;
      if (!events_[read].reads || write == nobody) continue;
      if (!coherence.has(reads_from_[read], write)) return false;
      for (unsigned other = 0; other < size(); ++other)
        if (from_reads.has(read, other) && coherence.has(other, write)) return false;
    }
    return true;
  }

  bool same_location(unsigned a, unsigned b) const {
    return events_[a].accesses() && events_[b].accesses() && events_[a].location == events_[b].location;
  }

  bool sequential_consistency_holds(const Relation& happens, const Relation& communication, const Relation& coherence,
                                    const Relation& from_reads) const {
    Relation elsewhere = program_order_, at_location = happens;
    elsewhere.filter([&](unsigned a, unsigned b) { return !same_location(a, b); });
    at_location.filter([&](unsigned a, unsigned b) { return same_location(a, b); });
    Relation before = program_order_;
    before |= elsewhere.then(happens).then(elsewhere);
    before |= at_location;
    before |= coherence;
    before |= from_reads;
    // From a fence through what happens after it, and likewise before one.
    Relation enter(size()), leave(size());
    for (unsigned a = 0; a < size(); ++a) {
      if (!events_[a].sequentially_consistent()) continue;
      enter.add(a, a);
      leave.add(a, a);
      if (!events_[a].fence()) continue;
      for (unsigned b = 0; b < size(); ++b) {
        if (happens.has(a, b)) enter.add(a, b);
        if (happens.has(b, a)) leave.add(b, a);
      }
    }
    Relation order = enter.then(before).then(leave);
    Relation fences = happens;
    fences |= happens.then(communication).then(happens);
    fences.filter([&](unsigned a, unsigned b) {
      return events_[a].fence() && events_[b].fence() && events_[a].sequentially_consistent() &&
             events_[b].sequentially_consistent();
    });
    order |= fences;
    order.filter([&](unsigned a, unsigned b) { return inclusive(a, b); });
    return !order.cyclic();
  }

  void consider() {
    const Relation coherence = location_order();
    const Relation from_reads = from_read(coherence);
    if (!atomicity_holds(coherence, from_reads)) return;
    Relation communication = coherence;
    communication |= from_reads;
    for (unsigned read = 0; read < size(); ++read)
      if (events_[read].reads) communication.add(reads_from_[read], read);
    communication.close();
    const Relation happens = happens_before();
    if (happens.reflexive_somewhere() || happens.then(communication).reflexive_somewhere()) return;
    if (!sequential_consistency_holds(happens, communication, coherence, from_reads)) return;
    find_race(happens);
    outcomes_.insert(outcome());
  }

  void find_race(const Relation& happens) {
    if (result_.race) return;
    for (unsigned a = 0; a < size(); ++a) {
      for (unsigned b = a + 1; b < size(); ++b) {
        const Event &one = events_[a], &other = events_[b];
        if (one.thread == nobody || one.thread == other.thread || !same_location(a, b)) continue;
        if (!one.writes && !other.writes) continue;
        if (happens.has(a, b) || happens.has(b, a) || (one.atomic() && other.atomic() && inclusive(a, b))) continue;
        result_.race = fmt::format("{}: {} and {}: {}", test_.threads[one.thread].name, one.statement->text,
                                   test_.threads[other.thread].name, other.statement->text);
        return;
      }
    }
  }

  LitmusOutcome outcome() const {
    LitmusOutcome values;
    for (unsigned thread = 0; thread < test_.threads.size(); ++thread) {
      for (unsigned i = 0; i < test_.threads[thread].registers.size(); ++i) {
        const unsigned source = source_of(thread, i, nobody);
        values.push_back(source == nobody ? 0 : values_[source]);
      }
    }
    for (const auto& writes : coherence_) values.push_back(values_[writes.back()]);
    return values;
  }

  const LitmusTest& test_;
  std::set<LitmusOutcome>& outcomes_;
  LitmusResult& result_;
  std::vector<Event> events_;
  Relation program_order_{0}, barrier_order_{0};
  std::vector<unsigned> reads_from_;
  std::vector<std::vector<unsigned>> coherence_;  ///< of each location
  std::vector<int64_t> values_;
};

}  // namespace

bool LitmusResult::as_expected(const LitmusTest& test) const {
  if (test.expectation == LitmusExpectation::race || race)
    return (test.expectation == LitmusExpectation::race) == race.has_value();
  const bool reached =
      std::ranges::any_of(outcomes, [&](const LitmusOutcome& outcome) { return test.condition->holds(outcome); });
  return reached == (test.expectation == LitmusExpectation::allowed);
}

Result<LitmusResult> enumerate_outcomes(const LitmusTest& test) {
  size_t exchanges = 0, events = test.locations.size();
  for (const LitmusThread& thread : test.threads) {
    for (const LitmusStatement& each : thread.statements) {
      if (each.action == LitmusAction::compare_exchange) ++exchanges;
      events += each.action >= LitmusAction::add && each.action <= LitmusAction::compare_exchange ? 2 : 1;
    }
  }
  if (events > max_events)
    return fail(ErrorKind::unsupported,
                "the test has {} events, of which there can be {}: each statement and location is "
                "one, a read-modify-write two",
                events, max_events);
  LitmusResult result;
  std::set<LitmusOutcome> outcomes;
  for (uint64_t succeeding = 0; succeeding < uint64_t{1} << std::min<size_t>(exchanges, 32); ++succeeding) {
    if (!Executions(test, succeeding, outcomes, result).run())
      return fail(ErrorKind::unsupported, "the test has more than {} executions to look at", max_candidates);
  }
  result.outcomes.assign(outcomes.begin(), outcomes.end());
  return result;
}

}  // namespace Atoll::memory_model

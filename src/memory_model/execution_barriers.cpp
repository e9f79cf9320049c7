// memory_model: checks traces of execution barriers. See execution_barriers.h.
//
// Which phase a wait depends on is not in the trace. It is the first one that the rules let it be: not one that the
// thread has waited for already, and not one of which the thread knows that a later one has begun: no operation of a
// later phase may come between the phase and its wait. Barrier-executes-before is kept as a vector clock for each
// event.
#include "memory_model/execution_barriers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace Atoll::memory_model {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

struct ActionName {
  BarrierAction action;
  std::string_view name, verb;
  bool has_object;
};
constexpr ActionName action_names[] = {{BarrierAction::init, "init", "initialises barrier", true},
                                       {BarrierAction::join, "join", "joins barrier", true},
                                       {BarrierAction::drop, "drop", "drops barrier", true},
                                       {BarrierAction::arrive, "arrive", "arrives at barrier", true},
                                       {BarrierAction::wait, "wait", "waits for barrier", true},
                                       {BarrierAction::other, "other", "does something", false}};

const ActionName& row(BarrierAction action) { return *std::ranges::find(action_names, action, &ActionName::action); }

std::string describe(const BarrierEvent& event) {
  const ActionName& names = row(event.action);
  return fmt::format("thread {} {}{}", event.thread, names.verb,
                     names.has_object ? fmt::format(" {}", event.object) : "");
}

}  // namespace

std::string_view name(BarrierAction action) { return row(action).name; }

std::string_view text(BarrierRule rule) {
  switch (rule) {
    case BarrierRule::starts_with_init:
      return "the first operation that changes a barrier object is its init";
    case BarrierRule::positive_count:
      return "a barrier expects more arrivals than it has got";
    case BarrierRule::joined_before_drop:
      return "a thread drops only what it has joined";
    case BarrierRule::drop_leaves_count:
      return "no more threads drop a barrier than it expects arrivals";
    case BarrierRule::arrive_ends_before_drop:
      return "a thread that has arrived drops the barrier only after a wait that its arrival takes part in";
    case BarrierRule::joined_before_wait:
      return "a thread waits only for what it has joined";
    case BarrierRule::join_precedes_phase:
      return "a thread has joined before the last arrival that its wait depends on";
    case BarrierRule::wait_ends_after_phase:
      return "a wait ends only when its barrier has been completed";
  }
  return {};
}

bool BarrierTrace::excludes(unsigned one, unsigned other) const {
  return one != other && std::ranges::any_of(exclusive, [&](const auto& pair) {
           return pair == std::pair(one, other) || pair == std::pair(other, one);
         });
}

bool BarrierOrder::executes_before(size_t first, size_t second) const {
  if (first == second) return false;
  return clocks_[second][thread_[first]] >= place_[first];
}

/// Goes through the trace once.
class BarrierChecker {
 public:
  BarrierChecker(const BarrierTrace& trace, BarrierOrder& order) : trace_(trace), order_(order) {
    for (const BarrierEvent& each : trace.events) index_of_.try_emplace(each.thread, 0);
    unsigned next = 0;
    for (auto& [thread, index] : index_of_) index = next++;
    threads_.resize(index_of_.size());
    for (Thread& each : threads_) each.clock.resize(index_of_.size());
    order_.participants_.resize(trace.events.size());
  }

  void run() {
    for (size_t i = 0; i < trace_.events.size(); ++i) {
      const BarrierEvent& event = trace_.events[i];
      Thread& thread = threads_[index_of_[event.thread]];
      const unsigned index = index_of_[event.thread];
      order_.thread_.push_back(index);
      order_.place_.push_back(++thread.clock[index]);
      do_event(i, event, thread);
      order_.clocks_.push_back(thread.clock);
    }
    check_arrivals_before_drops();
  }

 private:
  struct Object {
    bool initialised = false;
    unsigned expected = 0, arrived = 0;
    std::vector<size_t> current;                ///< operations of the phase that is not complete yet
    std::vector<std::vector<size_t>> complete;  ///< those of the phases before
  };
  struct Thread {
    std::vector<unsigned> clock;
    std::map<unsigned, size_t> joined;            ///< the join of each object that is barrier-joined-before what comes
    std::map<unsigned, std::set<size_t>> waited;  ///< phases of each object
  };

  void complain(BarrierRule rule, size_t event, const std::string& why = {}) {
    order_.violations_.push_back({rule, event,
                                  fmt::format("event {} ({}): {}{}{}", event, describe(trace_.events[event]),
                                              text(rule), why.empty() ? "" : "; ", why)});
  }

  void do_event(size_t number, const BarrierEvent& event, Thread& thread) {
    Object& object = objects_[event.object];
    switch (event.action) {
      case BarrierAction::other:
        return;
      case BarrierAction::join:
        std::erase_if(thread.joined, [&](const auto& each) { return trace_.excludes(each.first, event.object); });
        thread.joined[event.object] = number;
        return;
      case BarrierAction::wait:
        wait(number, event, thread, object);
        return;
      case BarrierAction::init:
        if (event.count == 0) complain(BarrierRule::positive_count, number, "it is to expect none");
        object.initialised = true;
        object.expected = event.count;
        object.arrived = 0;
        object.current.clear();
        return;
      case BarrierAction::arrive:
      case BarrierAction::drop:
        break;
    }
    if (!object.initialised) {
      complain(BarrierRule::starts_with_init, number);
      object.initialised = true;  // said once
    }
    event.action == BarrierAction::arrive ? arrive(number, event, object) : drop(number, event, thread, object);
  }

  void arrive(size_t number, const BarrierEvent& event, Object& object) {
    if (event.count != 0) {
      if (event.count <= object.arrived)
        complain(BarrierRule::positive_count, number,
                 fmt::format("it is to expect {}, and has got {}", event.count, object.arrived));
      object.expected = event.count;
    }
    object.current.push_back(number);
    ++object.arrived;
    complete(object);
  }

  void drop(size_t number, const BarrierEvent& event, Thread& thread, Object& object) {
    if (!thread.joined.contains(event.object)) complain(BarrierRule::joined_before_drop, number);
    thread.joined.erase(event.object);
    if (object.expected == 0) {
      complain(BarrierRule::drop_leaves_count, number);
      return;
    }
    --object.expected;
    object.current.push_back(number);
    complete(object);
  }

  static void complete(Object& object) {
    if (object.arrived != object.expected) return;
    object.arrived = 0;
    object.complete.push_back(std::move(object.current));
    object.current.clear();
  }

  /// Whether an operation of a phase after this one is known to the thread to come after one of this phase.
  bool is_stale(const Object& object, size_t phase, const Thread& thread) const {
    for (size_t later = phase + 1; later < object.complete.size(); ++later) {
      for (const size_t x : object.complete[later]) {
        if (thread.clock[order_.thread_[x]] < order_.place_[x]) continue;
        for (const size_t a : object.complete[phase])
          if (order_.executes_before(a, x)) return true;
      }
    }
    return false;
  }

  void wait(size_t number, const BarrierEvent& event, Thread& thread, Object& object) {
    const auto joined = thread.joined.find(event.object);
    if (joined == thread.joined.end()) complain(BarrierRule::joined_before_wait, number);
    const auto join_precedes = [&](size_t phase) {
      return joined == thread.joined.end() || std::ranges::any_of(object.complete[phase], [&](size_t x) {
               return x > joined->second && order_.executes_before(joined->second, x);
             });
    };
    std::optional<size_t> chosen, unjoined;
    for (size_t phase = 0; phase < object.complete.size() && !chosen; ++phase) {
      if (thread.waited[event.object].contains(phase) || is_stale(object, phase, thread)) continue;
      if (join_precedes(phase)) {
        chosen = phase;
      } else {
        unjoined = phase;
      }
    }
    if (!chosen && unjoined) {
      complain(BarrierRule::join_precedes_phase, number);
      chosen = unjoined;
    }
    if (!chosen) {
      complain(BarrierRule::wait_ends_after_phase, number,
               fmt::format("it has got {} of {} arrivals", object.arrived, object.expected));
      return;
    }
    thread.waited[event.object].insert(*chosen);
    order_.participants_[number] = object.complete[*chosen];
    for (const size_t x : object.complete[*chosen])
      for (size_t i = 0; i < thread.clock.size(); ++i)
        thread.clock[i] = std::max(thread.clock[i], order_.clocks_[x][i]);
  }

  /// A thread may not arrive and then drop, unless the barrier is completed before the drop.
  void check_arrivals_before_drops() {
    std::map<size_t, std::vector<size_t>> waits_of;  // by arrival
    for (size_t wait = 0; wait < trace_.events.size(); ++wait)
      for (const size_t x : order_.participants_[wait]) waits_of[x].push_back(wait);
    for (const auto& [arrival, waits] : waits_of) {
      const BarrierEvent& arrive = trace_.events[arrival];
      if (arrive.action != BarrierAction::arrive) continue;
      for (size_t drop = arrival + 1; drop < trace_.events.size(); ++drop) {
        const BarrierEvent& event = trace_.events[drop];
        if (event.action != BarrierAction::drop || event.thread != arrive.thread || event.object != arrive.object)
          continue;
        if (std::ranges::none_of(waits, [&](size_t wait) { return order_.executes_before(wait, drop); }))
          complain(BarrierRule::arrive_ends_before_drop, drop, fmt::format("it arrived in event {}", arrival));
      }
    }
  }

  const BarrierTrace& trace_;
  BarrierOrder& order_;
  std::map<unsigned, unsigned> index_of_;  ///< of each thread
  std::vector<Thread> threads_;
  std::map<unsigned, Object> objects_;
};

BarrierOrder::BarrierOrder(const BarrierTrace& trace) { BarrierChecker(trace, *this).run(); }

Result<BarrierTrace> parse_barrier_trace(std::string_view text) {
  BarrierTrace trace;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
      const size_t stop = std::min(line.find_first_of(" \t\r", at), line.size());
      words.push_back(line.substr(at, stop - at));
      at = stop;
    }
    if (words.empty()) continue;
    std::vector<unsigned> numbers;
    std::string_view action;
    for (const std::string_view word : words) {
      unsigned number = 0;
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error == std::errc() && stop == word.data() + word.size()) {
        numbers.push_back(number);
      } else if (action.empty()) {
        action = word;
      } else {
        return fail(ErrorKind::invalid_argument, "line {}: '{}' should be a number", line_number, word);
      }
    }
    if (action == "exclusive" && words[0] == action && numbers.size() == 2) {
      trace.exclusive.emplace_back(numbers[0], numbers[1]);
      continue;
    }
    const auto* found = std::ranges::find(action_names, action, &ActionName::name);
    if (found == std::end(action_names) || words.size() < 2 || words[1] != action)
      return fail(ErrorKind::invalid_argument,
                  "line {}: should be THREAD and init, join, drop, arrive, wait or other, or exclusive OBJECT OBJECT",
                  line_number);
    const bool init = found->action == BarrierAction::init, arrive = found->action == BarrierAction::arrive;
    const size_t least = 1 + (found->has_object ? 1 : 0) + (init ? 1 : 0);
    if (numbers.size() < least || numbers.size() > least + (arrive ? 1 : 0))
      return fail(ErrorKind::invalid_argument, "line {}: {} takes {}", line_number, action,
                  init                ? "an object and a count"
                  : arrive            ? "an object, and a count if it sets one"
                  : found->has_object ? "an object"
                                      : "nothing");
    trace.events.push_back({.thread = numbers[0],
                            .action = found->action,
                            .object = numbers.size() > 1 ? numbers[1] : 0,
                            .count = numbers.size() > 2 ? numbers[2] : 0});
  }
  return trace;
}

}  // namespace Atoll::memory_model

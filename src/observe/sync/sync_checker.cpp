// observe: compares where and with which lanes the waves of a work-group arrive at barriers. What the waves do with
// named barriers (GFX12.5) is a trace, which the rules of memory_model/execution_barriers.h are applied to when the
// work-group ends.
#include "observe/sync/sync_checker.h"

#include <array>
#include <bit>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "isa/effects.h"
#include "isa/table.h"
#include "machine/wave/barrier.h"
#include "machine/wave/dispatch.h"
#include "memory_model/execution_barriers.h"
#include "observe/race/active_work_groups.h"
#include "observe/report/place.h"

namespace Atoll::observe {

namespace {

constexpr const char* checker = "sync";

struct WaveBarriers {
  uint64_t lanes = 0;       ///< lanes at its start
  uint64_t arrived_at = 0;  ///< PC of its last barrier instruction
  uint64_t exec = 0;        ///< EXEC at that barrier
  uint64_t pc = 0;          ///< PC of its last instruction that synchronises
  uint32_t arrivals = 0;
  bool has_ended = false;
};

struct GroupBarriers {
  std::vector<WaveBarriers> waves;
  /// Where the first wave arrived, by the number of barriers it had passed.
  struct First {
    uint64_t pc = 0;
    uint32_t wave = 0;
  };
  std::vector<First> firsts;

  struct Place {
    uint64_t pc = 0;
    uint32_t wave = 0;
  };
  memory_model::BarrierTrace named;
  std::vector<Place> places;  ///< of each event of `named`
  std::array<uint32_t, std::tuple_size_v<decltype(machine::WorkGroup::named_barriers)>> expected{};
};

/// The trace of a work-group's named barriers ends here: the check's time grows with the square of its length.
constexpr size_t max_named_events = 256;

/// "lane 3", "lanes 0 to 31", "lanes 1, 4 and 9"
std::string lanes_in_words(uint64_t lanes) {
  const int count = std::popcount(lanes);
  const int first = std::countr_zero(lanes), last = 63 - std::countl_zero(lanes);
  if (count == 1) return fmt::format("lane {}", first);
  if (last - first + 1 == count) return fmt::format("lanes {} to {}", first, last);
  return fmt::format("{} lanes from {} to {}", count, first, last);
}

class SyncChecker final : public Checker {
 public:
  explicit SyncChecker(Findings& findings) : findings_(findings) {}

  machine::EventMask watched() const override {
    return {.work_groups = true, .synchronisation = true, .whole_waves = true, .barriers = true};
  }

  void work_group_begins(const machine::WorkGroup& group) override {
    auto barriers = std::make_unique<GroupBarriers>();
    barriers->waves.resize(group.waves.size());
    groups_.add(group, std::move(barriers));
  }
  void work_group_ends(const machine::WorkGroup& group) override {
    if (const GroupBarriers* barriers = groups_.find(&group)) check_named_barriers(group, *barriers);
    groups_.erase(group);
  }
  void wave_begins(const machine::Wave& wave) override {
    if (GroupBarriers* group = find(wave)) group->waves[wave.index].lanes = wave.exec();
  }
  void instruction(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) override;
  void barrier(const machine::Wave& wave, const machine::BarrierEvent& event) override;
  void wave_ends(const machine::Wave& wave) override;

 private:
  GroupBarriers* find(const machine::Wave& wave) const {
    GroupBarriers* group = groups_.find(wave.work_group);
    return group == nullptr || wave.index >= group->waves.size() ? nullptr : group;
  }
  void report(const machine::Wave& wave, uint64_t pc, unsigned lane, const char* kind, const std::string& what,
              std::vector<NamedStack> stacks, const char* advice);
  void report_ended(const machine::Wave& wave, uint64_t pc, uint32_t ended);
  static void add_named_event(const machine::Wave& wave, const machine::BarrierEvent& event, GroupBarriers& group);
  void check_named_barriers(const machine::WorkGroup& group, const GroupBarriers& barriers);
  void check_lanes(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction);

  Findings& findings_;
  ActiveWorkGroups<GroupBarriers> groups_;
};

void SyncChecker::report(const machine::Wave& wave, uint64_t pc, unsigned lane, const char* kind,
                         const std::string& what, std::vector<NamedStack> stacks, const char* advice) {
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, lane);
  finding.message = fmt::format("kernel '{}' {}", finding.kernel, what);
  finding.stacks = std::move(stacks);
  finding.advice = advice;
  findings_.add(pc, std::move(finding));
}

void SyncChecker::instruction(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) {
  GroupBarriers* group = find(wave);
  if (group != nullptr) group->waves[wave.index].pc = pc;
  switch (isa::row_of(instruction).computes.operation) {
    case isa::Operation::barrier:
    case isa::Operation::barrier_signal:
    case isa::Operation::barrier_signal_is_first:
      break;
    default:
      check_lanes(wave, pc, instruction);
      return;
  }
  if (group != nullptr) {
    WaveBarriers& own = group->waves[wave.index];
    own.arrived_at = pc;
    own.exec = wave.exec();
  }
}

/// Matrix instructions and transposing loads use all lanes.
void SyncChecker::check_lanes(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) {
  if (!isa::works_on_whole_waves(instruction)) return;
  const bool is_load = isa::row(instruction.opcode).has(isa::flag::memory);
  const GroupBarriers* group = find(wave);
  if (group == nullptr) return;
  const uint64_t missing = group->waves[wave.index].lanes & ~wave.exec();
  if (missing == 0 || findings_.known(checker, "divergent-operation", pc, 1)) return;
  report(wave, pc, static_cast<unsigned>(std::countr_zero(missing)), "divergent-operation",
         fmt::format("{} that {} of the wave {} not at",
                     is_load ? "does a load that transposes what all lanes load together," : "multiplies matrices",
                     lanes_in_words(missing), std::popcount(missing) == 1 ? "is" : "are"),
         {}, "let all work-items of a wave reach it together: the values of inactive lanes take part in it");
}

void SyncChecker::report_ended(const machine::Wave& wave, uint64_t pc, uint32_t ended) {
  if (findings_.known(checker, "barrier-missed", pc, 1)) return;
  report(wave, pc, 0, "barrier-missed",
         fmt::format("has a barrier that wave {} of the work-group, which has ended, never came to", ended), {},
         "let all work-items come to the barrier: no return before it, and none in a branch that some don't take");
}

void SyncChecker::add_named_event(const machine::Wave& wave, const machine::BarrierEvent& event, GroupBarriers& group) {
  using memory_model::BarrierAction;
  using enum machine::BarrierEvent::Kind;
  if (event.kind == waits || group.named.events.size() >= max_named_events) return;
  const auto number = static_cast<unsigned>(event.number);
  memory_model::BarrierEvent added{.thread = wave.index, .object = number};
  uint32_t& expected = group.expected.at(number);
  const uint32_t has = wave.work_group->named_barriers.at(number).expected;
  switch (event.kind) {
    case begins:
      added.action = BarrierAction::init;
      added.count = has;
      break;
    case joins:
      added.action = BarrierAction::join;
      break;
    case leaves:
      added.action = BarrierAction::drop;
      break;
    case arrives:
      added.action = BarrierAction::arrive;
      if (has != expected) added.count = has;
      break;
    case waits:
    case passes:
      added.action = BarrierAction::wait;
      break;
  }
  expected = event.kind == leaves && has != 0 ? has - 1 : has;  // the event comes before the wave has left
  group.named.events.push_back(added);
  group.places.push_back({group.waves[wave.index].pc, wave.index});
}

void SyncChecker::check_named_barriers(const machine::WorkGroup& group, const GroupBarriers& barriers) {
  if (barriers.named.events.empty()) return;
  memory_model::BarrierTrace trace = barriers.named;
  std::set<unsigned> objects;
  for (const memory_model::BarrierEvent& each : trace.events) {
    if (!objects.insert(each.object).second) continue;
    for (const unsigned other : objects) {
      if (other != each.object) trace.exclusive.emplace_back(other, each.object);
    }
  }
  for (const memory_model::BarrierViolation& each : memory_model::BarrierOrder(trace).violations()) {
    const GroupBarriers::Place& place = barriers.places[each.event];
    if (findings_.known(checker, "named-barrier", place.pc, 1)) continue;
    report(group.waves[place.wave], place.pc, 0, "named-barrier",
           fmt::format("breaks a rule of named barriers at barrier {}: {}", trace.events[each.event].object,
                       memory_model::text(each.rule)),
           {}, "initialise a barrier before waves join it, and let each wave join, arrive and wait before it leaves");
  }
}

void SyncChecker::barrier(const machine::Wave& wave, const machine::BarrierEvent& event) {
  GroupBarriers* group = find(wave);
  if (group == nullptr) return;
  if (event.number > machine::no_barrier) return add_named_event(wave, event, *group);
  if (event.kind != machine::BarrierEvent::Kind::arrives || event.number != machine::work_group_barrier) return;
  WaveBarriers& own = group->waves[wave.index];
  const uint64_t pc = own.arrived_at;
  const uint64_t missing = own.lanes & ~own.exec;
  if (missing != 0 && !findings_.known(checker, "divergent-barrier", pc, 1)) {
    report(wave, pc, static_cast<unsigned>(std::countr_zero(missing)), "divergent-barrier",
           fmt::format("executes a barrier that {} of the wave {} not at", lanes_in_words(missing),
                       std::popcount(missing) == 1 ? "is" : "are"),
           {},
           "let all work-items come to the barrier: no return before it, and none in a branch that some don't take");
  }
  const uint32_t number = own.arrivals++;
  if (number >= group->firsts.size()) {
    group->firsts.push_back({pc, wave.index});
  } else if (const GroupBarriers::First& first = group->firsts[number]; first.pc != pc) {
    if (!findings_.known(checker, "other-barrier", pc, 1)) {
      const auto where = [pc = first.pc](const debug_info::CodePlace& place) {
        const std::string source = source_of(place);
        return std::vector{source.empty() ? fmt::format("{:#x}", pc) : source};
      };
      report(wave, pc, 0, "other-barrier",
             fmt::format("comes to a barrier while wave {} of the work-group waits at another", first.wave),
             {{.title = "the other barrier", .code = machine::code_address(wave, first.pc), .describe = where}},
             "let all work-items of the work-group come to the same barriers in the same order");
    }
  }
  for (uint32_t i = 0; i < group->waves.size(); ++i) {
    if (group->waves[i].has_ended && group->waves[i].arrivals < own.arrivals) report_ended(wave, pc, i);
  }
}

void SyncChecker::wave_ends(const machine::Wave& wave) {
  GroupBarriers* group = find(wave);
  if (group == nullptr) return;
  WaveBarriers& own = group->waves[wave.index];
  own.has_ended = true;
  for (uint32_t i = 0; i < group->waves.size(); ++i) {
    const WaveBarriers& other = group->waves[i];
    if (other.arrivals <= own.arrivals) continue;
    const uint64_t pc = own.arrivals < group->firsts.size() ? group->firsts[own.arrivals].pc : other.arrived_at;
    return report_ended(wave.work_group->waves[i], pc, wave.index);
  }
}

}  // namespace

std::unique_ptr<Checker> make_sync_checker(Findings& findings) { return std::make_unique<SyncChecker>(findings); }

}  // namespace Atoll::observe

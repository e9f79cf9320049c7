// observe: compares where and with which lanes the waves of a work-group arrive at barriers.
#include "observe/sync/sync_checker.h"

#include <bit>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "isa/effects.h"
#include "isa/table.h"
#include "machine/wave/barrier.h"
#include "machine/wave/dispatch.h"
#include "observe/race/active_work_groups.h"
#include "observe/report/place.h"

namespace Atoll::observe {

namespace {

constexpr const char* checker = "sync";

struct WaveBarriers {
  uint64_t lanes = 0;       ///< lanes at its start
  uint64_t arrived_at = 0;  ///< PC of its last barrier instruction
  uint64_t exec = 0;        ///< EXEC at that barrier
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
};

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
  void work_group_ends(const machine::WorkGroup& group) override { groups_.erase(group); }
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
  switch (instruction.opcode) {
    case isa::Opcode::s_barrier:
    case isa::Opcode::s_barrier_signal:
    case isa::Opcode::s_barrier_signal_isfirst:
      break;
    default:
      check_lanes(wave, pc, instruction);
      return;
  }
  if (GroupBarriers* group = find(wave)) {
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

void SyncChecker::barrier(const machine::Wave& wave, const machine::BarrierEvent& event) {
  if (event.kind != machine::BarrierEvent::Kind::arrives || event.number != machine::work_group_barrier) return;
  GroupBarriers* group = find(wave);
  if (group == nullptr) return;
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

// observe: see race_checker.h.
#include "observe/race_checker.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/dispatch.h"
#include "observe/access_history.h"
#include "observe/counter_waits.h"
#include "observe/place.h"
#include "observe/race_tasks.h"
#include "observe/running_groups.h"
#include "observe/stored_value.h"
#include "observe/vector_clock.h"
#include "support/demangle.h"

namespace Atoll::observe {

namespace {

using machine::AccessEvent;
using machine::BarrierEvent;
using machine::Space;

constexpr const char* checker = "race";

/// Accesses that race: the later one and the earlier one.
struct Conflict {
  unsigned lane = 0;
  Mark other{};
  bool other_writes = false;
  uint64_t address = 0, count = 0;
};

/// What a report needs of the later one.
struct Later {
  uint64_t pc = 0;
  Space space = Space::global;
  uint32_t bytes = 0;
  const char* verb = "";
  Conflict conflict;
};

/// A wave that runs.
struct WaveClock {
  uint32_t task = 0;  ///< 0: there are no more numbers, and it is not checked
  uint32_t time = 1;  ///< what it has done before this time is complete
  Knowledge known = std::make_shared<const VectorClock>();
  VectorClock pending;  ///< what it will know once it has invalidated its caches
  bool loads_under_way = false, stores_under_way = false;
  /// Plain loads of what atomics have written. Many a loop about a compare-and-swap begins with one, which is harmless:
  /// those are let go when that comes, and the others told when the wave has come to its next barrier or its end.
  std::vector<Later> doubtful;

  bool knows(Moment when) const { return when.task == task || known->of(when.task) >= when.time; }
  void learn(const VectorClock& more) {
    if (more.empty()) return;
    VectorClock joined = *known;
    joined.learn(more);
    known = std::make_shared<const VectorClock>(std::move(joined));
  }
  /// What others know who synchronise with what it has completed, or with all that it has done.
  VectorClock released(bool all) const {
    VectorClock clock = *known;
    clock.learn({task, all ? time : time - 1});
    return clock;
  }
};

struct GroupClocks {
  uint32_t dispatch = 0, first_task = 0;
  std::vector<WaveClock> waves;
  /// What those know who have arrived at the barrier, by its phase; at the ones with names, in all phases together.
  std::map<uint32_t, VectorClock> arrived;
  std::map<uint32_t, Knowledge> complete;
  std::map<int32_t, VectorClock> arrived_at_named;
  VectorClock ended;  ///< likewise those that have ended
  using LdsCells = Cells<256>;
  std::vector<LdsCells> lds;  ///< for each KiB
  std::map<uint64_t, VectorClock> lds_atomics;
};

/// An instruction that accessed something, in the kernel that was the first to execute it.
struct Site {
  uint64_t pc = 0;
  std::shared_ptr<const machine::Kernel> kernel;
  uint32_t bytes = 0;
  const char* verb = "";
};

constexpr unsigned lane_bits = 6;

/// A load that may be an atomic's, by its cache policy: from the work-group's scope on.
bool may_be_atomic_load(const isa::Instruction& instruction) {
  return instruction.glc || instruction.scc || instruction.scope != 0;
}

/// Whether a store changes nothing.
bool stores_the_same(const machine::Wave& wave, const AccessEvent& access, unsigned lane) {
  if (!access.writes || access.is_atomic) return false;
  const auto value = stored_value(wave, access, lane);
  return value && holds(wave, access, lane, *value);
}

class RaceChecker final : public Checker {
 public:
  explicit RaceChecker(Findings& findings) : findings_(findings) {}

  machine::Watched watched() const override {
    return {.dispatches = true, .work_groups = true, .instructions = true, .accesses = true, .barriers = true};
  }

  void dispatch_begins(const machine::Dispatch& dispatch) override;
  void dispatch_ends(const machine::Dispatch& dispatch) override;
  void work_group_begins(const machine::WorkGroup& group) override;
  void work_group_ends(const machine::WorkGroup& group) override;
  void wave_ends(const machine::Wave& wave) override;
  void instruction(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) override;
  void access(const machine::Wave& wave, const AccessEvent& access) override;
  void barrier(const machine::Wave& wave, const BarrierEvent& event) override;

 private:
  /// A wave's clock and its work-group's clocks; nulls where it is not checked.
  struct Clocks {
    GroupClocks* group = nullptr;
    WaveClock* wave = nullptr;
  };
  Clocks clocks_of(const machine::Wave& wave) const {
    GroupClocks* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size() || group->waves[wave.index].task == 0) return {};
    return {group, &group->waves[wave.index]};
  }
  bool ordered(const GroupClocks& group, const WaveClock& wave, Moment when) const;

  uint32_t site_of(const machine::Wave& wave, const AccessEvent& access);
  void access_cell(const AccessEvent& access, GroupClocks& group, WaveClock& clock, unsigned lane, Cell& cell,
                   const Mark& mark, Conflict& conflict);
  void synchronize(const AccessEvent& access, GroupClocks& group, WaveClock& clock, VectorClock& place);
  void acquire(GroupClocks& group, WaveClock& clock, const VectorClock& released, bool at_once);
  void remember(const WaveClock& clock);
  VectorClock released_by(Moment when) const;

  void check_lanes(const machine::Wave& wave, const AccessEvent& access);
  void report(const machine::Wave& wave, const Later& later);
  void report_doubtful(const machine::Wave& wave, WaveClock& clock) {
    for (const Later& later : clock.doubtful) report(wave, later);
    clock.doubtful.clear();
  }

  Findings& findings_;
  AccessHistory history_;
  GrowingTable<Task> tasks_;
  GrowingTable<Run> runs_;
  std::atomic<uint64_t> now_{1};

  RunningGroups<GroupClocks> groups_;
  std::mutex dispatches_mutex_;
  std::map<const machine::Dispatch*, uint32_t> dispatches_;  ///< their numbers

  mutable std::mutex knowledge_mutex_;
  /// What a wave knew from a time on, of those that run; only the last few.
  std::map<uint32_t, std::deque<std::pair<uint32_t, Knowledge>>> knowledge_;

  mutable std::mutex sites_mutex_;
  std::map<std::pair<uint64_t, const char*>, uint32_t> site_numbers_;
  std::deque<Site> sites_{1};
};

// --- What runs ----------------------------------------------------------------------------------------------------

void RaceChecker::dispatch_begins(const machine::Dispatch& dispatch) {
  const uint32_t number = runs_.add(1);
  if (number != 0) runs_[number].begin = now_.fetch_add(1);
  const std::lock_guard lock(dispatches_mutex_);
  dispatches_[&dispatch] = number;
}

void RaceChecker::dispatch_ends(const machine::Dispatch& dispatch) {
  uint32_t number = 0;
  {
    const std::lock_guard lock(dispatches_mutex_);
    const auto at = dispatches_.find(&dispatch);
    if (at == dispatches_.end()) return;
    number = at->second;
    dispatches_.erase(at);
  }
  if (number == 0) return;
  runs_[number].end = now_.fetch_add(1);
  const std::lock_guard lock(knowledge_mutex_);
  std::erase_if(knowledge_, [&](const auto& entry) { return tasks_[entry.first].dispatch == number; });
}

void RaceChecker::work_group_begins(const machine::WorkGroup& group) {
  auto clocks = std::make_unique<GroupClocks>();
  const auto count = static_cast<uint32_t>(group.waves.size());
  {
    const std::lock_guard lock(dispatches_mutex_);
    const auto dispatch = dispatches_.find(group.dispatch);
    clocks->dispatch = dispatch == dispatches_.end() ? 0 : dispatch->second;
  }
  clocks->first_task = clocks->dispatch == 0 ? 0 : tasks_.add(count);
  clocks->waves.resize(count);
  if (clocks->first_task != 0) {
    for (uint32_t i = 0; i < count; ++i) {
      Task& task = tasks_[clocks->first_task + i];
      task = {.dispatch = clocks->dispatch, .wave = i};
      std::ranges::copy(group.id, task.work_group);
      clocks->waves[i].task = clocks->first_task + i;
    }
  }
  clocks->lds.resize((group.lds_bytes + 1023) / 1024);
  groups_.add(group, std::move(clocks));
}

void RaceChecker::work_group_ends(const machine::WorkGroup& group) { groups_.erase(group); }

void RaceChecker::wave_ends(const machine::Wave& wave) {
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  report_doubtful(wave, *clock);
  group->ended.learn(clock->released(true));
}

// --- Order --------------------------------------------------------------------------------------------------------

bool RaceChecker::ordered(const GroupClocks& group, const WaveClock& wave, Moment when) const {
  if (when.task == 0 || wave.knows(when)) return true;
  const uint32_t dispatch = tasks_[when.task].dispatch;
  if (dispatch == group.dispatch) return false;
  const uint64_t end = runs_[dispatch].end.load(std::memory_order_acquire);
  return end != 0 && end < runs_[group.dispatch].begin;
}

void RaceChecker::barrier(const machine::Wave& wave, const BarrierEvent& event) {
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  const bool is_named = event.number > 0;
  if (event.kind == BarrierEvent::Kind::arrives) {
    report_doubtful(wave, *clock);
    VectorClock& arrived = is_named ? group->arrived_at_named[event.number] : group->arrived[wave.barrier_phase];
    arrived.learn(clock->released(true));
    ++clock->time;
  } else if (event.kind == BarrierEvent::Kind::passes) {
    if (is_named) {
      clock->learn(group->arrived_at_named[event.number]);
    } else {
      // All that wait for this phase know the same then.
      Knowledge& complete = group->complete[wave.barrier_phase];
      if (!complete) {
        VectorClock all = std::move(group->arrived[wave.barrier_phase]);
        all.learn(group->ended);
        complete = std::make_shared<const VectorClock>(std::move(all));
        group->arrived.erase(wave.barrier_phase);
        while (group->complete.size() > 2) group->complete.erase(group->complete.begin());
      }
      clock->known = complete;
    }
    remember(*clock);
  }
}

/// The wave's accesses that are marked from now on are others than those that a store now, or an atomic, releases.
void RaceChecker::instruction(const machine::Wave& wave, uint64_t, const isa::Instruction& instruction) {
  if (const auto waits = counter_waits(instruction)) {
    WaveClock* clock = clocks_of(wave).wave;
    if (clock == nullptr) return;
    const bool had_any = clock->loads_under_way || clock->stores_under_way;
    if (waits->of(memory_model::Counter::load) == 0) clock->loads_under_way = false;
    if (waits->of(memory_model::Counter::store) == 0) clock->stores_under_way = false;
    if (had_any && !clock->loads_under_way && !clock->stores_under_way) ++clock->time;
  } else if (invalidates_caches(instruction.opcode)) {
    WaveClock* clock = clocks_of(wave).wave;
    if (clock == nullptr || clock->pending.empty()) return;
    clock->learn(clock->pending);
    clock->pending.clear();
    remember(*clock);
  }
}

void RaceChecker::acquire(GroupClocks& group, WaveClock& clock, const VectorClock& released, bool at_once) {
  if (released.empty()) return;
  if (at_once) {
    clock.learn(released);
    remember(clock);
    return;
  }
  // The waves of a work-group share the caches, or are treated as if they did.
  VectorClock near;
  const uint32_t end = group.first_task + static_cast<uint32_t>(group.waves.size());
  for (const Moment& moment : released.moments()) {
    if (moment.task >= group.first_task && moment.task < end) near.learn(moment);
  }
  if (!near.empty()) {
    clock.learn(near);
    remember(clock);
  }
  clock.pending.learn(released);
}

void RaceChecker::remember(const WaveClock& clock) {
  constexpr size_t most = 32;
  const std::lock_guard lock(knowledge_mutex_);
  auto& list = knowledge_[clock.task];
  if (!list.empty() && list.back().first == clock.time) {
    list.back().second = clock.known;
  } else {
    list.emplace_back(clock.time, clock.known);
  }
  if (list.size() > most) list.pop_front();
}

/// What who reads an ordinary store of that moment knows, if it turns out to be an atomic one.
VectorClock RaceChecker::released_by(Moment when) const {
  VectorClock clock;
  {
    const std::lock_guard lock(knowledge_mutex_);
    if (const auto at = knowledge_.find(when.task); at != knowledge_.end()) {
      const auto& list = at->second;
      const auto after = std::ranges::find_if(list, [&](const auto& entry) { return entry.first > when.time; });
      clock = *(after == list.begin() ? after : std::prev(after))->second;
    }
  }
  clock.learn({when.task, when.time - 1});
  return clock;
}

/// An atomic that reads and writes: it acquires what those released that did so before, and releases.
void RaceChecker::synchronize(const AccessEvent& access, GroupClocks& group, WaveClock& clock, VectorClock& place) {
  const bool in_lds = access.space == Space::lds;
  if (access.reads) acquire(group, clock, place, in_lds);
  // LDS completes what a wave does there in order.
  place.learn(clock.released(in_lds));
  if (in_lds) ++clock.time;
}

// --- Accesses -----------------------------------------------------------------------------------------------------

uint32_t RaceChecker::site_of(const machine::Wave& wave, const AccessEvent& access) {
  const char* verb = verb_of(access);
  const std::lock_guard lock(sites_mutex_);
  uint32_t& number = site_numbers_[{access.pc, verb}];
  if (number == 0) {
    if (sites_.size() >> (32 - lane_bits) != 0) return 0;
    number = static_cast<uint32_t>(sites_.size());
    sites_.push_back(
        {.pc = access.pc, .kernel = wave.work_group->dispatch->kernel, .bytes = access.bytes, .verb = verb});
  }
  return number;
}

void RaceChecker::access_cell(const AccessEvent& access, GroupClocks& group, WaveClock& clock, unsigned lane,
                              Cell& cell, const Mark& mark, Conflict& conflict) {
  const bool is_load = access.reads && !access.writes;
  const bool acquires = is_load && access.space == Space::global && may_be_atomic_load(access.instruction);
  const auto add = [&](const Mark& other, bool other_writes) {
    if (conflict.count++ == 0) conflict = {lane, other, other_writes, access.addresses[lane], 1};
  };
  const bool write_is_ordered = ordered(group, clock, cell.write.when);
  if (acquires) {
    if (!write_is_ordered && !cell.is_atomic) {
      acquire(group, clock, released_by(cell.write.when), false);
      cell.is_atomic = true;
    }
    return;
  }
  // Stores to what atomics access may be atomic stores: an instruction does not tell.
  const bool may_be_atomic = access.is_atomic || (access.writes && (cell.is_atomic || access.instruction.scope != 0));
  if (!write_is_ordered && !(may_be_atomic && cell.is_atomic)) {
    if (is_load && cell.is_atomic && ordered(group, clock, cell.plain_write.when)) {
      constexpr size_t most = 64;
      if (clock.doubtful.size() < most) {
        clock.doubtful.push_back({access.pc,
                                  access.space,
                                  access.bytes,
                                  verb_of(access),
                                  {lane, cell.write, true, access.addresses[lane], 1}});
      }
    } else {
      add(cell.write, true);
    }
  } else if (access.is_atomic && !ordered(group, clock, cell.plain_write.when)) {
    add(cell.plain_write, true);
  }
  if (access.writes) {
    for (const Mark& read : cell.reads) {
      // Likewise the other way round: a plain load before an atomic may be how a loop about a compare-and-swap begins.
      if (!access.is_atomic && !ordered(group, clock, read.when)) add(read, false);
    }
    cell.write = mark;
    if (!may_be_atomic) cell.plain_write = mark;
    cell.is_atomic |= access.is_atomic;
  } else {
    cell.add_read(mark);
  }
}

void RaceChecker::access(const machine::Wave& wave, const AccessEvent& access) {
  if (access.space == Space::scratch) return;
  const auto [group, clock] = clocks_of(wave);
  if (clock == nullptr) return;
  const uint32_t site = site_of(wave, access) << lane_bits;
  Conflict conflict;
  if (access.space == Space::lds) {
    const uint64_t size = group->lds.size() * 1024;
    for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const uint64_t address = access.addresses[lane];
      if (address >= size || access.bytes > size - address) continue;
      const Mark mark{.when = {clock->task, clock->time}, .site = site | lane};
      for (uint64_t at = address, end = address + access.bytes; at < end;) {
        const uint64_t until = std::min(end, (at / 1024 + 1) * 1024);
        group->lds[at / 1024].visit(at % 1024, static_cast<uint32_t>(until - at), [&](Cell& cell, uint32_t) {
          access_cell(access, *group, *clock, lane, cell, mark, conflict);
        });
        at = until;
      }
      if (access.is_atomic) synchronize(access, *group, *clock, group->lds_atomics[address]);
    }
  } else {
    AccessHistory::Part* part = nullptr;
    AccessHistory::Part::Page* page = nullptr;
    uint64_t page_number = UINT64_MAX;
    std::unique_lock<std::mutex> lock;
    for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const uint64_t address = access.addresses[lane];
      const Mark mark{.when = {clock->task, clock->time}, .site = site | lane};
      for (uint64_t at = address, end = address + access.bytes; at < end;) {
        const uint64_t number = AccessHistory::page_of(at);
        if (number != page_number) {
          lock = {};
          part = &history_.part(number);
          lock = std::unique_lock(part->mutex);
          page = &part->page(number);
          page_number = number;
        }
        constexpr uint64_t bytes = AccessHistory::page_bytes;
        const uint64_t until = std::min(end, (number + 1) * bytes);
        page->visit(at % bytes, static_cast<uint32_t>(until - at),
                    [&](Cell& cell, uint32_t) { access_cell(access, *group, *clock, lane, cell, mark, conflict); });
        at = until;
      }
      if (access.is_atomic) {
        synchronize(access, *group, *clock, part->atomics[address]);
      } else if (access.reads && !access.writes && may_be_atomic_load(access.instruction)) {
        if (const auto place = part->atomics.find(address); place != part->atomics.end()) {
          acquire(*group, *clock, place->second, false);
        }
      } else if (access.writes) {
        if (const auto place = part->atomics.find(address); place != part->atomics.end()) {
          place->second.learn(clock->released(false));
        }
      }
    }
    if (access.reads && !access.is_scalar) clock->loads_under_way = true;
    if (access.writes) clock->stores_under_way = true;
  }
  if (access.is_atomic && !clock->doubtful.empty()) {
    std::erase_if(clock->doubtful, [&](const Later& later) {
      return later.space == access.space && (access.lanes >> later.conflict.lane & 1) != 0 &&
             access.addresses[later.conflict.lane] == later.conflict.address;
    });
  }
  if (conflict.count != 0 && !stores_the_same(wave, access, conflict.lane)) {
    report(wave, {access.pc, access.space, access.bytes, verb_of(access), conflict});
  }
  if (access.writes && !access.is_atomic && std::popcount(access.lanes) > 1) check_lanes(wave, access);
}

/// Several lanes' different values for the same place.
void RaceChecker::check_lanes(const machine::Wave& wave, const AccessEvent& access) {
  std::array<unsigned, 64> order{};
  size_t count = 0;
  bool ascends = true;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    if (count != 0) ascends &= access.addresses[lane] >= access.addresses[order[count - 1]] + access.bytes;
    order[count++] = lane;
  }
  if (ascends) return;
  std::sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), [&](unsigned a, unsigned b) {
    return std::pair(access.addresses[a], a) < std::pair(access.addresses[b], b);
  });
  for (size_t i = 1; i < count; ++i) {
    const unsigned first = order[i - 1], second = order[i];
    if (access.addresses[first] != access.addresses[second]) continue;
    const auto a = stored_value(wave, access, first), b = stored_value(wave, access, second);
    if (!a || !b || *a == *b) continue;
    if (findings_.known(checker, "lanes", access.pc, 1)) return;
    Finding finding;
    finding.checker = checker;
    finding.kind = "lanes";
    set_place(finding, wave, access.pc, second);
    finding.message =
        fmt::format("kernel '{}' stores different values of lanes {} and {} to the same {} bytes of {} at once",
                    finding.kernel, first, second, access.bytes, access.space == Space::lds ? "LDS" : "memory");
    finding.address = fmt::format("{:#x}", access.addresses[first]);
    finding.advice =
        "let one work-item store, or combine the values by an atomic: which lane's value stays is not defined";
    findings_.add(access.pc, std::move(finding));
    return;
  }
}

// --- Reports ------------------------------------------------------------------------------------------------------

void RaceChecker::report(const machine::Wave& wave, const Later& later) {
  const Conflict& conflict = later.conflict;
  const bool in_lds = later.space == Space::lds;
  const std::string kind = in_lds ? "lds" : "global";
  if (findings_.known(checker, kind, later.pc, conflict.count)) return;
  const Task& own = tasks_[clocks_of(wave).wave->task];
  const Task& other = tasks_[conflict.other.when.task];
  const bool same_group = own.dispatch == other.dispatch && std::ranges::equal(own.work_group, other.work_group);
  Site site;
  {
    const std::lock_guard lock(sites_mutex_);
    site = sites_[conflict.other.site >> lane_bits];
  }
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, later.pc, conflict.lane);
  const char* whose = same_group                       ? "another wave of its work-group"
                      : own.dispatch == other.dispatch ? "a wave of another work-group"
                                                       : "a wave of another dispatch";
  finding.message =
      fmt::format("kernel '{}' {} {} bytes of {} that {} {}, and nothing orders the two", finding.kernel, later.verb,
                  later.bytes, in_lds ? "LDS" : "memory", whose, conflict.other_writes ? "has written" : "has read");
  finding.address = in_lds ? fmt::format("LDS + {:#x}", conflict.address) : fmt::format("{:#x}", conflict.address);
  NamedStack earlier{.title = "the other access", .frames = {}};
  Finding there;
  set_place(there, wave, site.pc, 0);
  const std::string where = there.source.to_string();
  earlier.frames.push_back(fmt::format("{} {} bytes{}{}", site.verb, site.bytes, where.empty() ? "" : ", ", where));
  if (!there.instruction.empty()) earlier.frames.push_back(there.instruction);
  earlier.frames.push_back(fmt::format("kernel '{}', work-group ({}, {}, {}), wave {}, lane {}",
                                       support::demangled(site.kernel->name), other.work_group[0], other.work_group[1],
                                       other.work_group[2], other.wave, conflict.other.site & ((1u << lane_bits) - 1)));
  finding.stacks.push_back(std::move(earlier));
  finding.advice =
      same_group ? "put a barrier between them (__syncthreads(), barrier()), which all waves of the work-group reach"
      : own.dispatch == other.dispatch
          ? "no barrier reaches other work-groups: use atomics with release and acquire, or a second kernel"
          : "let the one dispatch wait for the other: the same stream, an event, or a barrier packet";
  finding.count = conflict.count;
  findings_.add(later.pc, std::move(finding));
}

}  // namespace

std::unique_ptr<Checker> make_race_checker(Findings& findings) { return std::make_unique<RaceChecker>(findings); }

}  // namespace Atoll::observe

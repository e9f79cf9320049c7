// observe: see wait_checker.h.
#include "observe/wait_checker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isa/effects.h"
#include "machine/dispatch.h"
#include "machine/gpu.h"
#include "observe/lds_copies.h"
#include "observe/place.h"
#include "observe/running_groups.h"
#include "observe/under_way.h"
#include "observe/wait_states.h"

namespace Atoll::observe {

namespace {

using isa::Instruction;
using memory_model::Counter;
using memory_model::Counters;

constexpr const char* checker = "wait";

/// What the checker needs of an instruction.
struct Facts {
  OperationFacts operation;
  WaitStateFacts states;
};

struct WaveState {
  OperationsUnderWay operations;
  WaitStates states;
};

struct GroupState {
  std::vector<WaveState> waves;
  LdsCopies copies;
};

class WaitChecker final : public Checker {
 public:
  explicit WaitChecker(Findings& findings) : findings_(findings) {}

  machine::Watched watched() const override {
    return {.code = true, .work_groups = true, .instructions = true, .accesses = true};
  }

  void code_unloading(const machine::LoadedCode& code) override;
  void work_group_begins(const machine::WorkGroup& group) override {
    auto state = std::make_unique<GroupState>();
    state->waves.resize(group.waves.size());
    groups_.add(group, std::move(state));
  }
  void work_group_ends(const machine::WorkGroup& group) override { groups_.erase(group); }
  void instruction(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) override;
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override;

 private:
  struct Place {
    GroupState* group = nullptr;
    WaveState* wave = nullptr;
  };
  Place place_of(const machine::Wave& wave) const {
    GroupState* group = groups_.find(wave.work_group);
    if (group == nullptr || wave.index >= group->waves.size()) return {};
    return {group, &group->waves[wave.index]};
  }
  const Facts& facts_of(const machine::Wave& wave, uint64_t pc, const Instruction& instruction);
  void report(const machine::Wave& wave, uint64_t pc, const RegisterConflict& conflict);
  void report(const machine::Wave& wave, const machine::AccessEvent& access, const LdsCopies::Conflict& conflict);
  void report(const machine::Wave& wave, uint64_t pc, const WaitStates::Missing& missing);

  Findings& findings_;
  mutable std::shared_mutex mutex_;
  RunningGroups<GroupState> groups_;
  std::atomic<bool> any_copies_{false};                   ///< between memory and LDS, in code that has been executed
  std::atomic<uint64_t> epoch_{next_epoch()};             ///< another one whenever code is unloaded
  std::map<std::pair<uint64_t, unsigned>, Facts> facts_;  ///< by PC and what else decides what an instruction is
};

/// What decides beside the PC what an instruction is: the size of waves, and on GFX12.5 the banks of VGPRs, which MODE
/// has from bit 12 on.
unsigned variant_of(const machine::Wave& wave, const Instruction& instruction) {
  constexpr unsigned banks_in_mode = 12;
  const bool has_banks = instruction.generation >= target::Generation::gfx12_5;
  return wave.wave_size | (has_banks ? wave.mode >> banks_in_mode & 0xFFu : 0u) << 8;
}

void WaitChecker::code_unloading(const machine::LoadedCode& code) {
  const std::unique_lock lock(mutex_);
  epoch_ = next_epoch();
  facts_.erase(facts_.lower_bound({code.base(), 0}), facts_.lower_bound({code.base() + code.size(), 0}));
}

/// What this thread has asked for lately, by the PC.
struct RecentFacts {
  uint64_t epoch = 0, pc = 0;
  unsigned variant = 0;
  const Facts* facts = nullptr;
};

// On the heap: a thread-local variable of this size would keep the library from being loaded by dlopen.
// The pointer has no destructor: a program may launch kernels while it ends, when those have run.
RecentFacts& recent_facts(uint64_t pc) {
  using Slots = std::array<RecentFacts, 1024>;
  static thread_local Slots* slots = nullptr;
  struct Owner {
    ~Owner() { delete std::exchange(slots, nullptr); }
  };
  if (slots == nullptr) {
    static thread_local Owner owner;
    slots = new Slots;
  }
  return (*slots)[pc / 4 % slots->size()];
}

const Facts& WaitChecker::facts_of(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) {
  RecentFacts& slot = recent_facts(pc);
  const uint64_t epoch = epoch_.load(std::memory_order_acquire);
  const unsigned variant = variant_of(wave, instruction);
  if (slot.epoch == epoch && slot.pc == pc && slot.variant == variant) return *slot.facts;
  const auto remembered = [&](const Facts* facts) -> const Facts& {
    slot = {.epoch = epoch, .pc = pc, .variant = variant, .facts = facts};
    return *facts;
  };
  const std::pair key{pc, variant};
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = facts_.find(key); at != facts_.end()) return remembered(&at->second);
  }
  const isa::Effects effects = isa::effects_of(instruction);
  Facts facts{.operation = operation_facts(instruction, effects), .states = wait_state_facts(instruction, effects)};
  if (facts.operation.copy != OperationFacts::Copy::none) any_copies_ = true;
  const std::unique_lock lock(mutex_);
  return remembered(&facts_.try_emplace(key, std::move(facts)).first->second);
}

std::string vector_name(unsigned number, target::Generation generation) {
  const bool has_agprs = generation < target::Generation::gfx12_5;
  return !has_agprs || number < isa::first_agpr ? fmt::format("v{}", number)
                                                : fmt::format("a{}", number - isa::first_agpr);
}

std::string scalar_name(unsigned number) {
  if (number < isa::scalar::vcc_lo) return fmt::format("s{}", number);
  if (number <= isa::scalar::vcc_hi) return number == isa::scalar::vcc_lo ? "vcc_lo" : "vcc_hi";
  if (number == isa::scalar::m0) return "m0";
  if (number == isa::scalar::exec_lo) return "exec_lo";
  if (number == isa::scalar::exec_hi) return "exec_hi";
  return fmt::format("scalar register {}", number);
}

void WaitChecker::instruction(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) {
  const auto [group, state] = place_of(wave);
  if (state == nullptr) return;
  const Facts& facts = facts_of(wave, pc, instruction);
  if (const auto missing = state->states.step(facts.states, pc)) report(wave, pc, *missing);
  if (facts.operation.waits) return state->operations.wait(*facts.operation.waits, group->copies);
  for (const RegisterConflict& conflict : state->operations.conflicts(facts.operation)) report(wave, pc, conflict);
  state->operations.execute(facts.operation, pc, wave.index, group->copies);
}

void WaitChecker::access(const machine::Wave& wave, const machine::AccessEvent& access) {
  if (access.space != machine::Space::lds || !any_copies_.load(std::memory_order_relaxed)) return;
  const auto [group, state] = place_of(wave);
  if (state == nullptr || group->copies.empty()) return;
  const OperationFacts& facts = facts_of(wave, access.pc, access.instruction).operation;
  if (facts.arrives) {
    group->copies.arrive(wave.index, access.addresses[std::countr_zero(access.lanes)]);
    return;
  }
  const bool is_copy = facts.copy != OperationFacts::Copy::none;
  const Operation* operation = is_copy ? state->operations.last() : nullptr;
  const uint64_t own = operation == nullptr ? 0 : operation->copy;
  // A copy of a tensor may arrive at a barrier by itself.
  if (own != 0 && access.is_atomic)
    return group->copies.arrive_alone(own, access.addresses[std::countr_zero(access.lanes)]);
  if (access.reads) group->copies.read(access);
  if (const auto conflict = group->copies.conflict(access, own)) report(wave, access, *conflict);
  if (own != 0) group->copies.add(own, access);
}

/// How the wait for an operation is written.
std::string wait_for(target::Generation generation, Counters counters) {
  const bool gfx12 = generation >= target::Generation::gfx12;
  const bool gfx10 = generation >= target::Generation::gfx10;
  if (has(counters, Counter::load)) return gfx12 ? "s_wait_loadcnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::store)) return gfx12 ? "s_wait_storecnt" : gfx10 ? "s_waitcnt_vscnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::sample)) return gfx12 ? "s_wait_samplecnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::bvh)) return gfx12 ? "s_wait_bvhcnt" : "s_waitcnt vmcnt";
  if (has(counters, Counter::lds)) return gfx12 ? "s_wait_dscnt" : "s_waitcnt lgkmcnt";
  if (has(counters, Counter::async)) return "s_wait_asynccnt";
  if (has(counters, Counter::tensor)) return "s_wait_tensorcnt";
  return gfx12 ? "s_wait_kmcnt" : "s_waitcnt lgkmcnt";
}

const char* kind_of(RegisterConflict::Kind kind) {
  switch (kind) {
    case RegisterConflict::Kind::reads:
      return "missing-wait";
    case RegisterConflict::Kind::writes:
      return "overwritten";
    case RegisterConflict::Kind::overwrites:
      break;
  }
  return "still-read";
}

/// The instruction that has begun what is under way, as a finding shows it.
NamedStack under_way(const Finding& there) {
  std::vector<std::string> frames{there.instruction};
  if (const std::string source = there.source.to_string(); !source.empty()) frames.push_back(source);
  return {"what is under way", std::move(frames)};
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc, const RegisterConflict& conflict) {
  const char* kind = kind_of(conflict.kind);
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, 0);
  Finding there;
  set_place(there, wave, conflict.operation->pc, 0);
  const auto generation = wave.work_group->dispatch->gpu->processor().generation;
  const std::string name = conflict.is_vector ? vector_name(conflict.reg, generation) : scalar_name(conflict.reg);
  const std::string wait = wait_for(generation, conflict.operation->counters);
  switch (conflict.kind) {
    case RegisterConflict::Kind::reads:
    case RegisterConflict::Kind::writes: {
      const bool is_read = conflict.kind == RegisterConflict::Kind::reads;
      finding.message = fmt::format("kernel '{}' {} {}, and nothing has waited for '{}', which fills it",
                                    finding.kernel, is_read ? "reads" : "writes", name, there.instruction);
      finding.advice = fmt::format("wait before it ({}): a GPU would find {} there", wait,
                                   is_read ? "what the register held before" : "what arrives later");
      break;
    }
    case RegisterConflict::Kind::overwrites:
      finding.message = fmt::format(
          "kernel '{}' writes {}, and nothing has waited for the addresses of '{}' to be translated, which "
          "reads it",
          finding.kernel, name, there.instruction);
      finding.advice =
          "wait before it (s_wait_xcnt): after a page fault a GPU would execute the access again with what is written "
          "here";
      break;
  }
  finding.stacks.push_back(under_way(there));
  findings_.add(pc, std::move(finding));
}

void WaitChecker::report(const machine::Wave& wave, const machine::AccessEvent& access,
                         const LdsCopies::Conflict& conflict) {
  const LdsCopy& copy = *conflict.copy;
  const char* kind = !copy.fills ? "still-read" : access.reads ? "missing-wait" : "overwritten";
  if (findings_.known(checker, kind, access.pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, access.pc, conflict.lane);
  Finding there;
  set_place(there, wave, copy.pc, 0);
  const std::string whose = copy.wave == wave.index ? std::string("nothing") : fmt::format("wave {}", copy.wave);
  finding.message =
      fmt::format("kernel '{}' {} LDS, and {} has {}waited for '{}', which {} it", finding.kernel,
                  access.reads && copy.fills ? "reads" : "writes", whose, copy.wave == wave.index ? "" : "not ",
                  there.instruction, copy.fills ? "fills" : "reads");
  finding.address = fmt::format("{:#x} in LDS", conflict.address);
  finding.stacks.push_back(under_way(there));
  const std::string wait = wait_for(wave.work_group->dispatch->gpu->processor().generation, copy.counters);
  finding.advice = fmt::format("wait before it{} ({}): a GPU would find {} there",
                               copy.wave == wave.index ? "" : ", in that wave, and come to a barrier then", wait,
                               !copy.fills    ? "what is written here, and copy that"
                               : access.reads ? "what LDS held before"
                                              : "what arrives later");
  findings_.add(access.pc, std::move(finding));
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc, const WaitStates::Missing& missing) {
  constexpr const char* kind = "missing-nop";
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, 0);
  Finding there;
  set_place(there, wave, missing.writer, 0);
  using Kind = WaitStateFacts::Need::Kind;
  const auto generation = wave.work_group->dispatch->gpu->processor().generation;
  std::string what;
  switch (missing.need.kind) {
    case Kind::scalar:
      what = scalar_name(missing.need.reg);
      break;
    case Kind::vector:
    case Kind::transcendental:
      what = vector_name(missing.need.reg, generation);
      break;
    case Kind::exec:
      what = "exec";
      break;
    case Kind::hardware_register:
      what = "the hardware register";
      break;
  }
  finding.message =
      fmt::format("kernel '{}' uses {} {} wait state{} after '{}' has written it: there have to be {}", finding.kernel,
                  what, missing.need.states - missing.states, missing.need.states - missing.states == 1 ? "" : "s",
                  there.instruction, missing.need.states);
  std::vector<std::string> frames{there.instruction};
  if (const std::string source = there.source.to_string(); !source.empty()) frames.push_back(source);
  finding.stacks.push_back({"written by", std::move(frames)});
  finding.advice = fmt::format("put 's_nop {}' before it, or other instructions", missing.states - 1);
  findings_.add(pc, std::move(finding));
}

}  // namespace

std::unique_ptr<Checker> make_wait_checker(Findings& findings) { return std::make_unique<WaitChecker>(findings); }

}  // namespace Atoll::observe

// observe: see wait_checker.h.
#include "observe/wait_checker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isa/effects.h"
#include "machine/dispatch.h"
#include "machine/gpu.h"
#include "observe/counter_waits.h"
#include "observe/place.h"
#include "observe/running_groups.h"
#include "observe/wait_states.h"

namespace Atoll::observe {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using memory_model::Counter;
using memory_model::Counters;

constexpr const char* checker = "wait";

/// What the checker needs of an instruction.
struct Facts {
  isa::Effects effects;
  std::optional<CounterWaits> waits;
  Counters counted = 0;  ///< by which counters it is under way
  bool in_order = true;
  bool fills = false;  ///< registers
  WaitStateFacts states;
};

/// Which counters count an operation on vector memory: what returns something is a load.
Counters vector_memory_counter(const Instruction& instruction, const isa::Effects& effects) {
  const bool stores_apart = instruction.generation >= target::Generation::gfx10;
  const bool is_store = !effects.loads.any() || (effects.stores.any() && instruction.destinations == 0);
  return mask(stores_apart && is_store ? Counter::store : Counter::load);
}

Counters counters_of(const Instruction& instruction, const isa::Effects& effects) {
  switch (instruction.encoding) {
    case Encoding::smem:
      return instruction.destinations != 0 ? mask(Counter::scalar) : Counters{0};
    case Encoding::ds:
      return mask(Counter::lds);
    case Encoding::flat:
      return static_cast<Counters>(vector_memory_counter(instruction, effects) | mask(Counter::lds));
    case Encoding::mubuf:
      if (invalidates_caches(instruction.opcode)) return 0;
      [[fallthrough]];
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mtbuf:
      return vector_memory_counter(instruction, effects);
    case Encoding::mimg:
      // From GFX12 on, intersections with rays have a counter of their own, and samples are VSAMPLE.
      if (instruction.generation >= target::Generation::gfx12 && !effects.loads.any()) return mask(Counter::bvh);
      return vector_memory_counter(instruction, effects);
    case Encoding::vsample:
      return mask(Counter::sample);
    case Encoding::sop1:
    case Encoding::sopp:
      // What the message or the barrier's state is comes as from scalar memory.
      if (instruction.opcode == Opcode::s_sendmsg_rtn_b32 || instruction.opcode == Opcode::s_sendmsg_rtn_b64 ||
          instruction.opcode == Opcode::s_get_barrier_state) {
        return mask(Counter::scalar);
      }
      return 0;
    default:
      return 0;
  }
}

/// An operation that has not been waited for.
struct Operation {
  uint64_t pc = 0;
  Counters counters = 0;  ///< in whose queues it still is
  bool arrived = false;
  const Facts* facts = nullptr;
};

struct WaveOperations {
  std::vector<Operation> queue;  ///< the oldest first
  WaitStates states;

  void wait(const CounterWaits& waits);
};

void WaveOperations::wait(const CounterWaits& waits) {
  // lgkmcnt is one counter for LDS and scalar memory: what is under way by either counts.
  const bool one_for_both = waits.of(Counter::lds) == waits.of(Counter::scalar);
  std::array<uint32_t, static_cast<size_t>(Counter::count)> younger{};
  for (auto at = queue.rbegin(); at != queue.rend(); ++at) {
    for (unsigned i = 0; i < younger.size(); ++i) {
      const auto counter = static_cast<Counter>(i);
      if (!has(at->counters, counter)) continue;
      uint32_t after = younger[i];
      if (one_for_both && counter == Counter::lds) after += younger[static_cast<size_t>(Counter::scalar)];
      const uint32_t limit = waits.of(counter);
      if (limit != CounterWaits::any && (at->facts->in_order ? after >= limit : limit == 0)) {
        at->counters &= static_cast<Counters>(~mask(counter));
        if (counter != Counter::lds || !has(at->facts->counted, Counter::load)) at->arrived = true;
      }
      ++younger[i];
    }
  }
  std::erase_if(queue, [](const Operation& operation) { return operation.counters == 0; });
}

class WaitChecker final : public Checker {
 public:
  explicit WaitChecker(Findings& findings) : findings_(findings) {}

  machine::Watched watched() const override { return {.code = true, .work_groups = true, .instructions = true}; }

  void code_unloading(const machine::LoadedCode& code) override;
  void work_group_begins(const machine::WorkGroup& group) override {
    groups_.add(group, std::make_unique<std::vector<WaveOperations>>(group.waves.size()));
  }
  void work_group_ends(const machine::WorkGroup& group) override { groups_.erase(group); }
  void instruction(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) override;

 private:
  WaveOperations* find(const machine::Wave& wave) const {
    std::vector<WaveOperations>* waves = groups_.find(wave.work_group);
    return waves == nullptr || wave.index >= waves->size() ? nullptr : &(*waves)[wave.index];
  }
  const Facts& facts_of(const machine::Wave& wave, uint64_t pc, const Instruction& instruction);
  void report(const machine::Wave& wave, uint64_t pc, const Operation& operation, bool is_read,
              const std::string& what);
  void report(const machine::Wave& wave, uint64_t pc, const WaitStates::Missing& missing);

  Findings& findings_;
  mutable std::shared_mutex mutex_;
  RunningGroups<std::vector<WaveOperations>> groups_;
  std::atomic<uint64_t> epoch_{next_epoch()};             ///< another one whenever code is unloaded
  std::map<std::pair<uint64_t, unsigned>, Facts> facts_;  ///< by PC and size of waves
};

void WaitChecker::code_unloading(const machine::LoadedCode& code) {
  const std::unique_lock lock(mutex_);
  epoch_ = next_epoch();
  facts_.erase(facts_.lower_bound({code.base(), 0}), facts_.lower_bound({code.base() + code.size(), 0}));
}

/// What this thread has asked for lately, by the PC.
struct RecentFacts {
  uint64_t epoch = 0, pc = 0;
  unsigned wave_size = 0;
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
  if (slot.epoch == epoch && slot.pc == pc && slot.wave_size == wave.wave_size) return *slot.facts;
  const auto remembered = [&](const Facts& facts) -> const Facts& {
    slot = {.epoch = epoch, .pc = pc, .wave_size = wave.wave_size, .facts = &facts};
    return facts;
  };
  const std::pair key{pc, unsigned{wave.wave_size}};
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = facts_.find(key); at != facts_.end()) return remembered(at->second);
  }
  Facts facts;
  facts.effects = isa::effects_of(instruction);
  facts.waits = counter_waits(instruction);
  facts.states = wait_state_facts(instruction, facts.effects);
  facts.counted = counters_of(instruction, facts.effects);
  facts.in_order = !has(facts.counted, Counter::scalar);
  // Nothing that is loaded counts by the counter of stores, where there is one: stores needn't be kept for its order.
  if (facts.counted == mask(Counter::store)) facts.counted = 0;
  isa::ScalarSet scalars = facts.effects.writes;
  scalars.reset(isa::scc_number);
  facts.fills = facts.effects.vector_writes.any() || scalars.any();
  const std::unique_lock lock(mutex_);
  return remembered(facts_.try_emplace(key, std::move(facts)).first->second);
}

template <size_t size>
std::optional<unsigned> first_of(const std::bitset<size>& set) {
  for (unsigned i = 0; i < size; ++i) {
    if (set[i]) return i;
  }
  return std::nullopt;
}

std::string vector_name(unsigned number) {
  return number < isa::first_agpr ? fmt::format("v{}", number) : fmt::format("a{}", number - isa::first_agpr);
}

std::string scalar_name(unsigned number) {
  if (number < isa::scalar::vcc_lo) return fmt::format("s{}", number);
  if (number <= isa::scalar::vcc_hi) return number == isa::scalar::vcc_lo ? "vcc_lo" : "vcc_hi";
  if (number == isa::scalar::m0) return "m0";
  return fmt::format("scalar register {}", number);
}

void WaitChecker::instruction(const machine::Wave& wave, uint64_t pc, const Instruction& instruction) {
  if (instruction.generation >= target::Generation::gfx12_5) return;
  WaveOperations* operations = find(wave);
  if (operations == nullptr) return;
  const Facts& facts = facts_of(wave, pc, instruction);
  if (const auto missing = operations->states.step(facts.states, pc)) report(wave, pc, *missing);
  if (facts.waits) return operations->wait(*facts.waits);
  for (const Operation& operation : operations->queue) {
    if (operation.arrived || !operation.facts->fills) continue;
    const isa::Effects& filled = operation.facts->effects;
    const isa::VectorSet vectors = filled.vector_writes;
    isa::ScalarSet scalars = filled.writes;
    scalars.reset(isa::scc_number);
    if (const auto read = first_of(vectors & facts.effects.vector_reads)) {
      report(wave, pc, operation, true, vector_name(*read));
    } else if (const auto word = first_of(scalars & facts.effects.reads)) {
      report(wave, pc, operation, true, scalar_name(*word));
    } else if (facts.counted != operation.counters || !operation.facts->in_order) {
      // What the same counter counts fills registers in order.
      if (const auto written = first_of(vectors & facts.effects.vector_writes)) {
        report(wave, pc, operation, false, vector_name(*written));
      } else if (const auto write = first_of(scalars & facts.effects.writes)) {
        report(wave, pc, operation, false, scalar_name(*write));
      }
    }
  }
  if (facts.counted == 0) return;
  constexpr size_t most = 64;  // more than any counter counts
  if (operations->queue.size() >= most) operations->queue.erase(operations->queue.begin());
  operations->queue.push_back({.pc = pc, .counters = facts.counted, .facts = &facts});
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
  return gfx12 ? "s_wait_kmcnt" : "s_waitcnt lgkmcnt";
}

void WaitChecker::report(const machine::Wave& wave, uint64_t pc, const Operation& operation, bool is_read,
                         const std::string& what) {
  const char* kind = is_read ? "missing-wait" : "overwritten";
  if (findings_.known(checker, kind, pc, 1)) return;
  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, pc, 0);
  Finding there;
  set_place(there, wave, operation.pc, 0);
  const std::string wait = wait_for(wave.work_group->dispatch->gpu->processor().generation, operation.counters);
  finding.message = fmt::format("kernel '{}' {} {}, and nothing has waited for '{}', which fills it", finding.kernel,
                                is_read ? "reads" : "writes", what, there.instruction);
  std::vector<std::string> frames{there.instruction};
  if (const std::string source = there.source.to_string(); !source.empty()) frames.push_back(source);
  finding.stacks.push_back({"what is under way", std::move(frames)});
  finding.advice = fmt::format("wait before it ({}): a GPU would find {} there", wait,
                               is_read ? "what the register held before" : "what arrives later");
  findings_.add(pc, std::move(finding));
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
  std::string what;
  switch (missing.need.kind) {
    case Kind::scalar:
      what = scalar_name(missing.need.reg);
      break;
    case Kind::vector:
    case Kind::transcendental:
      what = vector_name(missing.need.reg);
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

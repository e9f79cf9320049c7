// observe: computes and caches the steps of the path automaton.
#include "observe/wait/wait_paths.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "isa/decode.h"
#include "isa/must_effects.h"
#include "isa/vgpr_banks.h"
#include "observe/race/generation_number.h"
#include "observe/race/thread_slots.h"

namespace Atoll::observe {

namespace {

/// Limit of the states. There are about as many as blocks, unless code branches repeatedly without waiting for its
/// loads. At the limit all states are dropped, and at worst one operation per wave goes unreported.
constexpr size_t max_states = 1 << 16;

/// Returns one more than the highest register that an instruction uses. Every wave has VCC and the registers after it.
RegisterFiles registers_named(const isa::Instruction& instruction) {
  RegisterFiles named;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    const unsigned end = unsigned{operand.reg} + operand.words;
    if (operand.kind == isa::OperandKind::vgpr) {
      named.include({.vgprs = end});
    } else if (operand.kind == isa::OperandKind::agpr) {
      named.include({.agprs = end});
    } else if (operand.kind == isa::OperandKind::scalar && operand.reg < isa::scalar::vcc_lo) {
      named.include({.sgprs = end});
    }
  }
  return named;
}

bool has_lds_direct(uint64_t begin, uint64_t end, const target::Processor& processor) {
  for (uint64_t pc = begin; pc < end;) {
    const auto instruction = isa::decode(std::span(reinterpret_cast<const uint8_t*>(pc), end - pc), processor);
    if (!instruction) return false;
    if (instruction->encoding == isa::Encoding::ldsdir) return true;
    pc += instruction->size;
  }
  return false;
}

}  // namespace

WaitPaths::WaitPaths() : epoch_(next_epoch()) {}

WaitPaths::Step WaitPaths::step(uint32_t state, const machine::InstructionRange& code,
                                const target::Processor& processor, unsigned wave_size) {
  auto& recent = thread_slot<RecentStep, 1024>(code.begin / 4 + uint64_t{state} * 61);
  const uint64_t epoch = epoch_.load(std::memory_order_acquire);
  const Key key{.begin = code.begin,
                .end = code.end,
                .state = state,
                .variant = {.banks = code.banks,
                            .wave_size = static_cast<uint8_t>(wave_size),
                            .has_lds_direct = any_lds_direct_.load(std::memory_order_relaxed)}};
  if (recent.epoch == epoch && recent.key == key) return recent.step;
  const Step step = [&] {
    {
      const std::shared_lock lock(mutex_);
      if (const auto at = steps_.find(key); at != steps_.end()) return at->second;
    }
    return follow(key, processor);
  }();
  recent = {.epoch = epoch, .key = key, .step = step};
  return step;
}

WaitPaths::NamedRegisters WaitPaths::first_beyond(const RegisterFiles& allocated, const machine::InstructionRange& code,
                                                  const target::Processor& processor, unsigned wave_size) {
  for (uint64_t pc = code.begin; pc < code.end;) {
    auto instruction =
        isa::decode(std::span(reinterpret_cast<const uint8_t*>(pc), code.end - pc), processor, wave_size);
    if (!instruction) break;
    isa::choose_banks(*instruction, code.banks);
    const RegisterFiles named = registers_named(*instruction);
    if (named.exceed(allocated)) return {.pc = pc, .named = named};
    pc += instruction->size;
  }
  return {};
}

WaitPaths::Step WaitPaths::follow(Key key, const target::Processor& processor) {
  if (!key.variant.has_lds_direct && processor.generation >= target::Generation::gfx11 &&
      has_lds_direct(key.begin, key.end, processor)) {
    any_lds_direct_ = key.variant.has_lds_direct = true;
  }
  State state;
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = states_.find(key.state); at != states_.end()) state = at->second;
  }
  PathEvents events;
  RegisterFiles named;
  for (uint64_t pc = key.begin; pc < key.end;) {
    auto instruction =
        isa::decode(std::span(reinterpret_cast<const uint8_t*>(pc), key.end - pc), processor, key.variant.wave_size);
    if (!instruction) break;  // the wave will fault there
    isa::choose_banks(*instruction, key.variant.banks);
    named.include(registers_named(*instruction));
    const Facts& facts = facts_of(pc, key.variant, *instruction, processor);
    for (const auto& violation : state.hazards.step(facts.hazards, pc)) events.missing.push_back({pc, violation});
    if (const auto missing = state.matrices.step(facts.matrix, pc, facts.wait_states)) {
      events.missing_of_matrices.push_back({pc, *missing});
    }
    if (facts.operation.waits) {
      state.operations.wait(*facts.operation.waits, events.copies);
    } else {
      state.operations.make_room(facts.operation, events.copies);
      for (const hazards::RegisterConflict& conflict : state.operations.conflicts(facts.operation)) {
        events.conflicts.push_back({pc, conflict});
      }
      state.operations.execute(facts.operation, pc, events.copies);
    }
    pc += instruction->size;
  }
  const std::unique_lock lock(mutex_);
  if (states_.size() >= max_states) {
    states_.clear();
    numbers_.clear();
    steps_.clear();
    epoch_ = next_epoch();
  }
  Step step{.next = number_of(std::move(state)), .named = named};
  if (!events.conflicts.empty() || !events.missing.empty() || !events.missing_of_matrices.empty() ||
      !events.copies.empty()) {
    auto& kept = events_[key];
    if (kept == nullptr) kept = std::make_unique<const PathEvents>(std::move(events));
    step.events = kept.get();
  }
  return steps_.try_emplace(key, step).first->second;
}

const WaitPaths::Facts& WaitPaths::facts_of(uint64_t pc, const Variant& variant, const isa::Instruction& instruction,
                                            const target::Processor& processor) {
  const std::pair key{pc, variant};
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = facts_.find(key); at != facts_.end()) return *at->second;
  }
  const isa::Effects effects = isa::must_effects_of(instruction);
  auto facts = std::make_unique<const Facts>(
      Facts{.operation = hazards::operation_info(instruction, effects),
            .hazards = hazards::hazard_info(instruction, effects, processor, variant.wave_size, variant.has_lds_direct),
            .wait_states = hazards::wait_states(instruction),
            .matrix = hazards::matrix_info(instruction, effects, processor)});
  if (facts->operation.copy != isa::LdsCopy::none) any_copies_ = true;
  const std::unique_lock lock(mutex_);
  return *facts_.try_emplace(key, std::move(facts)).first->second;
}

WaitPaths::Identity WaitPaths::identity_of(const State& state) {
  Identity identity;
  for (const hazards::OutstandingOperation& operation : state.operations.all()) {
    identity.insert(identity.end(), {operation.pc, uint64_t{operation.counters} << 1 | uint64_t{operation.arrived},
                                     reinterpret_cast<uintptr_t>(operation.facts)});
  }
  identity.push_back(UINT64_MAX);
  for (const hazards::HazardRecognizer::Pending& pending : state.hazards.pending()) {
    identity.insert(identity.end(), {uint64_t{pending.row} << 32 | uint64_t{pending.reg} << 16 |
                                         uint64_t{pending.distance[0]} << 8 | pending.distance[1],
                                     pending.pc});
  }
  identity.push_back(UINT64_MAX);
  for (const hazards::HazardRecognizer::Recent& recent : state.hazards.recent()) {
    identity.insert(identity.end(), {recent.pc, reinterpret_cast<uintptr_t>(recent.info)});
  }
  identity.push_back(UINT64_MAX);
  for (const hazards::MatrixHazards::Recent& recent : state.matrices.recent()) {
    identity.insert(identity.end(), {uint64_t{recent.states}, recent.pc, reinterpret_cast<uintptr_t>(recent.facts)});
  }
  return identity;
}

/// The caller holds the lock.
uint32_t WaitPaths::number_of(State state) {
  if (state.operations.all().empty() && state.hazards.empty() && state.matrices.recent().empty()) return 0;
  const auto [at, is_new] = numbers_.try_emplace(identity_of(state), last_number_ + 1);
  if (is_new) states_[++last_number_] = std::move(state);
  return at->second;
}

void WaitPaths::forget(uint64_t begin, uint64_t end) {
  const std::unique_lock lock(mutex_);
  const auto is_inside = [&](uint64_t pc) { return pc >= begin && pc < end; };
  std::erase_if(states_, [&](const auto& each) {
    const State& state = each.second;
    return std::ranges::any_of(state.operations.all(), is_inside, &hazards::OutstandingOperation::pc) ||
           std::ranges::any_of(state.hazards.pending(), is_inside, &hazards::HazardRecognizer::Pending::pc) ||
           std::ranges::any_of(state.hazards.recent(), is_inside, &hazards::HazardRecognizer::Recent::pc) ||
           std::ranges::any_of(state.matrices.recent(), is_inside, &hazards::MatrixHazards::Recent::pc);
  });
  std::erase_if(numbers_, [&](const auto& each) { return !states_.contains(each.second); });
  const auto is_gone = [&](uint32_t state) { return state != 0 && !states_.contains(state); };
  std::erase_if(steps_, [&](const auto& each) {
    return is_inside(each.first.begin) || is_gone(each.first.state) || is_gone(each.second.next);
  });
  std::erase_if(events_, [&](const auto& each) { return is_inside(each.first.begin) || is_gone(each.first.state); });
  std::erase_if(facts_, [&](const auto& each) { return is_inside(each.first.first); });
  epoch_ = next_epoch();
}

}  // namespace Atoll::observe

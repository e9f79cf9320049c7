#include "hazards/scoreboard.h"

#include <algorithm>
#include <array>

#include "isa/table.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::hazards {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using memory_model::Counter;
using memory_model::Counters;

/// Which counters count an operation on vector memory: what returns something is a load, and so is what fills LDS.
Counters vector_memory_counter(const Instruction& instruction, const isa::Effects& effects) {
  const bool stores_apart = instruction.generation >= target::Generation::gfx10;
  const bool stores_nothing = !effects.stores.any() || isa::lds_copy(instruction) == isa::LdsCopy::to_lds;
  const bool is_store = !effects.loads.any() || (!stores_nothing && instruction.destinations == 0);
  return mask(stores_apart && is_store ? Counter::store : Counter::load);
}

/// By their completion.
Counters counters_of(const Instruction& instruction, const isa::Effects& effects) {
  const isa::Operation operation = isa::row_of(instruction).computes.operation;
  const bool is_12_5 = instruction.generation >= target::Generation::gfx12_5;
  switch (instruction.encoding) {
    case Encoding::smem:
      return instruction.destinations != 0 ? mask(Counter::scalar) : Counters{0};
    case Encoding::ds:
      return mask(operation == isa::Operation::async_barrier_arrive ? Counter::async : Counter::lds);
    case Encoding::flat:
      if (operation == isa::Operation::prefetch_data) return 0;
      return static_cast<Counters>(vector_memory_counter(instruction, effects) | mask(Counter::lds));
    case Encoding::mubuf:
      if (invalidates_caches(instruction.opcode)) return 0;
      [[fallthrough]];
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mtbuf:
      if (operation == isa::Operation::prefetch_data) return 0;
      if (operation == isa::Operation::invalidate) return mask(Counter::load);
      if (is_12_5 && isa::lds_copy(instruction) != isa::LdsCopy::none) return mask(Counter::async);
      return vector_memory_counter(instruction, effects);
    case Encoding::mimg:
      if (isa::row_of(instruction).has(isa::flag::tensor)) return mask(Counter::tensor);
      // From GFX12 on, intersections with rays have a counter of their own, and samples are VSAMPLE.
      if (instruction.generation >= target::Generation::gfx12 && !effects.loads.any()) return mask(Counter::bvh);
      return vector_memory_counter(instruction, effects);
    case Encoding::vsample:
      return mask(Counter::sample);
    case Encoding::sop1:
    case Encoding::sopp:
      // What the message or the barrier's state is comes as from scalar memory.
      return operation == isa::Operation::send_message_return || operation == isa::Operation::barrier_state
                 ? mask(Counter::scalar)
                 : Counters{0};
    default:
      return 0;
  }
}

/// Whether XCNT counts it. It is taken not to count copies to and from LDS, tensors' among them, whose addresses and
/// descriptors clang 22 overwrites at once.
bool is_translated(const Instruction& instruction, const OperationInfo& facts) {
  if (instruction.generation < target::Generation::gfx12_5 || facts.counted == 0) return false;
  if (facts.copy != isa::LdsCopy::none) return false;
  switch (instruction.encoding) {
    case Encoding::smem:
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mubuf:
    case Encoding::mtbuf:
      return !isa::row_of(instruction).has(isa::flag::cache_control);
    default:
      return false;
  }
}

/// A load of 16 bits leaves the other half of its register as it is: that half need not be there before, as what comes
/// by the same counter is written in order. Hand-written code loads both halves one right after the other.
void leave_other_half(OperationInfo& facts, const Instruction& instruction) {
  if (facts.counted == 0 || !semantics::memory_access(instruction).keeps_half()) return;
  const isa::Operand& result = instruction.operands[0];
  if (result.kind != isa::OperandKind::vgpr) return;
  for (unsigned i = instruction.destinations; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    const bool is_source =
        operand.kind == result.kind && operand.reg <= result.reg && result.reg < operand.reg + operand.words;
    if (is_source) return;
  }
  facts.vector_reads.reset(result.reg);
}

/// Which halves of VGPRs an instruction has to do with, of those that it has not wholly to do with.
std::vector<OperationInfo::Half> halves_of(const Instruction& instruction) {
  constexpr uint8_t lower = 1, upper = 2, both = lower | upper;
  std::vector<OperationInfo::Half> found;
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const auto add = [&](unsigned reg, uint8_t halves) {
    const auto known = std::ranges::find(found, reg, &OperationInfo::Half::reg);
    if (known == found.end()) {
      found.push_back({static_cast<uint16_t>(reg), halves});
    } else {
      known->halves |= halves;
    }
  };
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind != isa::OperandKind::vgpr) continue;
    const bool is_result = i < instruction.destinations;
    uint8_t halves = both;
    if (operand.half) halves = operand.op_sel || (is_result && instruction.op_sel_dst) ? upper : lower;
    if (is_result && access.keeps_half()) {
      halves = access.half == semantics::MemoryAccess::Half::high ? upper : lower;
    }
    for (unsigned word = 0; word < operand.words; ++word) add(operand.reg + word, halves);
  }
  std::erase_if(found, [](const OperationInfo::Half& half) { return half.halves == both; });
  return found;
}

}  // namespace

uint8_t OperationInfo::halves_of(unsigned vgpr) const {
  constexpr uint8_t both = 3;
  const auto half = std::ranges::find(halves, vgpr, &Half::reg);
  return half == halves.end() ? both : half->halves;
}

OperationInfo operation_info(const Instruction& instruction, const isa::Effects& effects) {
  OperationInfo facts;
  facts.waits = counter_waits(instruction);
  facts.counted = counters_of(instruction, effects);
  facts.in_order = !has(facts.counted, Counter::scalar);
  // "The order in which data is returned to registers by a vector memory operation can be different" (user guide,
  // "Memory Model GFX125x").
  facts.fills_in_order = facts.in_order && instruction.generation < target::Generation::gfx12_5;
  facts.is_scalar_memory = instruction.encoding == Encoding::smem;
  if (facts.counted != 0) facts.copy = isa::lds_copy(instruction);
  for (unsigned i = 0; i < static_cast<unsigned>(Counter::count); ++i) {
    const auto counter = static_cast<Counter>(i);
    if (has(facts.counted, counter)) facts.room.of(counter) = max_outstanding(counter, instruction.generation) - 1;
  }
  if (is_translated(instruction, facts)) facts.counted |= mask(Counter::xnack);
  using enum isa::Control::Kind;
  const isa::Control control = isa::control_of(instruction);
  facts.leaves_function = control.is_call() || control.kind == indirect;
  // Nothing that is loaded counts by the counter of stores, where there is one: stores needn't be kept for its order.
  if (facts.counted == mask(Counter::store)) facts.counted = 0;
  facts.reads = effects.reads;
  facts.writes = effects.writes;
  facts.reads.reset(isa::scc_number);
  facts.writes.reset(isa::scc_number);
  facts.vector_reads = effects.vector_reads;
  facts.vector_writes = effects.vector_writes;
  if (facts.fills_in_order) leave_other_half(facts, instruction);
  facts.vectors = facts.vector_reads | facts.vector_writes;
  if (instruction.generation >= target::Generation::gfx11) facts.halves = halves_of(instruction);
  facts.fills = facts.vector_writes.any() || facts.writes.any();
  return facts;
}

namespace {

/// Stands for all that these count and that fill nothing and are no copies: of such it matters only that there are so
/// many. Null: they are kept apart.
const OperationInfo* any_counted(Counters counters) {
  const auto counted = [](Counters all) {
    OperationInfo facts;
    facts.counted = all;
    return facts;
  };
  static const OperationInfo vector = counted(mask(Counter::load)), lds = counted(mask(Counter::lds)),
                             both = counted(mask(Counter::load) | mask(Counter::lds));
  for (const OperationInfo* any : {&vector, &lds, &both}) {
    if (any->counted == counters) return any;
  }
  return nullptr;
}

}  // namespace

void Scoreboard::end_copy(size_t at, CopySteps& copies) const {
  const auto place = std::count_if(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(at),
                                   [](const OutstandingOperation& operation) { return operation.is_copy(); });
  copies.push_back({.done = static_cast<unsigned>(place)});
}

void Scoreboard::collect() {
  // Operations that no instruction waits for any more matter only to older ones.
  const auto matters = [](const OutstandingOperation& operation) {
    return operation.is_filling() || operation.is_reading() || operation.is_copy();
  };
  queue_.erase(queue_.begin(), std::ranges::find_if(queue_, matters));
  vectors_filled_.reset();
  vectors_read_.reset();
  scalars_filled_.reset();
  scalars_read_.reset();
  for (const OutstandingOperation& operation : queue_) add(operation);
}

void Scoreboard::add(const OutstandingOperation& operation) {
  if (operation.is_filling()) {
    vectors_filled_ |= operation.facts->vector_writes;
    scalars_filled_ |= operation.facts->writes;
  }
  if (operation.is_reading()) {
    vectors_read_ |= operation.facts->vector_reads;
    scalars_read_ |= operation.facts->reads;
  }
}

void Scoreboard::wait(const CounterWaits& waits, CopySteps& copies) {
  if (queue_.empty()) return;
  // Only operations that are later in the same order of the same counter are certain to complete later. With lgkmcnt,
  // LDS accesses complete in order, and scalar memory accesses in any order.
  std::array<uint32_t, static_cast<size_t>(Counter::count)> younger{};
  for (auto at = queue_.rbegin(); at != queue_.rend(); ++at) {
    for (unsigned i = 0; i < younger.size(); ++i) {
      const auto counter = static_cast<Counter>(i);
      if (!has(at->counters, counter)) continue;
      const uint32_t after = younger[i];
      ++younger[i];
      const uint32_t limit = waits.of(counter);
      if (limit == CounterWaits::any || !(at->facts->in_order ? after >= limit : limit == 0)) continue;
      at->counters &= static_cast<Counters>(~mask(counter));
      if (counter == Counter::xnack) continue;
      if (counter == Counter::lds && has(at->facts->counted, Counter::load)) continue;
      at->counters &= static_cast<Counters>(~mask(Counter::xnack));
      if (at->is_copy()) end_copy(static_cast<size_t>(queue_.rend() - at) - 1, copies);
      at->arrived = true;
    }
  }
  std::erase_if(queue_, [](const OutstandingOperation& operation) { return operation.counters == 0; });
  collect();
}

void Scoreboard::make_room(const OperationInfo& facts, CopySteps& copies) {
  if (facts.counted != 0 && queue_.size() > std::ranges::min(facts.room.at_most)) wait(facts.room, copies);
}

template <size_t size>
std::optional<unsigned> first_of(const std::bitset<size>& set) {
  for (unsigned i = 0; i < size; ++i) {
    if (set[i]) return i;
  }
  return std::nullopt;
}

std::vector<RegisterConflict> Scoreboard::conflicts(const OperationInfo& facts) const {
  std::vector<RegisterConflict> found;
  if (!touches(facts)) return found;
  using enum RegisterConflict::Kind;
  const auto is_found = [&](const OutstandingOperation& operation, RegisterConflict::Kind kind, VectorRegisters vectors,
                            const isa::ScalarSet& scalars) {
    for (const OperationInfo::Half& half : operation.facts->halves) {
      if ((half.halves & facts.halves_of(half.reg)) == 0) vectors.reset(half.reg);
    }
    if (const auto vector = first_of(vectors)) {
      found.push_back({kind, operation, true, *vector});
      return true;
    }
    if (const auto scalar = first_of(scalars)) {
      found.push_back({kind, operation, false, *scalar});
      return true;
    }
    return false;
  };
  const bool is_access = has(facts.counted, Counter::xnack);
  for (const OutstandingOperation& operation : queue_) {
    const OperationInfo& its = *operation.facts;
    if (operation.is_filling()) {
      if (is_found(operation, reads, its.vector_writes & facts.vector_reads, its.writes & facts.reads)) continue;
      const bool in_turn = facts.counted == operation.counters && its.fills_in_order;
      if (!in_turn && is_found(operation, writes, its.vector_writes & facts.vector_writes, its.writes & facts.writes)) {
        continue;
      }
    }
    // Data of an access arrive after the translations of earlier accesses, except between two of scalar
    // memory.
    const bool is_in_order = is_access && !(facts.is_scalar_memory && its.is_scalar_memory);
    if (operation.is_reading() && !is_in_order) {
      is_found(operation, overwrites, its.vector_reads & facts.vector_writes, its.reads & facts.writes);
    }
  }
  return found;
}

void Scoreboard::execute(const OperationInfo& facts, uint64_t pc, CopySteps& copies) {
  const auto translate = [&](auto&& is_meant) {
    bool any = false;
    for (OutstandingOperation& operation : queue_) {
      if (!operation.is_reading() || !is_meant(operation)) continue;
      operation.counters &= static_cast<Counters>(~mask(Counter::xnack));
      any = true;
    }
    if (!any) return;
    std::erase_if(queue_, [](const OutstandingOperation& operation) { return operation.counters == 0; });
    collect();
  };
  if (facts.leaves_function) translate([](const OutstandingOperation&) { return true; });
  if (facts.counted == 0) return;
  if (has(facts.counted, Counter::xnack)) {
    translate([&](const OutstandingOperation& operation) {
      return operation.facts->is_scalar_memory != facts.is_scalar_memory;
    });
    // As clang 22 has it: what it overwrites of a register that is still to be read says that this has been read, and
    // all before it.
    if (!facts.is_scalar_memory && ((vectors_read_ & facts.vector_writes).any())) {
      size_t until = 0;
      for (size_t i = 0; i < queue_.size(); ++i) {
        if (queue_[i].is_reading() && (queue_[i].facts->vector_reads & facts.vector_writes).any()) until = i + 1;
      }
      const OutstandingOperation* end = queue_.data() + until;
      translate([&](const OutstandingOperation& operation) { return &operation < end; });
    }
  }
  constexpr size_t most = 64;  // more than any counter counts
  if (queue_.size() >= most) {
    if (queue_.front().is_copy()) end_copy(0, copies);
    queue_.erase(queue_.begin());
    collect();
  }
  const bool is_copy = facts.copy != isa::LdsCopy::none;
  if (is_copy) copies.push_back({.begun = &facts, .pc = pc});
  if (!is_copy && !facts.fills) {
    if (const OperationInfo* any = any_counted(facts.counted)) {
      if (!queue_.empty()) queue_.push_back({.counters = facts.counted, .facts = any});
      return;
    }
  }
  queue_.push_back({.pc = pc, .counters = facts.counted, .facts = &facts});
  add(queue_.back());
}

}  // namespace Atoll::hazards

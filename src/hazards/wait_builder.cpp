#include "hazards/wait_builder.h"

#include <algorithm>

#include "isa/immediate_names.h"
#include "isa/table.h"

namespace Atoll::hazards {

namespace {

using isa::Instruction;
using isa::Opcode;
using memory_model::Counter;
using enum target::Generation;

Instruction make(Opcode opcode, const target::Processor& processor, uint32_t immediate) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.generation = processor.generation;
  instruction.encoding = isa::row_of(instruction).encoding;
  instruction.size = 4;
  instruction.immediate = static_cast<uint16_t>(immediate);
  return instruction;
}

/// A wait of GFX10 and GFX11 in SOPK, which adds to its limit the register null.
Instruction make_with_null(Opcode opcode, const target::Processor& processor, uint32_t immediate) {
  Instruction instruction = make(opcode, processor, immediate);
  instruction.operand_count = 1;
  instruction.operands[0] = {
      .kind = isa::OperandKind::scalar, .type = isa::DataType::b32, .words = 1, .reg = isa::scalar::null};
  return instruction;
}

/// Puts a limit into a counter's bits of s_waitcnt. All ones wait for nothing: the counter never counts more.
void put(uint32_t& immediate, std::string_view name, uint32_t limit, const target::Processor& processor) {
  for (const isa::CounterField& counter : isa::wait_counters()) {
    if (counter.name != name || processor.generation < counter.first || processor.generation > counter.last) continue;
    const uint32_t low = (1u << counter.low.count) - 1, all = (1u << (counter.low.count + counter.high.count)) - 1;
    const uint32_t value = std::min(limit, all);
    immediate |= (value & low) << counter.low.low;
    immediate |= value >> counter.low.count << counter.high.low;
  }
}

std::vector<Instruction> combined_waits(const CounterWaits& waits, const target::Processor& processor) {
  const bool counts_stores_apart = processor.generation >= gfx10;
  uint32_t vector = std::min({waits.of(Counter::load), waits.of(Counter::sample), waits.of(Counter::bvh)});
  if (!counts_stores_apart) vector = std::min(vector, waits.of(Counter::store));
  const uint32_t others = std::min(waits.of(Counter::lds), waits.of(Counter::scalar));
  std::vector<Instruction> built;
  const auto combined = [&](uint32_t vmcnt, uint32_t lgkmcnt, uint32_t expcnt) {
    uint32_t immediate = 0;
    put(immediate, "vmcnt", vmcnt, processor);
    put(immediate, "lgkmcnt", lgkmcnt, processor);
    put(immediate, "expcnt", expcnt, processor);
    return immediate;
  };
  constexpr uint32_t any = CounterWaits::any;
  const uint32_t immediate = combined(vector, others, waits.exports);
  if (immediate != combined(any, any, any)) built.push_back(make(Opcode::s_waitcnt, processor, immediate));
  if (counts_stores_apart && waits.of(Counter::store) != CounterWaits::any) {
    const uint32_t limit = std::min(waits.of(Counter::store), max_outstanding(Counter::store, processor.generation));
    built.push_back(make_with_null(Opcode::s_waitcnt_vscnt, processor, limit));
  }
  return built;
}

}  // namespace

std::vector<Instruction> counter_waits_for(const CounterWaits& waits, const target::Processor& processor) {
  if (processor.generation < gfx12) return combined_waits(waits, processor);
  std::vector<Instruction> built;
  const memory_model::Generation& generation = memory_model::generation_of(processor);
  for (unsigned i = 0; i < static_cast<unsigned>(Counter::count); ++i) {
    const auto counter = static_cast<Counter>(i);
    const memory_model::CounterFact* fact = generation.find(counter);
    if (fact == nullptr || waits.of(counter) == CounterWaits::any) continue;
    const uint32_t limit = std::min(waits.of(counter), max_outstanding(counter, processor.generation));
    built.push_back(make(fact->wait, processor, limit));
  }
  const bool is_12_5 = processor.generation >= gfx12_5;
  constexpr uint32_t max_exports = 7;
  if (!is_12_5 && waits.exports != CounterWaits::any) {
    built.push_back(make(Opcode::s_wait_expcnt, processor, std::min(waits.exports, max_exports)));
  }
  return built;
}

Instruction dependency_wait_for(DependencyFields fields, const target::Processor& processor) {
  uint32_t immediate = 0;  // bits that belong to no field are 0, as LLVM has them
  for (unsigned i = 0; i < static_cast<unsigned>(DependencyField::count); ++i) {
    const auto which = static_cast<DependencyField>(i);
    const isa::CounterField* const counter = dependency_field(which, processor.generation);
    if (counter == nullptr || (fields & field_mask(which)) != 0) continue;
    immediate |= ((1u << counter->low.count) - 1) << counter->low.low;
  }
  return make(Opcode::s_waitcnt_depctr, processor, immediate);
}

std::vector<Instruction> wait_states_for(uint32_t states, const target::Processor& processor) {
  const uint32_t most = processor.generation < gfx8 ? 8 : 16;  // GFX6 and GFX7 have three bits
  std::vector<Instruction> built;
  for (; states != 0; states -= std::min(states, most)) {
    built.push_back(make(Opcode::s_nop, processor, std::min(states, most) - 1));
  }
  return built;
}

std::vector<Instruction> vector_nops(uint32_t count, const target::Processor& processor) {
  return std::vector<Instruction>(count, make(Opcode::v_nop, processor, 0));
}

}  // namespace Atoll::hazards

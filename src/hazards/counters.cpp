#include "hazards/counters.h"

#include <algorithm>
#include <array>

#include "isa/immediate_names.h"
#include "isa/table.h"

namespace Atoll::hazards {

namespace {

using isa::Opcode;
using memory_model::Counter;

uint32_t field(uint32_t immediate, isa::BitRange range) {
  return range.count == 0 ? 0 : immediate >> range.low & ((1u << range.count) - 1);
}

/// The fields of s_waitcnt with a name, by generation; null where a generation has none.
class NamedField {
 public:
  explicit NamedField(std::string_view name) {
    for (const isa::CounterField& counter : isa::wait_counters()) {
      if (counter.name != name) continue;
      for (auto at = static_cast<size_t>(counter.first); at <= static_cast<size_t>(counter.last); ++at) {
        if (at < of_.size() && of_[at] == nullptr) of_[at] = &counter;
      }
    }
  }
  /// Returns the field's value. All ones wait for nothing.
  uint32_t limit(const isa::Instruction& instruction) const {
    const auto at = static_cast<size_t>(instruction.generation);
    if (at >= of_.size() || of_[at] == nullptr) return CounterWaits::any;
    const isa::CounterField& counter = *of_[at];
    const uint32_t value = field(instruction.immediate, counter.low) | field(instruction.immediate, counter.high)
                                                                           << counter.low.count;
    const unsigned bits = counter.low.count + counter.high.count;
    return value == (1u << bits) - 1 ? CounterWaits::any : value;
  }

 private:
  std::array<const isa::CounterField*, 32> of_{};
};

std::optional<CounterWaits> named_waits(const isa::Instruction& instruction) {
  CounterWaits waits;
  const uint32_t immediate = instruction.immediate;
  const bool counts_stores_apart = instruction.generation >= target::Generation::gfx10;
  const isa::Computation& computes = isa::row_of(instruction).computes;
  if (computes.operation == isa::Operation::wait_idle) {
    waits.at_most.fill(0);
    waits.exports = 0;
    return waits;
  }
  if (computes.operation != isa::Operation::wait_counter) return std::nullopt;
  const auto both = [&](Counter first) {
    waits.of(first) = immediate >> 8 & 0x3F;
    waits.of(Counter::lds) = immediate & 0x3F;
  };
  switch (computes.counter) {
    case isa::Counter::vm_exp_lgkm: {
      static const NamedField vmcnt("vmcnt"), lgkmcnt("lgkmcnt"), expcnt("expcnt");
      waits.exports = expcnt.limit(instruction);
      const uint32_t vector = vmcnt.limit(instruction), others = lgkmcnt.limit(instruction);
      waits.of(Counter::load) = vector;
      if (!counts_stores_apart) waits.of(Counter::store) = vector;
      if (instruction.generation < target::Generation::gfx12) {
        waits.of(Counter::sample) = waits.of(Counter::bvh) = vector;
      }
      waits.of(Counter::lds) = waits.of(Counter::scalar) = others;
      break;
    }
    case isa::Counter::vm:
    case isa::Counter::load:
      waits.of(Counter::load) = immediate;
      break;
    case isa::Counter::vs:
    case isa::Counter::store:
      waits.of(Counter::store) = immediate;
      break;
    case isa::Counter::lgkm:
      waits.of(Counter::lds) = waits.of(Counter::scalar) = immediate;
      break;
    case isa::Counter::exp:
      waits.exports = immediate;
      break;
    case isa::Counter::ds:
      waits.of(Counter::lds) = immediate;
      break;
    case isa::Counter::km:
      waits.of(Counter::scalar) = immediate;
      break;
    case isa::Counter::sample:
      waits.of(Counter::sample) = immediate;
      break;
    case isa::Counter::bvh:
      waits.of(Counter::bvh) = immediate;
      break;
    case isa::Counter::async:
      waits.of(Counter::async) = immediate;
      break;
    case isa::Counter::tensor:
      waits.of(Counter::tensor) = immediate;
      break;
    case isa::Counter::translation:
      waits.of(Counter::xnack) = immediate;
      break;
    case isa::Counter::load_ds:
      both(Counter::load);
      break;
    case isa::Counter::store_ds:
      both(Counter::store);
      break;
    case isa::Counter::dependencies:
    case isa::Counter::no_counter:
      return std::nullopt;
  }
  return waits;
}

}  // namespace

std::optional<CounterWaits> counter_waits(const isa::Instruction& instruction) {
  auto waits = named_waits(instruction);
  if (!waits || instruction.generation < target::Generation::gfx12_5) return waits;
  // A wait for any counter of memory is one for XCNT, too.
  waits->of(Counter::xnack) = std::ranges::min(waits->at_most);
  return waits;
}

const isa::CounterField* dependency_field(DependencyField field, target::Generation generation) {
  constexpr std::array<std::string_view, static_cast<size_t>(DependencyField::count)> names{
      "depctr_hold_cnt", "depctr_sa_sdst", "depctr_va_vdst", "depctr_va_sdst",
      "depctr_va_ssrc",  "depctr_va_vcc",  "depctr_vm_vsrc"};
  for (const isa::CounterField& counter : isa::dependency_counters()) {
    if (counter.name == names.at(static_cast<size_t>(field)) && generation >= counter.first &&
        generation <= counter.last) {
      return &counter;
    }
  }
  return nullptr;
}

std::optional<DependencyFields> dependency_wait(const isa::Instruction& instruction) {
  if (instruction.opcode != Opcode::s_waitcnt_depctr) return std::nullopt;
  DependencyFields fields = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(DependencyField::count); ++i) {
    const auto which = static_cast<DependencyField>(i);
    const isa::CounterField* const counter = dependency_field(which, instruction.generation);
    if (counter == nullptr || field(instruction.immediate, counter->low) == 0) fields |= field_mask(which);
  }
  return fields;
}

uint32_t wait_states(const isa::Instruction& instruction) {
  return instruction.opcode == Opcode::s_nop ? (instruction.immediate & 0xFu) + 1 : 1;
}

uint32_t max_outstanding(Counter counter, target::Generation generation) {
  using enum target::Generation;
  constexpr uint32_t bits3 = 7, bits4 = 15, bits5 = 31, bits6 = 63, tensors = 3;
  switch (counter) {
    case Counter::load:
      return generation < gfx9 ? bits4 : bits6;
    case Counter::lds:
      return generation < gfx10 ? bits4 : bits6;
    case Counter::scalar:
      return generation < gfx10 ? bits4 : generation < gfx12 ? bits6 : bits5;
    case Counter::bvh:
      return bits3;
    case Counter::tensor:
      return tensors;
    case Counter::store:
    case Counter::sample:
    case Counter::async:
    case Counter::xnack:
    case Counter::count:
      break;
  }
  return bits6;
}

bool invalidates_caches(isa::Opcode opcode) {
  const isa::InstructionRow& row = isa::row(opcode);
  const isa::Operation operation = row.computes.operation;
  return row.has(isa::flag::cache_control) &&
         (operation == isa::Operation::invalidate || operation == isa::Operation::write_back_invalidate);
}

}  // namespace Atoll::hazards

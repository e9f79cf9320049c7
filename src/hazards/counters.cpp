#include "hazards/counters.h"

#include <algorithm>
#include <array>

#include "isa/immediate_names.h"

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

}  // namespace

bool is_vector_memory(isa::Encoding encoding) {
  switch (encoding) {
    case isa::Encoding::flat:
    case isa::Encoding::global:
    case isa::Encoding::scratch:
    case isa::Encoding::mubuf:
    case isa::Encoding::mtbuf:
    case isa::Encoding::mimg:
      return true;
    default:
      return false;
  }
}

bool is_vector_alu(isa::Encoding encoding) {
  switch (encoding) {
    case isa::Encoding::vop1:
    case isa::Encoding::vop2:
    case isa::Encoding::vopc:
    case isa::Encoding::vop3:
    case isa::Encoding::vop3p:
      return true;
    default:
      return false;
  }
}

namespace {

std::optional<CounterWaits> named_waits(const isa::Instruction& instruction) {
  CounterWaits waits;
  const uint32_t immediate = instruction.immediate;
  const bool counts_stores_apart = instruction.generation >= target::Generation::gfx10;
  switch (instruction.opcode) {
    case Opcode::s_waitcnt: {
      static const NamedField vmcnt("vmcnt"), lgkmcnt("lgkmcnt"), expcnt("expcnt");
      waits.exports = expcnt.limit(instruction);
      const uint32_t vector = vmcnt.limit(instruction), others = lgkmcnt.limit(instruction);
      waits.of(Counter::load) = vector;
      if (!counts_stores_apart) waits.of(Counter::store) = vector;
      if (instruction.generation < target::Generation::gfx12) {
        waits.of(Counter::sample) = waits.of(Counter::bvh) = vector;
      }
      waits.of(Counter::lds) = waits.of(Counter::scalar) = others;
      return waits;
    }
    case Opcode::s_waitcnt_vmcnt:
    case Opcode::s_wait_loadcnt:
      waits.of(Counter::load) = immediate;
      return waits;
    case Opcode::s_waitcnt_vscnt:
    case Opcode::s_wait_storecnt:
      waits.of(Counter::store) = immediate;
      return waits;
    case Opcode::s_waitcnt_lgkmcnt:
      waits.of(Counter::lds) = waits.of(Counter::scalar) = immediate;
      return waits;
    case Opcode::s_waitcnt_expcnt:
    case Opcode::s_wait_expcnt:
      waits.exports = immediate;
      return waits;
    case Opcode::s_wait_dscnt:
      waits.of(Counter::lds) = immediate;
      return waits;
    case Opcode::s_wait_kmcnt:
      waits.of(Counter::scalar) = immediate;
      return waits;
    case Opcode::s_wait_samplecnt:
      waits.of(Counter::sample) = immediate;
      return waits;
    case Opcode::s_wait_bvhcnt:
      waits.of(Counter::bvh) = immediate;
      return waits;
    case Opcode::s_wait_asynccnt:
      waits.of(Counter::async) = immediate;
      return waits;
    case Opcode::s_wait_tensorcnt:
      waits.of(Counter::tensor) = immediate;
      return waits;
    case Opcode::s_wait_xcnt:
      waits.of(Counter::xnack) = immediate;
      return waits;
    case Opcode::s_wait_loadcnt_dscnt:
      waits.of(Counter::load) = immediate >> 8 & 0x3F;
      waits.of(Counter::lds) = immediate & 0x3F;
      return waits;
    case Opcode::s_wait_storecnt_dscnt:
      waits.of(Counter::store) = immediate >> 8 & 0x3F;
      waits.of(Counter::lds) = immediate & 0x3F;
      return waits;
    case Opcode::s_wait_idle:
      waits.at_most.fill(0);
      waits.exports = 0;
      return waits;
    default:
      return std::nullopt;
  }
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
  switch (opcode) {
    using enum isa::Opcode;
    case buffer_wbinvl1:
    case buffer_wbinvl1_vol:
    case buffer_wbinvl1_sc:
    case buffer_inv:
    case buffer_invl2:
    case buffer_gl0_inv:
    case buffer_gl1_inv:
    case global_inv:
      return true;
    default:
      return false;
  }
}

}  // namespace Atoll::hazards

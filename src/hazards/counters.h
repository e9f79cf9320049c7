// hazards: what an instruction waits for, by the counters of operations under way, and what invalidates caches.
// Source: the ISA guides' "S_WAITCNT"; user guide, "Memory Model" for which counter counts what.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "isa/immediate_names.h"
#include "isa/instruction.h"
#include "memory_model/generation.h"

namespace Atoll::hazards {

/// How many operations may be under way afterwards, by memory_model::Counter. Where one counter counts loads and
/// stores, both have its figure.
struct CounterWaits {
  static constexpr uint32_t any = UINT32_MAX;
  std::array<uint32_t, static_cast<size_t>(memory_model::Counter::count)> at_most;
  uint32_t exports = any;  ///< EXPCNT, which is no counter of memory

  CounterWaits() { at_most.fill(any); }
  uint32_t& of(memory_model::Counter counter) { return at_most[static_cast<size_t>(counter)]; }
  uint32_t of(memory_model::Counter counter) const { return at_most[static_cast<size_t>(counter)]; }
};

/// The fields of s_waitcnt_depctr (s_wait_alu): operations between units that a wave may wait for.
enum class DependencyField : uint8_t { hold_cnt, sa_sdst, va_vdst, va_sdst, va_ssrc, va_vcc, vm_vsrc, count };
using DependencyFields = uint8_t;  ///< a bit for each
constexpr DependencyFields field_mask(DependencyField field) {
  return static_cast<DependencyFields>(1u << static_cast<unsigned>(field));
}
inline constexpr DependencyFields all_dependency_fields = (1u << static_cast<unsigned>(DependencyField::count)) - 1;

/// Returns the field's bits in the immediate; null where a generation does not have it.
const isa::CounterField* dependency_field(DependencyField field, target::Generation generation);

/// Returns the fields that s_waitcnt_depctr waits for to become 0; those that a generation lacks count as waited for.
/// Nothing for other instructions.
std::optional<DependencyFields> dependency_wait(const isa::Instruction& instruction);

/// Returns the wait states that an instruction takes: 1, or for s_nop as many as it says.
uint32_t wait_states(const isa::Instruction& instruction);

/// Of an instruction that waits for counters; nothing for all others.
std::optional<CounterWaits> counter_waits(const isa::Instruction& instruction);

/// The most that a counter counts. The GPU holds back the instruction that would be one more.
/// Source: the ISA guides' widths of the fields of S_WAITCNT and its successors.
uint32_t max_outstanding(memory_model::Counter counter, target::Generation generation);

/// Whether it makes a wave see what others have written: those that the memory model ends an acquire with.
bool invalidates_caches(isa::Opcode opcode);

}  // namespace Atoll::hazards

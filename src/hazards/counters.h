// hazards: what an instruction waits for, by the counters of operations under way, and what invalidates caches.
// Source: the ISA guides' "S_WAITCNT"; user guide, "Memory Model" for which counter counts what.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "memory_model/generation.h"

namespace Atoll::hazards {

/// How many operations may be under way afterwards, by memory_model::Counter. Where one counter counts loads and
/// stores, both have its figure.
struct CounterWaits {
  static constexpr uint32_t any = UINT32_MAX;
  std::array<uint32_t, static_cast<size_t>(memory_model::Counter::count)> at_most;

  CounterWaits() { at_most.fill(any); }
  uint32_t& of(memory_model::Counter counter) { return at_most[static_cast<size_t>(counter)]; }
  uint32_t of(memory_model::Counter counter) const { return at_most[static_cast<size_t>(counter)]; }
};

/// Whether an instruction reaches memory through the vector caches, or scratch.
bool is_vector_memory(isa::Encoding encoding);
/// Whether it is the vector ALU's, but for dual instructions, which are there from GFX11 on.
bool is_vector_alu(isa::Encoding encoding);

/// Of an instruction that waits for counters; nothing for all others.
std::optional<CounterWaits> counter_waits(const isa::Instruction& instruction);

/// The most that a counter counts. The GPU holds back the instruction that would be one more.
/// Source: the ISA guides' widths of the fields of S_WAITCNT and its successors.
uint32_t max_outstanding(memory_model::Counter counter, target::Generation generation);

/// Whether it makes a wave see what others have written: those that the memory model ends an acquire with.
bool invalidates_caches(isa::Opcode opcode);

}  // namespace Atoll::hazards

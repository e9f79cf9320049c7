// engine/compiled: see instrumentation.h.
#include "engine/compiled/instrumentation.h"

#include "engine/interpreter/observation.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

Instrumentation Instrumentation::of(const machine::EventMask& watched) {
  return {.synchronisation = watched.synchronisation || watched.barriers,
          .whole_waves = watched.whole_waves,
          .accesses = watched.accesses,
          // Who follows paths or undefined_values wants every access where the wave executes it.
          .loads = watched.accesses && !watched.paths && !watched.undefined_values,
          .filtered_accesses = (watched.filtered_accesses || watched.undefined_values) && !watched.accesses,
          .undefined_values = watched.undefined_values,
          .paths = watched.paths};
}

bool Instrumentation::by_handler(const isa::Instruction& instruction) const {
  if (synchronisation && synchronises(instruction)) return true;
  if (whole_waves && isa::works_on_whole_waves(instruction)) return true;
  return accesses && isa::row_of(instruction).has(isa::flag::memory) && !records(instruction);
}

bool Instrumentation::records(const isa::Instruction& instruction) const {
  return loads && isa::row_of(instruction).has(isa::flag::memory) && isa::lds_copy(instruction) == isa::LdsCopy::none &&
         semantics::memory_access(instruction).kind == semantics::MemoryAccess::Kind::load;
}

bool Instrumentation::must_interpret(const isa::Instruction& instruction) const {
  // While they are under way, every access of LDS counts.
  return paths && (isa::lds_copy(instruction) != isa::LdsCopy::none ||
                   instruction.opcode == isa::Opcode::ds_atomic_async_barrier_arrive_b64);
}

}  // namespace Atoll::engine

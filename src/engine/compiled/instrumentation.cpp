#include "engine/compiled/instrumentation.h"

#include "engine/interpreter/observation.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

Instrumentation Instrumentation::of(const machine::Watched& watched) {
  const machine::EventMask& events = watched.events;
  const machine::InstrumentationRequest& request = watched.instrumentation;
  return {.synchronisation = events.synchronisation || events.barriers,
          .whole_waves = events.whole_waves,
          .accesses = events.accesses,
          // With paths or undefined_values, accesses have to be reported where the wave executes them.
          .loads = events.accesses && !request.paths && !request.undefined_values,
          .filtered_accesses = (request.filtered_accesses || request.undefined_values) && !events.accesses,
          .undefined_values = request.undefined_values,
          .paths = request.paths};
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

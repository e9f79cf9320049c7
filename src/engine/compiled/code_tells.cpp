// engine/compiled: see code_tells.h.
#include "engine/compiled/code_tells.h"

#include "engine/interpreter/observation.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

CodeTells CodeTells::of(const machine::Watched& watched) {
  return {.synchronisation = watched.synchronisation || watched.barriers,
          .whole_waves = watched.whole_waves,
          .accesses = watched.accesses,
          // Who follows paths or definedness wants every access where the wave executes it.
          .loads = watched.accesses && !watched.paths && !watched.definedness,
          .odd_accesses = (watched.odd_accesses || watched.definedness) && !watched.accesses,
          .definedness = watched.definedness,
          .paths = watched.paths};
}

bool CodeTells::by_handler(const isa::Instruction& instruction) const {
  if (synchronisation && synchronises(instruction)) return true;
  if (whole_waves && isa::works_on_whole_waves(instruction)) return true;
  return accesses && isa::row_of(instruction).has(isa::flag::memory) && !records(instruction);
}

bool CodeTells::records(const isa::Instruction& instruction) const {
  return loads && isa::row_of(instruction).has(isa::flag::memory) && isa::lds_copy(instruction) == isa::LdsCopy::none &&
         semantics::memory_access(instruction).kind == semantics::MemoryAccess::Kind::load;
}

bool CodeTells::is_unfit(const isa::Instruction& instruction) const {
  // While they are under way, every access of LDS counts.
  return paths && (isa::lds_copy(instruction) != isa::LdsCopy::none ||
                   instruction.opcode == isa::Opcode::ds_atomic_async_barrier_arrive_b64);
}

}  // namespace Atoll::engine

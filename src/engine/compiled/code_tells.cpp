// engine/compiled: see code_tells.h.
#include "engine/compiled/code_tells.h"

#include "engine/observation.h"
#include "isa/table.h"

namespace Atoll::engine {

CodeTells CodeTells::of(const machine::Watched& watched) {
  return {.synchronisation = watched.synchronisation || watched.barriers,
          .accesses = watched.accesses,
          .odd_accesses = (watched.odd_accesses || watched.definedness) && !watched.accesses,
          .definedness = watched.definedness};
}

bool CodeTells::by_handler(const isa::Instruction& instruction) const {
  if (synchronisation && synchronises(instruction)) return true;
  return accesses && isa::row_of(instruction).has(isa::flag::memory);
}

}  // namespace Atoll::engine

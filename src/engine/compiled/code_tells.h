// engine/compiled: what translated code tells an observer (machine/observer.h).
//
// It is a part of what code is kept by: for each of these there is other code, and for a machine that nobody watches
// that in which there is nothing of it. Instructions that order memory or waves, and for those who want all of them
// accesses, are left to the interpreter's handlers, which tell. Of accesses of which only odd ones are wanted, the code
// itself finds out whether they are ordinary (compiler/memory/odd_accesses.h), and calls the engine if not
// (odd_access.h).
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "machine/observer.h"

namespace Atoll::engine {

struct CodeTells {
  bool synchronisation = false;  ///< instructions that synchronise, by handlers
  bool accesses = false;         ///< all, by handlers
  bool odd_accesses = false;     ///< those that are not ordinary, by itself

  static CodeTells of(const machine::Watched& watched);
  /// Whether an instruction is left to the interpreter's handler, which tells.
  bool by_handler(const isa::Instruction& instruction) const;

  uint8_t bits() const { return static_cast<uint8_t>(int{synchronisation} | accesses << 1 | odd_accesses << 2); }
  static CodeTells from_bits(uint8_t bits) {
    return {.synchronisation = (bits & 1) != 0, .accesses = (bits & 2) != 0, .odd_accesses = (bits & 4) != 0};
  }
};

}  // namespace Atoll::engine

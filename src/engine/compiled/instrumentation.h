// engine/compiled: what translated code tells an observer (machine/observer.h).
//
// It is a part of what code is kept by: for each of these there is other code, and for a machine that nobody watches
// that in which there is nothing of it. Instructions that order memory or waves are left to the interpreter's handlers,
// which report them. So are stores and atomics where all accesses are wanted; loads are recorded by the code itself
// (load_records.h) unless paths or undefined_values are followed. Of accesses of which only odd ones are wanted, the
// code itself finds out whether they are ordinary (compiler/memory/access_filter.h), and calls the engine if not
// (filtered_access.h). Of a wave's path it tells block by block (block_events.h). Where it is followed what is
// undefined, the code finds out whether that reaches it (compiler/lowering/undefined_value_checks.h).
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "machine/observer.h"

namespace Atoll::engine {

struct Instrumentation {
  bool synchronisation = false;    ///< instructions that synchronise, by handlers
  bool whole_waves = false;        ///< instructions that work on all lanes together, by handlers
  bool accesses = false;           ///< all, by handlers, ...
  bool loads = false;              ///< ... but for loads, which it records (load_records.h)
  bool filtered_accesses = false;  ///< those that are not ordinary, by itself
  /// Before instructions that read what is undefined, it leaves the wave to the interpreter, which tells.
  bool undefined_values = false;
  bool paths = false;  ///< of each block as it begins, by itself

  static Instrumentation of(const machine::Watched& watched);
  /// Whether an instruction is left to the interpreter's handler, which tells.
  bool by_handler(const isa::Instruction& instruction) const;
  /// Returns whether translated code records an instruction's accesses, as far as it executes it.
  bool records(const isa::Instruction& instruction) const;
  /// Whether the interpreter has to execute all of the code in which there is such an instruction.
  bool must_interpret(const isa::Instruction& instruction) const;
  /// Whether blocks are executed one after the other, each by all lanes of EXEC.
  bool keeps_blocks() const { return undefined_values || paths; }

  uint8_t bits() const {
    return static_cast<uint8_t>(int{synchronisation} | accesses << 1 | filtered_accesses << 2 | undefined_values << 3 |
                                paths << 4 | whole_waves << 5 | loads << 6);
  }
  static Instrumentation from_bits(uint8_t bits) {
    return {.synchronisation = (bits & 1) != 0,
            .whole_waves = (bits & 32) != 0,
            .accesses = (bits & 2) != 0,
            .loads = (bits & 64) != 0,
            .filtered_accesses = (bits & 4) != 0,
            .undefined_values = (bits & 8) != 0,
            .paths = (bits & 16) != 0};
  }
};

}  // namespace Atoll::engine

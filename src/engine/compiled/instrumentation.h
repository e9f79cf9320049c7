// engine/compiled: selects the events that translated code reports to an observer (machine/observer.h).
//
// The selection is part of the code's key: each combination is compiled separately, and unobserved machines use code
// without instrumentation. Instructions that synchronise memory or waves call the interpreter's handlers, which report
// them. So do stores and atomics if all accesses are observed; loads are recorded inline (load_records.h), unless paths
// or undefined values are observed. If only slow-path accesses are observed, code filters inline
// (compiler/memory/access_filter.h) and calls the engine for the rest (filtered_access.h). Paths are reported per block
// (block_events.h). Reads of undefined values are detected inline (compiler/lowering/undefined_value_checks.h).
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "machine/observer.h"

namespace Atoll::engine {

struct Instrumentation {
  bool synchronisation = false;    ///< synchronising instructions, by handlers
  bool whole_waves = false;        ///< whole-wave instructions, by handlers
  bool accesses = false;           ///< all accesses, by handlers, except ...
  bool loads = false;              ///< ... loads, which are recorded inline (load_records.h)
  bool filtered_accesses = false;  ///< accesses that fail the inline filter
  /// Exits to the interpreter before instructions that read undefined values; the interpreter reports them.
  bool undefined_values = false;
  bool paths = false;  ///< each block at its start

  static Instrumentation of(const machine::Watched& watched);
  /// Returns whether an instruction is left to the interpreter's handler, which reports it.
  bool by_handler(const isa::Instruction& instruction) const;
  /// Returns whether translated code records an instruction's accesses, as far as it executes it.
  bool records(const isa::Instruction& instruction) const;
  /// Returns whether code with this instruction has to be interpreted completely.
  bool must_interpret(const isa::Instruction& instruction) const;
  /// Returns whether blocks execute one after the other for all lanes of EXEC.
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

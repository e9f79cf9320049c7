// machine: instrumentation of compiled code: what a checker has translated code check inline.
//
// Events (observer.h) report what waves do. A report of every access or every instruction is too slow for checkers that
// look for rare cases. A client of the instrumentation has the engine test inline for the common case, and gets a call
// only otherwise:
//
// - an access filter passes accesses to LDS, to scratch and to memory that the client has called ordinary;
// - a bit mask of undefined registers (machine/wave/undefined_registers.h) skips instructions whose inputs are defined;
// - a basic block is one call instead of one for each of its instructions.
//
// A client may also replace values that were loaded. That needs the interpreter.
//
// The calls follow the rules for events: observer.h, "Threads" and "Order".
#pragma once

#include <cstdint>

namespace Atoll::isa {
struct Instruction;
}

namespace Atoll::machine {

struct AccessEvent;
struct UndefinedRegisters;
struct Wave;

/// Kinds of instrumentation.
struct InstrumentationRequest {
  bool filtered_accesses = false;  ///< Observer::access; passes_filter() may suppress ordinary accesses
  /// on_basic_block; Observer::access of instructions that copy between memory and LDS
  bool paths = false;
  /// Observer::instruction and Observer::access, except where translated code finds that all inputs are defined
  /// (AccessFilter::undefined). Of those instructions, accesses are filtered.
  bool undefined_values = false;
  bool loads = false;  ///< override_loaded_values

  bool any() const { return filtered_accesses || paths || undefined_values || loads; }

  InstrumentationRequest& operator|=(const InstrumentationRequest& more) {
    filtered_accesses |= more.filtered_accesses;
    paths |= more.paths;
    undefined_values |= more.undefined_values;
    loads |= more.loads;
    return *this;
  }
};

/// Instructions that a wave executes one after the other.
struct InstructionRange {
  uint64_t begin = 0, end = 0;
  uint8_t banks = 0;  ///< VGPR banks that the instructions address (isa/vgpr_banks.h)
};

/// Accesses that translated code passes without a call: those within this many bytes of a lane's scratch and of the
/// work-group's LDS. LDS accesses also have to be in bounds, and aligned on GPUs before GFX9.
struct AccessFilter {
  uint32_t scratch_bytes = 0;
  uint32_t lds_bytes = UINT32_MAX;
  uint64_t epoch = 0;                       ///< a greater value invalidates all earlier answers of passes_filter()
  UndefinedRegisters* undefined = nullptr;  ///< the wave's, for `undefined_values`; null: not tracked
};

/// A range in which all accesses are ordinary: addresses of memory, or offsets in LDS for an access to LDS.
struct OrdinaryMemory {
  uint64_t begin = 0, end = 0;
};

class InstrumentationClient {
 public:
  virtual ~InstrumentationClient() = default;

  /// Constant over the client's life.
  virtual InstrumentationRequest requested() const = 0;

  /// For `paths`: the wave is about to execute this code, whose instructions are not reported otherwise. `before` is
  /// the number that the client returned for what the wave has executed so far; 0 when the wave begins. Returns the
  /// number that includes the code.
  virtual uint32_t on_basic_block(const Wave& /*wave*/, uint32_t /*before*/, const InstructionRange& /*code*/) {
    return 0;
  }
  /// For `filtered_accesses` and `undefined_values`: called whenever a wave begins or goes on.
  virtual AccessFilter access_filter(const Wave& /*wave*/) { return {}; }
  /// Likewise: returns true if the access needs no report. `around` is then the memory in which that is so for every
  /// access: of the same direction if this one only reads, and aligned for atomics and scalar accesses.
  virtual bool passes_filter(const Wave& /*wave*/, const AccessEvent& /*access*/, OrdinaryMemory& /*around*/) {
    return false;
  }
  /// For `loads`: the wave is about to execute an instruction, whose event follows. The client may replace values that
  /// the wave has loaded: memory may no longer have them, or not yet, while a GPU's caches do.
  virtual void override_loaded_values(Wave& /*wave*/, const isa::Instruction& /*next*/) {}
};

}  // namespace Atoll::machine

// engine: code prepared for a machine that is observed (machine/observer.h).
//
// An instruction of which the observer wants to know gets the handler `observed`, which tells the observer and then
// goes on in the instruction's own handler. What a memory instruction accesses is worked out by a function of its
// family's file (Origin::accesses), from the same addresses as the instruction itself. Code that is not observed has
// none of this: the handlers are the same, and nothing stands before them.
#pragma once

#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "engine/memory/gather_scatter.h"
#include "machine/observer.h"

namespace Atoll::engine {

struct AccessDirection {
  bool reads, writes;  ///< an atomic does both
  bool is_atomic;
};
AccessDirection direction_of(const isa::Instruction& instruction);

/// What a memory instruction tells of its accesses.
class AccessReporter {
 public:
  AccessReporter(machine::Observer& observer, const Wave& wave, const OpMetadata& origin);

  void global(const LaneAddresses& addresses, uint64_t lanes, unsigned bytes) {
    report(machine::Space::global, addresses.of, lanes, bytes, reads_, writes_);
  }
  /// Offsets in LDS, or private addresses.
  void lds(const uint32_t* offsets, uint64_t lanes, unsigned bytes) {
    report_offsets(machine::Space::lds, offsets, lanes, bytes, reads_, writes_);
  }
  void scratch(const uint32_t* offsets, uint64_t lanes, unsigned bytes) {
    report_offsets(machine::Space::scratch, offsets, lanes, bytes, reads_, writes_);
  }
  /// Of the wave as a whole, by scalar memory. `granule`: what addresses are rounded down to.
  void scalar(uint64_t address, unsigned bytes, unsigned granule);
  /// The side in LDS of a copy between memory and LDS, whose other side is told by global() or scratch().
  void lds_side(const uint32_t* offsets, uint64_t lanes, unsigned bytes, bool writes) {
    report_offsets(machine::Space::lds, offsets, lanes, bytes, !writes, writes);
  }
  /// Where semantics' table of memory accesses does not say it.
  void set_direction(bool reads, bool writes, bool is_atomic = false) {
    reads_ = reads;
    writes_ = writes;
    is_atomic_ = is_atomic;
  }

 private:
  void report(machine::Space space, const uint64_t* addresses, uint64_t lanes, unsigned bytes, bool reads, bool writes);
  void report_offsets(machine::Space space, const uint32_t* offsets, uint64_t lanes, unsigned bytes, bool reads,
                      bool writes);

  machine::Observer& observer_;
  const Wave& wave_;
  const OpMetadata& origin_;
  bool reads_ = false, writes_ = false, is_atomic_ = false, is_scalar_ = false, drops_bits_ = false;
};

/// Tells of a wave's path that it is about to execute `code`.
inline void report_path(Wave& wave, const Run& run, const machine::InstructionRange& code) {
  wave.reported = {
      .from = code.begin, .until = code.end, .number = run.client->on_basic_block(wave, wave.reported.number, code)};
}

/// Whether an instruction waits for counters, controls caches, or is a barrier of waves.
bool synchronises(const isa::Instruction& instruction);

/// The handler of an instruction that is observed, whose own is `handler`; that itself when nobody wants to know of it.
Handler observe(OpMetadata& origin, Handler handler, const machine::Watched& watched);

}  // namespace Atoll::engine

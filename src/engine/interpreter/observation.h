// engine: instrumentation of interpreted code for an observed machine (machine/observer.h).
//
// Instructions that the observer subscribes to get the handler `observed`, which reports and then tail-calls the
// instruction's own handler. A function of each family computes a memory instruction's accesses (OpMetadata::accesses)
// from the same addresses as the instruction. Unobserved code has no instrumentation.
#pragma once

#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "engine/memory/gather_scatter.h"
#include "machine/observer.h"

namespace Atoll::engine {

struct AccessDirection {
  bool reads, writes;  ///< both for an atomic
  bool is_atomic;
};
AccessDirection direction_of(const isa::Instruction& instruction);

/// Reports the accesses of a memory instruction.
class AccessReporter {
 public:
  AccessReporter(machine::Observer& observer, const Wave& wave, const OpMetadata& origin);

  void global(const LaneAddresses& addresses, uint64_t lanes, unsigned bytes) {
    report(machine::Space::global, addresses.of, lanes, bytes, reads_, writes_);
  }
  /// Reports accesses at LDS offsets or private addresses.
  void lds(const uint32_t* offsets, uint64_t lanes, unsigned bytes) {
    report_offsets(machine::Space::lds, offsets, lanes, bytes, reads_, writes_);
  }
  void scratch(const uint32_t* offsets, uint64_t lanes, unsigned bytes) {
    report_offsets(machine::Space::scratch, offsets, lanes, bytes, reads_, writes_);
  }
  /// Reports a scalar access by the whole wave. `granule`: alignment that addresses are rounded down to.
  void scalar(uint64_t address, unsigned bytes, unsigned granule);
  /// Reports the LDS side of a copy between memory and LDS; global() or scratch() reports the other side.
  void lds_side(const uint32_t* offsets, uint64_t lanes, unsigned bytes, bool writes) {
    report_offsets(machine::Space::lds, offsets, lanes, bytes, !writes, writes);
  }
  /// Overrides the direction, if semantics' table of memory accesses does not contain it.
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

/// Reports that the wave is about to execute `code`.
inline void report_path(Wave& wave, const Run& run, const machine::InstructionRange& code) {
  wave.reported = {
      .from = code.begin, .until = code.end, .number = run.client->on_basic_block(wave, wave.reported.number, code)};
}

/// True for waits for counters, cache control and barriers.
bool synchronises(const isa::Instruction& instruction);

/// Returns a handler that reports the selected events around `handler`, or `handler` itself if none is selected.
Handler observe(OpMetadata& origin, Handler handler, const machine::Watched& watched);

}  // namespace Atoll::engine

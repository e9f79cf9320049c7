// engine/compiled: loads of translated code, recorded for an observer of all accesses (machine/observer.h,
// EventMask::accesses).
//
// Left to the interpreter's handlers, a load costs some 100 ns, most of it outside of the observer. So translated code
// executes loads itself and stores where their lanes access into records, chunk of lanes by chunk. After the loop over
// the chunks it passes them to the observer, in the order of the program. Stores, atomics and barriers stay with the
// handlers and end such a loop: the observer sees them after the loads before them and ahead of what they do.
//
// A loop that fails is done again by the interpreter for the chunks that have not finished. The records of those that
// have are reported.
#pragma once

#include <cstdint>

#include "engine/compiled/filtered_access.h"
#include "engine/memory/gather_scatter.h"

namespace Atoll::machine {
struct Wave;
}

namespace Atoll::engine {

/// One element of a load, for the whole wave.
struct alignas(64) LoadRecord {
  LaneAddresses addresses;  ///< by lane; unused of even lanes
  uint64_t lanes;           ///< that load
  uint64_t begin;           ///< of even lanes: lane 0's address
  int64_t stride;           ///< of even lanes: bytes from one lane's address to the next lane's
  uint32_t op;              ///< the instruction, an index of LoadRecords::ops
  uint32_t kind;            ///< FilteredAccessKind::bits()

  /// Set in `op` where lanes are even: the same distance from each other.
  static constexpr uint32_t even = uint32_t{1} << 31;
};

struct LoadRecords {
  static constexpr uint32_t max = 16;

  uint32_t count = 0;                   ///< of a loop that is under way
  const MicroOp* const* ops = nullptr;  ///< JitContext::helper_ops of the code that runs
  LoadRecord of[max];
};

/// Called by translated code after a loop: reports the records to the observer.
void report_loads(const machine::Wave* wave, CompiledRun* run);

/// Reports a load whose addresses may be of several memories. Changes these to offsets.
void report_flat_load(const machine::Wave& wave, CompiledRun& run, const OpMetadata& origin,
                      const FilteredAccessKind& kind, LaneAddresses& addresses, uint64_t lanes);

/// Called by translated code: reports a load of scalar memory at an address.
using ScalarLoadFunction = void (*)(const machine::Wave* wave, CompiledRun* run, const MicroOp* op, uint64_t address,
                                    uint32_t kind);
void report_scalar_load(const machine::Wave* wave, CompiledRun* run, const MicroOp* op, uint64_t address,
                        uint32_t kind);

/// Reports the records of the chunks before `Run::chunk`, after a loop has failed there.
void report_loads_before_fault(const machine::Wave& wave, CompiledRun& run);

/// Prepares the calling thread's records for code with these fallbacks.
void begin_loads(CompiledRun& run, const MicroOp* const* ops);

}  // namespace Atoll::engine

// engine/compiled: load records of translated code, for an observer of all accesses (machine/observer.h,
// EventMask::accesses).
//
// A load through the interpreter's handler costs about 100 ns, most of it outside the observer. Translated code
// therefore executes loads inline and records the lanes' addresses, chunk by chunk. After the chunk loop it reports the
// records in program order. Stores, atomics and barriers call the handlers and end a chunk loop, so the observer sees
// them in program order relative to loads.
//
// If a chunk loop fails, the interpreter re-executes the unfinished chunks. The records of finished chunks are
// reported.
#pragma once

#include <cstdint>

#include "engine/compiled/filtered_access.h"
#include "engine/memory/gather_scatter.h"

namespace Atoll::machine {
struct Wave;
}

namespace Atoll::engine {

/// One element of a load for the whole wave.
struct alignas(64) LoadRecord {
  LaneAddresses addresses;  ///< by lane; unused if `even`
  uint64_t lanes;           ///< active lanes
  uint64_t begin;           ///< if `even`: lane 0's address
  int64_t stride;           ///< if `even`: distance between the addresses of adjacent lanes
  uint32_t op;              ///< the instruction: index in LoadRecords::ops
  uint32_t kind;            ///< FilteredAccessKind::bits()

  /// Flag in `op`: the addresses are strided.
  static constexpr uint32_t even = uint32_t{1} << 31;
};

struct LoadRecords {
  static constexpr uint32_t max = 16;

  uint32_t count = 0;                   ///< in the current loop
  const MicroOp* const* ops = nullptr;  ///< JitContext::helper_ops of the running code
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

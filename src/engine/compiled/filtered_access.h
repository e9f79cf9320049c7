// engine/compiled: accesses of translated code that an observer may have something to say about
// (machine/instrumentation_client.h, InstrumentationRequest::filtered_accesses).
//
// Before each access of a chunk, translated code applies the inline access filter (compiler/memory/access_filter.h):
// accesses in LDS, in the lanes' scratch, or in a memory range that the observer has declared ordinary pass. The range
// is cached per place in the code, because a place usually accesses one allocation. All other accesses come here and
// are passed to the observer.
//
// If a region fails, the interpreter re-executes it and reports all its accesses (compiled_engine.cpp). Reports of a
// region are therefore buffered until it ends and sorted into program order. If it fails, the reports of re-executed
// lanes are dropped.
#pragma once

#include <cstdint>

#include "semantics/lanes/lanes.h"

namespace Atoll::machine {
struct Dispatch;
struct Wave;
}  // namespace Atoll::machine

namespace Atoll::engine {

struct CompiledRun;
struct MicroOp;

/// The data of the inline filter.
struct PassedFilter {
  /// Places in the code share ranges by their numbers. Places that only read have even numbers.
  static constexpr unsigned ranges = 64;
  struct Range {
    uint64_t begin = nowhere, size = 0;
  };
  static constexpr uint64_t nowhere = uint64_t{1} << 63 | 1;

  Range memory[ranges];
  uint64_t scratch_bytes = 0;  ///< scratch per lane
  uint32_t lds_bytes = 0;      ///< prefix of the work-group's LDS
  // Valid for this generation:
  uint64_t epoch = 0;
  const machine::Dispatch* dispatch = nullptr;
};

/// Attributes of an access, packed into 32 bits.
struct FilteredAccessKind {
  enum class Space : uint8_t { global, flat, lds, scratch, scalar };
  Space space{};
  uint8_t bytes = 0;        ///< element size
  uint8_t range = 0;        ///< index of PassedFilter's range
  bool drops_bits = false;  ///< AccessEvent::drops_bits
  uint8_t element = 0;      ///< AccessEvent::element, below 128

  constexpr uint32_t bits() const {
    return static_cast<uint32_t>(space) | uint32_t{bytes} << 8 | uint32_t{range} << 16 | uint32_t{drops_bits} << 24 |
           uint32_t{element} << 25;
  }
  static constexpr FilteredAccessKind from_bits(uint32_t bits) {
    return {static_cast<Space>(bits & 0xFF), static_cast<uint8_t>(bits >> 8), static_cast<uint8_t>(bits >> 16),
            (bits >> 24 & 1) != 0, static_cast<uint8_t>(bits >> 25)};
  }
};

/// A buffered report.
struct FilteredAccess {
  const MicroOp* op = nullptr;  ///< the accessing instruction
  FilteredAccessKind kind;
  uint8_t chunk = 0;
  uint32_t lanes = 0, first_lane = 0;
  uint64_t time = 0;               ///< instructions that the chunk has executed in a loop before
  uint64_t region = 0, visit = 0;  ///< Wave::pc and Run::instructions at the start of the region
  uint64_t addresses[semantics::chunk_lanes]{};
};

/// Called by translated code. The access is that of `op`, of the lanes of `lanes` (16 bits) from `first_lane` on;
/// `time` as FilteredAccess has it.
using FilteredAccessFunction = void (*)(const machine::Wave* wave, CompiledRun* run, const MicroOp* op,
                                        const uint64_t* addresses, uint32_t lanes, uint32_t first_lane, uint32_t kind,
                                        uint64_t time);
void filtered_access(const machine::Wave* wave, CompiledRun* run, const MicroOp* op, const uint64_t* addresses,
                     uint32_t lanes, uint32_t first_lane, uint32_t kind, uint64_t time);

/// Before translated code runs the wave.
void request_access_filter(const machine::Wave& wave, CompiledRun& run);
/// Reports the buffered accesses.
void report_filtered_accesses_of(const machine::Wave& wave, CompiledRun& run);

/// Called by translated code, after instructions that access memory: the same.
void accesses_are_over(const machine::Wave* wave, CompiledRun* run);
/// The region at Wave::pc has failed, and is to be done again from the chunk in Run::chunk on.
void forget_filtered_accesses(const machine::Wave& wave, CompiledRun& run);

}  // namespace Atoll::engine

// engine: atomics that a GPU does not perform on fine-grained memory. Such memory is uncached, so its atomics are sent
// to the fabric behind L2. Until GFX11, except for gfx940 and later, the fabric has no floating-point atomics: memory
// is unchanged, and the lane receives 0. Source: ROCm documentation, "Hardware atomics operation support", "Support
// summary" and the meaning of NOP. Integer atomics are performed, as on Infinity Fabric; over PCIe, those other than
// add, exchange and compare-and-swap are also dropped on host memory.
#pragma once

#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "engine/memory/gather_scatter.h"
#include "machine/memory/memory_grain.h"
#include "memory_model/generation.h"
#include "semantics/memory/atomic.h"

namespace Atoll::engine {

/// Returns whether the GPU drops the operation on fine-grained memory.
inline bool drops_on_fine_grained(const target::Processor& processor, semantics::AtomicOperation operation) {
  return semantics::is_floating_point(operation) &&
         memory_model::generation_of(processor).drops_fine_grained_float_atomics;
}

/// Returns the lanes that do not access fine-grained memory, and sets the others' result to 0, for dropped operations.
/// `words`: registers of `result`, which may be null.
inline uint64_t outside_fine_grained(const LaneAddresses& addresses, uint64_t lanes, Row* result, unsigned words) {
  const machine::MemoryGrain& grain = machine::MemoryGrain::of_process();
  uint64_t done = lanes;
  for_each_lane(lanes, [&](unsigned lane) {
    if (!grain.is_fine(addresses.of[lane])) return;
    done &= ~(uint64_t{1} << lane);
    for (unsigned word = 0; result != nullptr && word < words; ++word) result[word][lane] = 0;
  });
  return done;
}

/// Returns the lanes whose atomic is performed, and sets the others' result to 0.
inline uint64_t without_dropped_atomics(const target::Processor& processor, semantics::AtomicOperation operation,
                                        const LaneAddresses& addresses, uint64_t lanes, Row* result, unsigned words) {
  return drops_on_fine_grained(processor, operation) ? outside_fine_grained(addresses, lanes, result, words) : lanes;
}

}  // namespace Atoll::engine

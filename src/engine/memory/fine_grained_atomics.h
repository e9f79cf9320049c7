// engine: atomics that a GPU does not do on fine-grained memory. Such memory is uncached, so its atomics go to the
// fabric behind the L2. Until GFX11, but for gfx940 and later, the fabric has no floating-point atomics: memory keeps
// its value, and the lane gets 0. Source: ROCm documentation, "Hardware atomics operation support", "Support summary"
// and the meaning of NOP. Integer atomics are done, as on a link that has them all (Infinity Fabric): on PCIe, those
// other than add, exchange and compare-and-swap are dropped on host memory, too.
#pragma once

#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "engine/memory/gather_scatter.h"
#include "machine/memory/memory_grain.h"
#include "memory_model/generation.h"
#include "semantics/memory/atomic.h"

namespace Atoll::engine {

/// Whether the GPU does not do the operation on fine-grained memory.
inline bool drops_on_fine_grained(const target::Processor& processor, semantics::AtomicOperation operation) {
  return semantics::is_floating_point(operation) &&
         memory_model::generation_of(processor).drops_fine_grained_float_atomics;
}

/// Returns the lanes that don't access fine-grained memory, and gives the others 0 as their old value. For operations
/// that are dropped there. `words`: registers of `result`, which may be null.
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

/// Returns the lanes whose atomic is done, and gives the others 0 as their old value.
inline uint64_t without_dropped_atomics(const target::Processor& processor, semantics::AtomicOperation operation,
                                        const LaneAddresses& addresses, uint64_t lanes, Row* result, unsigned words) {
  return drops_on_fine_grained(processor, operation) ? outside_fine_grained(addresses, lanes, result, words) : lanes;
}

}  // namespace Atoll::engine

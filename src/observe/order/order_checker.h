// observe: the order checker simulates caches as an adversary. A load returns any value that the GPU's caches and
// outstanding stores permit (cache_hierarchy.h), chosen by a seed. Programs that work only because Atoll's memory is
// sequentially consistent then fail. If an ordinary load returns a stale value, the report names what is missing: the
// wait or write-back after the store, or the invalidation before the load.
//
// Memory holds the last stored values in execution order. For each dword the checker keeps the replaced values, with
// the store's wave, place and time. From the waits and write-backs that followed it computes when a store is guaranteed
// to be visible. A load may return the value before any store that is not guaranteed to be visible, but nothing older
// than what its work-group has already read there. The stale value is delivered when the wave waits for the load: as of
// the load's issue, or sometimes as of the wait.
//
// Stores may also be delayed: when its wave waits for it, a store may be ordered after later stores of other waves, if
// no wave can have observed it.
//
// Only vector loads and stores are simulated, not LDS and scalar loads. A dispatch sees all stores of earlier
// dispatches.
#pragma once

#include <cstdint>
#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_order_checker(Findings& findings, uint64_t seed);

}  // namespace Atoll::observe

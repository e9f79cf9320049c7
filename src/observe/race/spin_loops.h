// observe: loops that wait for others by loading the same place again and again.
//
// An instruction does not tell whether a load is an atomic one: in LDS, and in memory for the work-group's scope, both
// are the same. One that a loop does nothing else but repeat waits for what others store, and acquires what they have
// released: compilers take an ordinary load out of such a loop. (Jannesari and Tichy, "Identifying ad-hoc
// synchronization for enhanced race detection", IPDPS 2010.)
#pragma once

#include <cstdint>
#include <span>

#include "target/processor.h"

namespace Atoll::observe {

/// Whether a load, or an atomic, is the only access of a short loop, and of the same place in each round. `code`: from
/// some instruction on, to the code's end, where the access is `offset` bytes into it; what is before the access may be
/// data.
bool spins(std::span<const uint8_t> code, uint64_t offset, const target::Processor& processor, unsigned wave_size);

}  // namespace Atoll::observe

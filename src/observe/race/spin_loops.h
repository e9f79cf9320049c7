// observe: recognises spin loops, which wait for other waves by repeatedly loading the same location.
//
// The encoding does not distinguish atomic from ordinary loads in LDS, or in memory at work-group scope. A load that a
// loop only repeats waits for a store of another wave, so it acquires. Compilers would hoist an ordinary load out of
// such a loop. (Jannesari and Tichy, "Identifying ad-hoc synchronization for enhanced race detection", IPDPS 2010.)
#pragma once

#include <cstdint>
#include <span>

#include "target/processor.h"

namespace Atoll::observe {

/// Returns whether a load or atomic is the only access of a short loop and reads the same location in each iteration.
/// `code` extends from some earlier instruction to the end of the code, with the access at `offset`. Bytes before the
/// access may be data.
bool spins(std::span<const uint8_t> code, uint64_t offset, const target::Processor& processor, unsigned wave_size);

}  // namespace Atoll::observe

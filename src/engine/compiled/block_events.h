// engine/compiled: reports the path of a wave from translated code (machine/instrumentation_client.h,
// InstrumentationRequest::paths): each block, as it begins.
//
// After a block has been reported, the wave may leave it in the middle, for the interpreter or at a fault.
// Wave::reported then holds the rest of the block, which the interpreter does not report again (observation.cpp).
#pragma once

#include <cstdint>

namespace Atoll::machine {
struct Wave;
}

namespace Atoll::engine {

struct Run;

/// Called by translated code before it executes a block of that many bytes.
using PathFunction = void (*)(machine::Wave* wave, Run* run, uint64_t begin, uint32_t bytes, uint32_t banks);
void block_begins(machine::Wave* wave, Run* run, uint64_t begin, uint32_t bytes, uint32_t banks);

}  // namespace Atoll::engine

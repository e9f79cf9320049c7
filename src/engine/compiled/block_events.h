// engine/compiled: translated code tells the path of a wave (machine/instrumentation_client.h,
// InstrumentationRequest::paths): each block, as it begins.
//
// A block that the code has told of may be left in the middle: for the interpreter, or as it fails. What is left of it
// is in Wave::told until then, and the interpreter does not tell of that again (observation.cpp).
#pragma once

#include <cstdint>

namespace Atoll::machine {
struct Wave;
}

namespace Atoll::engine {

struct Run;

/// Called by translated code, which is about to execute a block of so many bytes.
using PathFunction = void (*)(machine::Wave* wave, Run* run, uint64_t begin, uint32_t bytes, uint32_t banks);
void block_begins(machine::Wave* wave, Run* run, uint64_t begin, uint32_t bytes, uint32_t banks);

}  // namespace Atoll::engine

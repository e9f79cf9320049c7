// engine/compiled: a fingerprint of the build. Translated code depends on the layout of Wave and on the semantics of
// instructions, so the engine, the compiler and cached code must come from the same sources.
#pragma once

#include <cstdint>

namespace Atoll::engine {

/// Returns a hash of the sources and options of all rooms up to the compiler (cmake/Fingerprint.cmake).
uint64_t build_fingerprint();

}  // namespace Atoll::engine

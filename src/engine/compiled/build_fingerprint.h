// engine/compiled: which Atoll this is. Translated code knows where a Wave keeps what and what each instruction does,
// so engine and compiler must be built from the same sources, and code in the cache too.
#pragma once

#include <cstdint>

namespace Atoll::engine {

/// Of the sources and options that the rooms up to the compiler were built from (cmake/Fingerprint.cmake).
uint64_t build_fingerprint();

}  // namespace Atoll::engine

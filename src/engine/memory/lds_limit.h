// engine: the LDS limit in M0 until GFX8.
//
// DS instructions access LDS only up to the limit in M0; compilers write -1 to it first. Flat instructions are not
// limited here, because compilers do not set M0 for them. Source: GCN3 ISA guide, "M0" (bits 16:0 are the size that LDS
// addresses are checked against).
#pragma once

#include <algorithm>

#include "machine/wave/wave.h"
#include "target/processor.h"

namespace Atoll::engine {

constexpr bool lds_limit_in_m0(const target::Processor& processor) {
  return processor.generation < target::Generation::gfx9;
}

constexpr uint32_t lds_limit_bits = 0x1'FFFF;  ///< bits in M0

/// Returns the size of LDS that the wave's DS instructions can access.
inline uint32_t lds_reach(const machine::Wave& wave, const target::Processor& processor) {
  const uint32_t bytes = wave.work_group->lds_bytes;
  return lds_limit_in_m0(processor) ? std::min(bytes, wave.scalar[isa::scalar::m0] & lds_limit_bits) : bytes;
}

}  // namespace Atoll::engine

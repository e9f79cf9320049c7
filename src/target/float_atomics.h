// target: what becomes of denormals in float atomics on memory.
#pragma once

#include "target/processor.h"

namespace Atoll::target {

/// Whether additions of f32 keep denormals (LLVM's feature memory-atomic-fadd-f32-denormal-support).
constexpr bool memory_sums_keep_denormals(const Processor& processor) {
  using enum Generation;
  return processor.generation == gfx940 || processor.generation == gfx950 || processor.generation >= gfx11;
}

/// Whether minimum, maximum and compare-and-swap follow MODE ("RDNA3" ISA guide, "Float Memory Atomics"). On CDNA they
/// keep denormals (CDNA3 ISA guide, "Denormal (Subnormal) Handling").
constexpr bool memory_compares_use_mode(const Processor& processor) {
  return processor.generation >= Generation::gfx10;
}

}  // namespace Atoll::target

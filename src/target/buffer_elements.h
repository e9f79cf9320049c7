// target: how buffers are addressed, as far as a processor decides it.
#pragma once

#include "target/processor.h"

namespace Atoll::target {

/// Whether word 3 of a buffer resource says it, in ELEMENT_SIZE (ISA guides, "Buffer Resource Descriptor"): until GFX8.
/// After that it is 4 bytes, until SWIZZLE_ENABLE says it on GFX11.
constexpr bool has_element_size(const Processor& processor) { return processor.generation < Generation::gfx9; }

/// Whether a lane's offset plus the instruction's wraps around at 32 bits. Measured on gfx950
/// (ROCm/rocm-systems#10928), and LLVM relies on it for scratch from GFX9 on. On GFX12.5 the sum has 45 bits (CDNA5 ISA
/// guide, "Range Checking").
constexpr bool has_wrapping_buffer_offsets(const Processor& processor) {
  return processor.generation >= Generation::gfx9 && processor.generation < Generation::gfx12_5;
}

/// Whether ADD_TID_ENABLE without an index turns range checking off: on CDNA (measured on gfx950,
/// ROCm/rocm-systems#10928).
constexpr bool leaves_thread_buffers_unchecked(const Processor& processor) {
  return processor.has(Feature::mai_insts) && processor.generation < Generation::gfx10;
}

}  // namespace Atoll::target

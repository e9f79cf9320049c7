// target: how large the elements of swizzled buffers are.
#pragma once

#include "target/processor.h"

namespace Atoll::target {

/// Whether word 3 of a buffer resource says it, in ELEMENT_SIZE (ISA guides, "Buffer Resource Descriptor"): until GFX8.
/// After that it is 4 bytes, until SWIZZLE_ENABLE says it on GFX11.
constexpr bool has_element_size(const Processor& processor) { return processor.generation < Generation::gfx9; }

}  // namespace Atoll::target

// isa: from bytes to Instruction.
#pragma once

#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::isa {

/// Decodes the instruction at the start of `bytes` for `processor`. The error says that no instruction has these
/// bytes, that they end in the middle of one, or that the processor's generation is not implemented. Lane masks have
/// the width of `wave_size` (32, 64, or 0 for the smaller one that the processor has).
support::Result<Instruction> decode(std::span<const uint8_t> bytes, const target::Processor& processor,
                                    unsigned wave_size = 0);

}  // namespace Atoll::isa

// engine: decoding code that is to run: what an instruction does can depend on the GPU, not only on the code.
#pragma once

#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "support/error.h"
#include "target/target.h"

namespace Atoll::engine {

/// The instruction that `code` begins with, as the target executes it.
support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target);

}  // namespace Atoll::engine

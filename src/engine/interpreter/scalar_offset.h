// engine: immediate offsets of scalar memory instructions. Source: ISA guides of Southern Islands and Sea Islands,
// "SMRD": offsets count dwords, and bytes from GFX8 on.
#pragma once

#include <cstdint>

#include "isa/instruction.h"

namespace Atoll::engine {

/// Returns the offset in bytes.
constexpr int64_t scalar_offset(const isa::Instruction& instruction) {
  if (instruction.generation >= target::Generation::gfx8) return instruction.offset;
  return int64_t{static_cast<uint32_t>(instruction.offset)} * 4;
}

}  // namespace Atoll::engine

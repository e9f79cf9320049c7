// engine/compiled: the mode that code is translated for: of what a wave is in, all that decides what its instructions
// do.
#pragma once

#include <cstdint>

#include "engine/interpreter/hardware_register.h"
#include "engine/vgpr_banks.h"
#include "isa/instruction.h"
#include "machine/wave/wave.h"
#include "semantics/lanes/lanes.h"

namespace Atoll::engine {

struct CodeMode {
  semantics::FloatMode floats;
  uint8_t banks = 0;  ///< of VGPRs (vgpr_banks.h); 0 on processors without

  friend bool operator==(const CodeMode&, const CodeMode&) = default;
};

/// `has_banks`: whether the wave is of a processor with banks.
inline CodeMode mode_of(const machine::Wave& wave, bool has_banks) {
  return {.floats = wave.float_mode, .banks = has_banks ? vgpr_banks(wave) : uint8_t{0}};
}

/// Whether an instruction sets the mode to what is known beforehand, and does nothing else.
inline bool sets_code_mode(const isa::Instruction& instruction) {
  return sets_float_mode(instruction) || instruction.opcode == isa::Opcode::s_set_vgpr_msb;
}

}  // namespace Atoll::engine

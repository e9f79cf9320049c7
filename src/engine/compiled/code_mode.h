// engine/compiled: the wave modes that code is specialised for: all mode bits that change what instructions do.
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
  uint8_t banks = 0;  ///< VGPR banks (vgpr_banks.h); 0 if the processor has none

  friend bool operator==(const CodeMode&, const CodeMode&) = default;
};

/// `has_banks`: the wave's processor has VGPR banks.
inline CodeMode mode_of(const machine::Wave& wave, bool has_banks) {
  return {.floats = wave.float_mode, .banks = has_banks ? vgpr_banks(wave) : uint8_t{0}};
}

/// True if an instruction only sets the mode, to constants.
inline bool sets_code_mode(const isa::Instruction& instruction) {
  return sets_float_mode(instruction) || instruction.opcode == isa::Opcode::s_set_vgpr_msb;
}

}  // namespace Atoll::engine

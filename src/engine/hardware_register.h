// engine: what s_getreg_b32 reads, and what becomes of the floating-point mode by s_setreg_b32 and s_setreg_imm32_b32.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "machine/wave.h"

namespace Atoll::engine {

/// Whether there is the hardware register that an s_getreg_b32's SIMM16 names.
bool has_hardware_register(uint16_t immediate);
/// The bits of it that the SIMM16 names. It must be there.
uint32_t hardware_register(const machine::Wave* wave, uint16_t immediate);

/// The floating-point mode of a wave after an instruction. Null where that depends on the wave's registers.
std::optional<semantics::FloatMode> float_mode_after(const isa::Instruction& instruction,
                                                      const semantics::FloatMode& before);
/// Whether an instruction writes constants to the floating-point mode, and nothing else.
bool sets_float_mode(const isa::Instruction& instruction);

}  // namespace Atoll::engine

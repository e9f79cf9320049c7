// engine: what s_getreg_b32 reads, and what becomes of the floating-point mode by s_setreg_b32 and s_setreg_imm32_b32.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "machine/wave/wave.h"

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

/// The banks of VGPRs (vgpr_banks.h) after an instruction. Null where that depends on the wave's registers.
std::optional<uint8_t> banks_after(const isa::Instruction& instruction, uint8_t before);

/// Bits of MODE, and what they become.
struct ModeBits {
  uint32_t mask, value;
};
/// What an instruction writes that writes constants to bits of MODE which nothing depends on but who reads them: on
/// GFX12.5, where kernels begin with it, those from 24 on. Null: it is another instruction. (banks_after() is to be
/// asked, too.)
std::optional<ModeBits> inert_mode_bits(const isa::Instruction& instruction);

}  // namespace Atoll::engine

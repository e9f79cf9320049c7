// engine: hardware registers: s_getreg_b32, and the effect of s_setreg_b32 and s_setreg_imm32_b32 on MODE.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "machine/wave/wave.h"

namespace Atoll::engine {

/// Returns whether the hardware register in an s_getreg_b32's SIMM16 exists.
bool has_hardware_register(uint16_t immediate);
/// Returns the bit field that the SIMM16 selects. The register must exist.
uint32_t hardware_register(const machine::Wave* wave, uint16_t immediate);

/// Returns a wave's floating-point mode after an instruction; nullopt if it depends on register contents.
std::optional<semantics::FloatMode> float_mode_after(const isa::Instruction& instruction,
                                                     const semantics::FloatMode& before);
/// Returns whether an instruction only writes constants to the floating-point mode.
bool sets_float_mode(const isa::Instruction& instruction);

/// Returns the VGPR banks (vgpr_banks.h) after an instruction; nullopt if they depend on register contents.
std::optional<uint8_t> banks_after(const isa::Instruction& instruction, uint8_t before);

/// A mask of MODE and the new value of its bits.
struct ModeBits {
  uint32_t mask, value;
};
/// Returns the constant that an instruction writes to MODE bits which no other instruction depends on: bits 24 and up
/// on GFX12.5, where kernels start with such a write. nullopt for other instructions. banks_after() is separate.
std::optional<ModeBits> inert_mode_bits(const isa::Instruction& instruction);

}  // namespace Atoll::engine

// engine: the bits of MODE that select VGPR banks (GFX12.5).
//
// s_set_vgpr_msb holds the banks of the first, second and third source and the destination, from the lowest bits up.
// MODE holds them from bit 12 on, with the destination first (LLVM's AMDGPULowerVGPREncoding,
// convertModeToSetregFormat). Prepared code is kept per choice of banks (code_cache.h).
#pragma once

#include <bit>
#include <cstdint>

#include "machine/wave/wave.h"
#include "target/processor.h"

namespace Atoll::engine {

constexpr unsigned banks_in_mode = 12;
constexpr uint32_t banks_mask = 0xFFu << banks_in_mode;

/// Returns whether waves of the processor have more VGPRs than an instruction can encode.
constexpr bool has_vgpr_banks(const target::Processor& processor) {
  return processor.generation >= target::Generation::gfx12_5;
}

/// Returns the banks in a value of MODE, in the order of s_set_vgpr_msb.
constexpr uint8_t banks_in(uint32_t mode) { return std::rotr(static_cast<uint8_t>(mode >> banks_in_mode), 2); }

/// Returns the banks that s_set_vgpr_msb or s_setreg selected for a wave of such a processor.
inline uint8_t vgpr_banks(const machine::Wave& wave) { return banks_in(wave.mode); }

/// Returns MODE with these banks.
constexpr uint32_t with_banks(uint32_t mode, uint8_t banks) {
  return (mode & ~banks_mask) | uint32_t{std::rotl(banks, 2)} << banks_in_mode;
}

}  // namespace Atoll::engine

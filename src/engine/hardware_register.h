// engine: what s_getreg_b32 reads.
#pragma once

#include <cstdint>

#include "machine/wave.h"

namespace Atoll::engine {

/// Whether there is the hardware register that an s_getreg_b32's SIMM16 names.
bool has_hardware_register(uint16_t immediate);
/// The bits of it that the SIMM16 names. It must be there.
uint32_t hardware_register(const machine::Wave* wave, uint16_t immediate);

}  // namespace Atoll::engine

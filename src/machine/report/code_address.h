// machine: the address of an instruction of a GPU's loaded code, for reports.
#pragma once

#include <cstdint>

#include "debug_info/code_address.h"
#include "machine/wave/wave.h"

namespace Atoll::machine {

class Gpu;

/// Returns the address of the instruction at `pc`. Resolving it later needs neither the GPU nor the loaded code. Safe
/// inside guarded(): of guest memory it reads only code.
debug_info::CodeAddress code_address(const Gpu& gpu, uint64_t pc, unsigned wave_size);

/// Returns the address of an instruction that a wave executes.
debug_info::CodeAddress code_address(const Wave& wave, uint64_t pc);

}  // namespace Atoll::machine

// observe: how undefined bits go through a wave's registers as it executes instructions that touch no memory.
//
// What an instruction does with a lane's bits is undefined_bits.h's; here is which registers it reads and writes, which
// lanes (EXEC, DPP, permutes) and which parts of them (halves, SDWA, packed values).
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "machine/wave/wave.h"
#include "observe/shadow/register_shadow.h"

namespace Atoll::observe {

struct UndefinedLanes {
  uint64_t lanes = 0;
  uint32_t origin = 0;
};

/// Before the wave executes the instruction. Nothing, or the lanes for which EXEC becomes undefined, which counts as
/// defined from then on.
std::optional<UndefinedLanes> follow(const machine::Wave& wave, const isa::Instruction& instruction,
                                     RegisterShadow& registers);

/// All that the instruction writes counts as written, under EXEC where it works on lanes.
void define_results(const machine::Wave& wave, const isa::Instruction& instruction, RegisterShadow& registers);

/// ds_swizzle_b32, ds_permute_b32, ds_bpermute_b32, and what they do.
bool moves_between_lanes(isa::Opcode opcode);
void move_between_lanes(const machine::Wave& wave, const isa::Instruction& instruction, RegisterShadow& registers);

}  // namespace Atoll::observe

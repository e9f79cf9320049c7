// observe: propagates uninitialized bits through a wave's registers for instructions that do not access memory.
//
// undefined_bits.h has the per-lane rules. This file determines which registers are read and written, for which lanes
// (EXEC, DPP, permutes) and which parts (halves, SDWA, packed values).
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

/// Called before the wave executes the instruction. Returns the lanes for which EXEC becomes undefined, if any. EXEC
/// counts as defined from then on.
std::optional<UndefinedLanes> follow(const machine::Wave& wave, const isa::Instruction& instruction,
                                     RegisterShadow& registers);

/// Marks all results of the instruction as initialized, under EXEC for vector instructions.
void define_results(const machine::Wave& wave, const isa::Instruction& instruction, RegisterShadow& registers);

/// True for ds_swizzle_b32, ds_permute_b32 and ds_bpermute_b32.
bool moves_between_lanes(isa::Opcode opcode);
void move_between_lanes(const machine::Wave& wave, const isa::Instruction& instruction, RegisterShadow& registers);

}  // namespace Atoll::observe

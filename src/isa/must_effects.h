// isa: registers that every execution of an instruction reads or writes. Reports rely on these, where liveness relies
// on those that some execution may (effects.h). The sets differ where M0 selects a register, and where the resource or
// the encoding leaves open how many registers an image's address has.
#pragma once

#include "isa/effects.h"

namespace Atoll::isa {

Effects must_effects_of(const Instruction& instruction);

}  // namespace Atoll::isa

// codegen: removes instructions of the SSA form whose results nothing reads.
//
// Selection folds address arithmetic into memory instructions, which leaves the arithmetic behind.
#pragma once

#include "codegen/machine_ir.h"

namespace Atoll::codegen {

void eliminate_dead_code(MachineFunction& function);

}  // namespace Atoll::codegen

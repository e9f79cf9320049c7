// codegen: out of SSA form, and physical registers for virtual ones.
//
// Phis become parallel copies before the terminators of the predecessors. Registers are allocated by linear scan over
// live intervals with holes (Wimmer and Mössenböck 2005): intervals in the order of their begins, each to the lowest
// tuple that is free as long as it lives; a copy's result takes the source's registers if it can. There is no spilling
// yet: a function that needs more registers than the processor has is an error by name.
#pragma once

#include "codegen/machine_ir.h"
#include "support/error.h"

namespace Atoll::codegen {

void eliminate_phis(MachineFunction& function);
support::Result<void> allocate_registers(MachineFunction& function);
/// Makes moves of the copies and tuples of a function with physical registers.
void expand_copies(MachineFunction& function);

}  // namespace Atoll::codegen

// observe: the init checker reports results that depend on uninitialized memory or registers.
//
// GPU allocations, LDS, scratch and a wave's registers start uninitialized. Loading, moving, storing and computing with
// uninitialized values is not reported: padding is copied, and compilers evaluate both sides of a select. A use is
// reported when a branch, EXEC, an address or an atomic depends on the value, or when all data that the runtime copies
// to the host is uninitialized. The checker therefore keeps shadow bits for registers (undefined_bits.h) and memory
// (shadow_memory.h), per lane under EXEC.
//
// If an instruction's effect on the source bits is not modelled, its result counts as initialized: matrix instructions
// propagate only their accumulator, and image instructions are not tracked. Host memory, variables of the code and
// kernel arguments count as initialized.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_init_checker(Findings& findings);

}  // namespace Atoll::observe

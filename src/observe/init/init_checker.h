// observe: the init checker: what depends on memory and registers that nobody has written.
//
// Memory of GPUs that a program allocates, LDS, scratch and a wave's registers begin without a value. What nobody has
// written may be loaded, moved, stored and computed with: padding is copied, and both sides of a choice are worked out.
// It matters once a branch, EXEC, an address or an atomic depends on it, or when all that the runtime copies from a GPU
// to the host is such. So it is followed, bit by bit, through registers (undefined_bits.h) and memory
// (shadow_memory.h), lane by lane under EXEC.
//
// Where it is not known what an instruction does with its sources' bits, its result counts as written: matrix
// instructions follow their accumulator alone, images are not followed. Memory of the host's counts as
// written, as do variables of the code and kernels' arguments.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_init_checker(Findings& findings);

}  // namespace Atoll::observe

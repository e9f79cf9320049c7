// engine: floating-point exceptions.
//
// Kernels that read TRAPSTS, or enable exceptions in MODE, use a separate CodeCache. There, operations that can raise
// an exception also compute its flags (semantics/float/exceptions.h). Other code has no overhead.
#pragma once

#include "engine/interpreter/micro_op.h"
#include "semantics/float/exceptions.h"

namespace Atoll::engine {

/// Sets raised exceptions in TRAPSTS. Returns false if one of them is enabled and the wave has faulted.
bool raise_exceptions(Wave& wave, const MicroOp& op, const semantics::DoneOperation& done, uint64_t exec);

}  // namespace Atoll::engine

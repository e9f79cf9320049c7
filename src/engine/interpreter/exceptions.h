// engine: floating-point exceptions of waves that look for them.
//
// A kernel that reads TRAPSTS, or that enables exceptions in MODE, is interpreted from code of its own (CodeCache), in
// which each operation that may raise an exception finds out whether it has (semantics/float/exceptions.h). No other
// code knows of exceptions.
#pragma once

#include "engine/interpreter/micro_op.h"
#include "semantics/float/exceptions.h"

namespace Atoll::engine {

/// Notes in TRAPSTS what the operation has raised. False: one of that is enabled, and the wave has the fault.
bool raise_exceptions(Wave& wave, const MicroOp& op, const semantics::DoneOperation& done, uint64_t exec);

}  // namespace Atoll::engine

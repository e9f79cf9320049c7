// engine: the modes in which a wave runs apart from the chain of handlers (register_index.cpp).
#pragma once

#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

/// Whether MODE has VGPR indexing or VSKIP on.
bool runs_apart(const Wave& wave);

/// Ends the chain so that the wave goes on at `pc` as its MODE now says: the handler returns after it.
void go_apart(Wave& wave, uint64_t pc, Run& run);

/// Runs the wave from its PC until the modes are off, it stops, or its budget is used up. Run::resume tells whether it
/// is to go on in the chain. With `steps` it goes on in any mode: the budget is looked at after each instruction, where
/// the chain looks at it in branches.
void run_apart(Wave& wave, Run& run, bool steps = false);

}  // namespace Atoll::engine

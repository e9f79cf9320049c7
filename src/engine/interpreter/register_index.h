// engine: wave modes that are executed outside the handler chain: VGPR indexing and VSKIP.
#pragma once

#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

/// Returns whether MODE has VGPR indexing or VSKIP on.
bool runs_apart(const Wave& wave);

/// Ends the chain, so that the wave continues at `pc` in its new mode. The handler must return afterwards.
void go_apart(Wave& wave, uint64_t pc, Run& run);

/// Runs the wave from its PC until the modes are off, it stops, or its budget is used up. Run::resume: continue in the
/// chain. With `steps` it continues in any mode and checks the budget after each instruction, whereas the chain checks
/// it at branches.
void run_apart(Wave& wave, Run& run, bool steps = false);

}  // namespace Atoll::engine

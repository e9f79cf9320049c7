// observe: the wait checker reports registers that are used before the load into them is guaranteed to be complete.
//
// A GPU's loads complete asynchronously. Counters count outstanding operations, and code waits for them to fall
// (s_waitcnt and its successors). In Atoll loads complete at once, so a missing wait has no effect here but breaks the
// program on hardware.
//
// Each wave has a scoreboard: a queue of outstanding operations per counter, which complete in order. Scalar memory
// loads complete out of order, so only a wait for zero orders them. A flat access counts in two queues, and its result
// is available when its place in the vector memory queue is reached. Compilers wait only for that if the access cannot
// be to LDS. Sources: the ISA guides' "S_WAITCNT" and "Data dependency resolution"; user guide, "Memory
// Model". Software hazards are also checked (hazards/hazard_table.h, hazards/matrix_hazards.h). All of this depends
// only on the wave's instruction sequence, so results are cached per path (wait_paths.h). Not checked: expcnt.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_wait_checker(Findings& findings);

}  // namespace Atoll::observe

// observe: the wait checker: registers that are used before what fills them is certain to have arrived.
//
// A GPU's loads complete later. Counters tell how many are under way, and code waits for them to fall (s_waitcnt and
// its successors). Atoll's loads complete at once, so that a wait that is missing changes nothing here, and everything
// there.
//
// Each wave's operations under way stand in a queue for each counter, in which they complete in order; loads of scalar
// memory complete in any order, so that only a wait for none helps them. A flat access counts in two queues, and what
// it loads is there when its place in that of vector memory is reached: compilers that know that it is not of LDS wait
// for no more. Sources: the ISA guides' "S_WAITCNT" and "Data dependency resolution"; user guide, "Memory Model". Wait
// states that code has to leave by itself are looked at beside that (hazards/hazard_table.h, hazards/matrix_hazards.h).
// All of it follows from the order of a wave's instructions, so it is looked up by that (wait_paths.h). Left out:
// expcnt.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_wait_checker(Findings& findings);

}  // namespace Atoll::observe

// observe: the sync checker reports divergent barriers, and whole-wave operations that are executed while some lanes
// are inactive.
//
// A GPU releases a barrier when all waves that have not ended have arrived, at whichever barrier and with whichever
// lanes. A barrier in divergent code therefore often seems to work but orders less than intended. Matrix instructions
// and transposing loads use all lanes regardless of EXEC; languages require that all lanes reach them.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_sync_checker(Findings& findings);

}  // namespace Atoll::observe

// observe: the sync checker: barriers of a work-group that not all of its work-items reach, and what a wave does as a
// whole while some of its lanes are elsewhere.
//
// A GPU lets the waves of a work-group go on when all that have not ended have arrived, at whichever barrier and with
// whichever lanes. So a barrier in divergent code often seems to work, and then orders less than was meant. Matrices
// and loads that transpose take what all lanes hold, whatever EXEC has; language and compiler have all of them come
// there.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

std::unique_ptr<Checker> make_sync_checker(Findings& findings);

}  // namespace Atoll::observe

// observe: lanes of one store that race with each other.
#pragma once

#include "machine/observer.h"
#include "observe/report/findings.h"

namespace Atoll::observe {

/// Reports it if several lanes of a store have different values for the same place.
void check_lanes(Findings& findings, const machine::Wave& wave, const machine::AccessEvent& access);

}  // namespace Atoll::observe

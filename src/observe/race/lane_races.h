// observe: races between the lanes of one store.
#pragma once

#include "machine/observer.h"
#include "observe/report/findings.h"

namespace Atoll::observe {

/// Reports lanes of a store that write different values to the same place.
void check_lanes(Findings& findings, const machine::Wave& wave, const machine::AccessEvent& access);

}  // namespace Atoll::observe

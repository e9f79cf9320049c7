// machine: formats the report of a faulted wave.
#pragma once

#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"

namespace Atoll::machine {

/// Everything that can be said about the fault of `wave`, whose registers are still as the faulting instruction found
/// them. Slow: decodes, looks up symbols and reads DWARF.
FaultReport report_fault(const Wave& wave);

}  // namespace Atoll::machine

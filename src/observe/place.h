// observe: where in a kernel something happened, for a finding.
#pragma once

#include <cstdint>

#include "machine/observer.h"
#include "machine/wave.h"
#include "observe/finding.h"

namespace Atoll::observe {

/// Fills in the finding's kernel, function, instruction, source line, work-group and work-item. Slow: disassembles and
/// reads DWARF. May be called inside guarded(): it touches no memory of the guest but code.
void set_place(Finding& finding, const machine::Wave& wave, uint64_t pc, unsigned lane);

/// "reads", "writes", "does an atomic on"; the same pointer for the same words.
const char* verb_of(const machine::AccessEvent& access);

}  // namespace Atoll::observe

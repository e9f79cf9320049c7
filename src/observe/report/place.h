// observe: determines the place in a kernel that a finding refers to.
#pragma once

#include <cstdint>

#include "machine/observer.h"
#include "machine/wave/wave.h"
#include "observe/report/finding.h"

namespace Atoll::machine {
class Gpu;
}

namespace Atoll::observe {

/// Fills in the finding's kernel, function, instruction, source line, work-group and work-item. Slow: disassembles and
/// reads DWARF. Safe inside guarded(): of guest memory it reads only code.
void set_place(Finding& finding, const machine::Wave& wave, uint64_t pc, unsigned lane);

/// Sets the place of code of a GPU, without work-group and work-item.
void set_code_place(Finding& finding, const machine::Gpu& gpu, uint64_t pc, unsigned wave_size);

/// Returns "reads", "writes" or "does an atomic on". The same text always has the same pointer.
const char* verb_of(const machine::AccessEvent& access);

}  // namespace Atoll::observe

// observe: where in a kernel something happened, for a finding.
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
/// reads DWARF. May be called inside guarded(): it touches no memory of the guest but code.
void set_place(Finding& finding, const machine::Wave& wave, uint64_t pc, unsigned lane);

/// The same without work-group and work-item, of code of a GPU.
void set_code_place(Finding& finding, const machine::Gpu& gpu, uint64_t pc, unsigned wave_size);

/// "reads", "writes", "does an atomic on"; the same pointer for the same words.
const char* verb_of(const machine::AccessEvent& access);

}  // namespace Atoll::observe

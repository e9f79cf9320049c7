// observe: states which instruction and work-item a finding refers to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/observer.h"
#include "machine/report/code_address.h"
#include "machine/wave/wave.h"
#include "observe/report/finding.h"

namespace Atoll::observe {

/// Fills in the finding's kernel, code address, work-group and work-item. Safe inside guarded(): of guest memory it
/// reads only code.
void set_place(Finding& finding, const machine::Wave& wave, uint64_t pc, unsigned lane);

/// Returns the source line as findings print it, or an empty string.
std::string source_of(const debug_info::CodePlace& place);
/// Returns the instruction and the source line of another instruction that a finding refers to, in this order.
std::vector<std::string> instruction_and_source(const debug_info::CodePlace& place);
/// Returns the source line and the instruction, in this order.
std::vector<std::string> source_and_instruction(const debug_info::CodePlace& place);

/// Returns "reads", "writes" or "does an atomic on". The same text always has the same pointer.
const char* verb_of(const machine::AccessEvent& access);

}  // namespace Atoll::observe

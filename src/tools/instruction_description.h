// tools: a line that says what an instruction does, for `atoll isa`.
//
// Most of the 2,000 names are put together from parts: an operation, types, and for memory where it goes and how. So
// what is data is a phrase for each part; the line is put together as the name is. In it D is the result, S0 to S2 are
// the sources in the order of the text, and types are left to the list of operands.
#pragma once

#include <string>

#include "isa/table.h"

namespace Atoll::tools {

/// Empty if a part of the name is unknown. `name` is the row's.
std::string describe_instruction(const isa::InstructionRow& row);

}  // namespace Atoll::tools

// isa: the codes by which scalar operands are named (ISA guides, "Scalar operands"), for each generation.
#pragma once

#include "isa/opcode_map.h"

namespace Atoll::isa {

SourceCodes source_codes_of(target::Generation generation);

}  // namespace Atoll::isa

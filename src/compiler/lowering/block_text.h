// compiler: basic blocks as text, for `atoll-compiler --dump-regions`: which registers are live where a block begins
// and what it makes of lane masks.
#pragma once

#include <string>

#include "compiler/analysis/liveness.h"

namespace Atoll::compiler {

/// Returns two lines and more for each block: the live registers, and each lane mask that the block changes, as far as
/// its relation to the masks at the block's beginning is known.
std::string print_blocks(const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

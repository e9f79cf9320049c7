// compiler: partitions large code into parts, each of which becomes one function.
//
// LLVM's compile time and memory grow superlinearly with the size of a function. A wave that moves to another part
// leaves the host function, and the engine dispatches it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

/// Returns parts of whole blocks in address order, each with about `instructions` (at most twice as many, unless a
/// block is larger). Cuts are placed where the fewest back edges cross, to keep loops whole. Targets of jumps between
/// parts become entries.
std::vector<engine::ControlFlow> cut(const engine::ControlFlow& flow, uint64_t instructions);

}  // namespace Atoll::compiler

// compiler: cutting large code into parts that are translated one after the other.
//
// What LLVM needs for a function grows faster than the function, in time and in memory. A wave that goes from one
// part to another leaves the host function and is sent on by the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

/// Parts of whole blocks, in the order of the addresses, each with about so many instructions, or twice as many at most
/// (unless a block is larger), cut where the fewest branches go back over the cut: loops stay whole if they can. Where
/// one part goes to another, that has an entry.
std::vector<engine::ControlFlow> cut(const engine::ControlFlow& flow, uint64_t instructions);

}  // namespace Atoll::compiler

// compiler: branches over code that does nothing without lanes, and the straight code that there is without them.
//
// Compilers put `s_cbranch_execz` around what an `if` does for some lanes. Where EXEC is zero and such code is carried
// out all the same, it does nothing: its vector instructions have no lanes. So blocks with such a branch between them
// are one piece of straight code, and a region (region.h) goes on through all of it. What else the skipped code does
// must not matter:
// - scalar registers and masks that are needed behind it are what they were, which is followed as functions of the
//   bits that masks had before (mask_flow.h);
// - nothing in it may fault, stop or go elsewhere when no lane is active.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "compiler/liveness.h"
#include "compiler/loop_region.h"

namespace Atoll::compiler {

/// A branch that is left out.
struct LeftOutBranch {
  uint64_t target = 0;
  /// The wave does not carry out when EXEC is zero, not counting what is behind another such branch in it.
  unsigned instructions = 0;
};

struct StraightCode {
  std::vector<uint64_t> blocks;                ///< each goes to the next one only, but for branches that are left out
  std::map<uint64_t, LeftOutBranch> branches;  ///< by the block that ends with it
};

/// All blocks outside of `loops`, in pieces of straight code. Only its first block is entered from elsewhere. Where
/// `goes_on` says no of a piece's first block, there is no other.
std::vector<StraightCode> find_straight_code(const engine::ControlFlow& flow, const Liveness& liveness,
                                             const std::vector<LoopRegion>& loops,
                                             const std::function<bool(uint64_t)>& goes_on);

}  // namespace Atoll::compiler

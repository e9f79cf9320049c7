// compiler: if-conversion by removing `s_cbranch_execz`, and the superblocks that there are without these branches.
//
// Compilers put `s_cbranch_execz` around what an `if` does for some lanes. Where EXEC is zero and such code is carried
// out all the same, it does nothing: its vector instructions have no lanes. So blocks with such a branch between them
// are one superblock, and a region (region.h) goes on through all of it. What else the skipped code does
// must not matter:
// - scalar registers and masks that are needed after it are what they were, which is followed as functions of the
//   bits that masks had before (mask_dataflow.h);
// - nothing in it may fault, stop or go elsewhere when no lane is active.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/loop_region.h"

namespace Atoll::compiler {

/// A branch that is left out.
struct RemovedBranch {
  uint64_t target = 0;
  /// The wave does not execute when EXEC is zero, not counting what is after another such branch in it.
  unsigned instructions = 0;
};

struct Superblock {
  std::vector<uint64_t> blocks;                ///< each goes to the next one only, but for branches that are left out
  std::map<uint64_t, RemovedBranch> branches;  ///< by the block that ends with it
};

/// All blocks outside of `loops`, in superblocks. Only its first block is entered from elsewhere. Where
/// `goes_on` says no of a piece's first block, there is no other.
std::vector<Superblock> find_superblocks(const engine::ControlFlow& flow, const Liveness& liveness,
                                         const std::vector<LoopRegion>& loops,
                                         const std::function<bool(uint64_t)>& goes_on);

}  // namespace Atoll::compiler

// compiler: if-conversion by removing `s_cbranch_execz`; forms superblocks.
//
// Compilers put `s_cbranch_execz` around the body of an `if`. With EXEC zero, executing the body anyway has no effect,
// because its vector instructions have no lanes. Blocks that are separated only by such branches form a superblock, and
// a region (region.h) can span all of it. The other effects of the skipped code must be harmless:
// - live scalar registers and masks are unchanged after it, tracked as functions of earlier masks (mask_dataflow.h);
// - nothing in it may fault, stop or branch elsewhere when no lane is active.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/loop_region.h"

namespace Atoll::compiler {

/// A removed branch.
struct RemovedBranch {
  uint64_t target = 0;
  /// Instructions that the wave skips if EXEC is zero, excluding those skipped by a nested removed branch.
  unsigned instructions = 0;
};

struct Superblock {
  std::vector<uint64_t> blocks;                ///< each falls through to the next one, except for removed branches
  std::map<uint64_t, RemovedBranch> branches;  ///< by the block that ends with the branch
};

/// Returns all blocks outside `loops` as superblocks, which are entered only at their first block. If `goes_on` is
/// false for the first block, the superblock has no other.
std::vector<Superblock> find_superblocks(const engine::ControlFlow& flow, const Liveness& liveness,
                                         const std::vector<LoopRegion>& loops,
                                         const std::function<bool(uint64_t)>& goes_on);

}  // namespace Atoll::compiler

// compiler: loops whose lanes don't meet, to be run as a whole for one chunk of lanes after the other.
//
// The wave's way through such a loop and a chunk's are not the same: a branch on a lane mask is taken by the wave when
// all of the mask's bits are zero, by a chunk when those of its slice are. The chunk then leaves out what the wave does
// with other lanes. divergence.h proves that this changes nothing; a loop for which that cannot be proven is no region.
// Everything else depends on values that are the same for all chunks, and goes the same way. Chunks part at the end of
// a round only: then the wave's instructions are those of the chunk with the most.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/varying_masks.h"
#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

struct LoopRegion {
  uint64_t entry = 0;  ///< the loop's head, and the only block that is entered from outside
  std::set<uint64_t> blocks;
  /// Which masks are varying, where a block begins; and after each exit, by the PC that it leads to.
  std::map<uint64_t, VaryingMasks> states;
  std::set<uint64_t> exits;
  bool exec_grows = false;  ///< somewhere in it, beyond what it was at the beginning

  /// When it ends may depend on what it loads: it may be waiting for other waves.
  bool may_wait = false;

  /// Chunks without active lanes at the beginning can be left out: then varying masks are, after the loop, as they
  /// were before (if they are in `kept`) or zero.
  bool skips_inactive_chunks = false;
  VaryingMasks::Registers kept;

  bool contains(uint64_t pc) const { return blocks.contains(pc); }
  /// The mode in which waves come to one of the blocks or leave at an exit.
  const engine::CodeMode& mode_at(uint64_t pc, const engine::ControlFlow& flow) const;
};

/// How a block ends, as far as loop regions know about it.
struct BlockEnd {
  enum class On : uint8_t { nothing, scc, vcc, exec };
  On on = On::nothing;
  uint64_t if_zero = 0, if_not = 0;  ///< where it goes when that is zero or not; without a condition: both the same
  bool parts(const VaryingMasks& state) const;  ///< whether chunks decide for themselves, in the state at the end
};
/// Null: in some other way.
std::optional<BlockEnd> end_of(const engine::Block& block);

/// The instructions of a block without the branch at its end.
std::span<const engine::Located> body_of(const engine::Block& block);

/// The biggest ones, none within another.
std::vector<LoopRegion> find_loop_regions(const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

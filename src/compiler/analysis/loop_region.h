// compiler: loops with independent lanes, which are executed completely for one chunk of lanes after another.
//
// The control flow of a chunk differs from that of the wave: a branch on a lane mask depends on the chunk's slice, not
// the whole mask. The chunk then skips what the wave does with other lanes. divergence.h proves that this changes
// nothing; otherwise the loop is not a region. All other branches depend on uniform values. Chunks differ only in their
// number of iterations: the wave executes as many as the longest chunk.
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
  uint64_t entry = 0;  ///< the loop header, its only entry
  std::set<uint64_t> blocks;
  /// The varying masks at the start of each block, and after each exit (by target PC).
  std::map<uint64_t, VaryingMasks> states;
  std::set<uint64_t> exits;
  bool exec_grows = false;  ///< EXEC may exceed its value at the loop's entry

  /// The exit condition may depend on loads: the loop may wait for other waves.
  bool may_wait = false;

  /// Chunks that start without active lanes can be skipped: after the loop, varying masks are unchanged (if in `kept`)
  /// or zero.
  bool skips_inactive_chunks = false;
  VaryingMasks::Registers kept;

  bool contains(uint64_t pc) const { return blocks.contains(pc); }
  /// Returns the mode at one of the blocks or at an exit.
  const engine::CodeMode& mode_at(uint64_t pc, const engine::ControlFlow& flow) const;
};

/// The end of a block, in the terms of loop regions.
struct BlockEnd {
  enum class On : uint8_t { nothing, scc, vcc, exec };
  On on = On::nothing;
  uint64_t if_zero = 0, if_not = 0;             ///< target if the condition is zero or not; equal without a condition
  bool parts(const VaryingMasks& state) const;  ///< whether chunks may diverge, in the state at the end
};
/// Returns null for other kinds of ends.
std::optional<BlockEnd> end_of(const engine::Block& block);

/// Returns the instructions of a block without the final branch.
std::span<const engine::Located> body_of(const engine::Block& block);

/// Returns the outermost loop regions.
std::vector<LoopRegion> find_loop_regions(const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

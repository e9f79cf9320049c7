// compiler: where a chunk of lanes may part from its wave.
//
// At a branch on a lane mask of which a chunk's slice is zero, while the mask is not, the chunk goes one way and the
// wave the other. They are together again at a block that the wave comes to in any case and the chunk as well. What
// the wave has done in between must have changed nothing that matters for the chunk's lanes, nor what the chunk has
// done by itself:
// - neither has written rows, since EXEC had none of the chunk's lanes at any vector instruction;
// - masks that are still needed have the same bits for the chunk's lanes on either way;
// - scalars that are the same for the whole wave and are still needed were not written.
// The bits of masks are followed as functions of the bits that masks had before (decision_diagram.h): a lane of the
// chunk is any lane for which the branch's mask is zero.
#pragma once

#include "compiler/analysis/loop_region.h"

namespace Atoll::compiler {

/// Whether chunks may decide for themselves at every branch on varying masks in the region, whose `states` are known.
bool chunks_may_diverge(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness);

/// Sets LoopRegion::skips_inactive_chunks and `kept`.
void consider_inactive_chunks(LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

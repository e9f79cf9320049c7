// compiler: where a chunk of lanes may diverge from its wave.
//
// At a branch on a lane mask, a chunk whose slice is zero diverges from the wave if the whole mask is not zero. They
// reconverge at a block that both reach in any case. On the way, neither may change anything that matters for the
// chunk's lanes:
// - neither writes rows, because EXEC has none of the chunk's lanes at any vector instruction;
// - live masks have the same bits for the chunk's lanes on both paths;
// - live scalars that are uniform for the wave are not written. The bits of masks are functions of the bits of earlier
//   masks (decision_diagram.h). A lane of the chunk is any lane whose bit in the branch's mask is zero.
#pragma once

#include "compiler/analysis/loop_region.h"

namespace Atoll::compiler {

/// Returns whether chunks may diverge at every branch on varying masks in the region. Its `states` must be set.
bool chunks_may_diverge(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness);

/// Sets LoopRegion::skips_inactive_chunks and `kept`.
void consider_inactive_chunks(LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

// compiler: the host code of a loop region (loop_region.h): a loop over the chunks around the region's own blocks.
#pragma once

#include <functional>

#include "compiler/analysis/loop_region.h"
#include "compiler/lowering/salu_lowering.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"

namespace Atoll::compiler {

class LoopLowering {
 public:
  LoopLowering(Frame& frame, ValuLowering& lanes, SaluLowering& scalars, const engine::ControlFlow& flow,
               const Liveness& liveness)
      : frame_(frame),
        lanes_(lanes),
        scalars_(scalars),
        memory_(frame, lanes.operations()),
        flow_(flow),
        liveness_(liveness) {}

  /// Emits the region where the builder stands. After it, the rows and the Wave are as the region leaves them, and
  /// the builder stands in a block of its own for each exit, which `leave` has to end.
  void emit(const LoopRegion& region, const std::function<void(uint64_t exit)>& leave);

 private:
  struct Body;
  void emit_block(const LoopRegion& region, uint64_t pc, Body& body);
  llvm::Value* is_not_zero(const BlockEnd& end, const VaryingMasks& state, ChunkState& chunk);
  /// Masks that are whole here and varying where the code goes on.
  void slice_for(const VaryingMasks& here, const VaryingMasks& there, ChunkState& chunk);

  Frame& frame_;
  ValuLowering& lanes_;
  SaluLowering& scalars_;
  ChunkMemory memory_;
  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
};

}  // namespace Atoll::compiler

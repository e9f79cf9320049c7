// compiler: the host code of a loop region (loop_region.h): a loop over the chunks around the region's own blocks.
#pragma once

#include <functional>

#include "compiler/chunk_memory.h"
#include "compiler/lane_code.h"
#include "compiler/loop_region.h"
#include "compiler/scalar_code.h"

namespace Atoll::compiler {

class LoopCode {
 public:
  LoopCode(Frame& frame, LaneCode& lanes, ScalarCode& scalars, const engine::ControlFlow& flow,
           const Liveness& liveness)
      : frame_(frame),
        lanes_(lanes),
        scalars_(scalars),
        memory_(frame, lanes.operations()),
        flow_(flow),
        liveness_(liveness) {}

  /// Emits the region where the builder stands. Behind it, the rows and the Wave are as the region leaves them, and
  /// the builder stands in a block of its own for each exit, which `leave` has to end.
  void emit(const LoopRegion& region, const std::function<void(uint64_t exit)>& leave);

 private:
  struct Body;
  void emit_block(const LoopRegion& region, uint64_t pc, Body& body);
  llvm::Value* is_not_zero(const BlockEnd& end, const SliceState& state, ChunkState& chunk);
  /// Masks that are whole here and in slices where the code goes on.
  void slice_for(const SliceState& here, const SliceState& there, ChunkState& chunk);

  Frame& frame_;
  LaneCode& lanes_;
  ScalarCode& scalars_;
  ChunkMemory memory_;
  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
};

}  // namespace Atoll::compiler

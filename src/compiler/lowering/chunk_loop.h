// compiler: the loop over a wave's chunks, which every region, loop region and wave-wide store is emitted into.
//
//   before ─▶ head ─▶ lanes … ─▶ next ─▶ done
//              ▲  └── skip ──────▲  │
//              └───────────────────┘
//
// `head` takes the chunk's slice of EXEC; whoever emits the body decides there which chunks are skipped. `next` goes
// on to the chunk after it until the wave has no more. Blocks that belong between these are created before the one
// that they lead to, so that the code stands in the order in which it mostly runs.
#pragma once

#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class ChunkLoop {
 public:
  /// Creates the blocks, and emits nothing yet.
  ChunkLoop(Frame& frame, llvm::Function& function);

  /// One more block, before one of these.
  llvm::BasicBlock* block(const char* name, llvm::BasicBlock* before);

  /// Goes from where the builder stands to the loop, and yields that branch: what is computed once goes before it. The
  /// builder stands in `head` afterwards, which has no end yet.
  llvm::Instruction* enter(llvm::Value* exec);
  /// Ends `head`: chunks without active lanes go to `next`, others to `to`.
  void skip_inactive(llvm::BasicBlock* to);
  /// Emits `next`. The builder stands in `done` afterwards.
  void finish();

  llvm::Value* first_lane() const { return first_lane_; }  ///< of the chunk; 64 bits
  llvm::Value* active() const { return active_; }          ///< the chunk's slice of EXEC; 16 bits

  llvm::BasicBlock *const head, *const lanes, *const next, *const done;

 private:
  Frame& frame_;
  llvm::PHINode* first_lane_ = nullptr;
  llvm::Value* active_ = nullptr;
};

}  // namespace Atoll::compiler

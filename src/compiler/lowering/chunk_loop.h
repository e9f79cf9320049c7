// compiler: the loop over a wave's chunks around every region, loop region and wave-wide store.
//
//   before ─▶ head ─▶ lanes … ─▶ next ─▶ done
//              ▲  └── skip ──────▲  │
//              └───────────────────┘
//
// `head` computes the chunk's slice of EXEC; the emitter of the body decides there which chunks are skipped. `next`
// advances to the next chunk. Further blocks are created before the block that they lead to, so that code is laid out
// in execution order.
#pragma once

#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class ChunkLoop {
 public:
  /// Creates the blocks without emitting code.
  ChunkLoop(Frame& frame, llvm::Function& function);

  /// Creates another block before an existing one.
  llvm::BasicBlock* block(const char* name, llvm::BasicBlock* before);

  /// Branches from the insertion point to the loop and returns that branch, before which loop-invariant code is
  /// inserted. The insertion point is then in `head`, which has no terminator yet.
  llvm::Instruction* enter(llvm::Value* exec);
  /// Terminates `head`: chunks without active lanes go to `next`, others to `to`.
  void skip_inactive(llvm::BasicBlock* to);
  /// Emits `next`. The insertion point is then in `done`.
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

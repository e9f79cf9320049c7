// compiler: the loop over a wave's chunks (chunk_loop.h).
#include "compiler/lowering/chunk_loop.h"

namespace Atoll::compiler {

ChunkLoop::ChunkLoop(Frame& frame, llvm::Function& function)
    : head(llvm::BasicBlock::Create(frame.context, "chunk", &function)),
      lanes(llvm::BasicBlock::Create(frame.context, "lanes", &function)),
      next(llvm::BasicBlock::Create(frame.context, "next", &function)),
      done(llvm::BasicBlock::Create(frame.context, "done", &function)),
      frame_(frame) {}

llvm::BasicBlock* ChunkLoop::block(const char* name, llvm::BasicBlock* before) {
  return llvm::BasicBlock::Create(frame_.context, name, before->getParent(), before);
}

llvm::Instruction* ChunkLoop::enter(llvm::Value* exec) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Instruction* entry = ir.CreateBr(head);
  ir.SetInsertPoint(head);
  first_lane_ = ir.CreatePHI(frame_.i64(), 2);
  first_lane_->addIncoming(ir.getInt64(0), entry->getParent());
  active_ = ir.CreateTrunc(ir.CreateLShr(exec, first_lane_), frame_.i16());
  return entry;
}

void ChunkLoop::skip_inactive(llvm::BasicBlock* to) {
  llvm::IRBuilder<>& ir = frame_.ir;
  ir.CreateCondBr(ir.CreateICmpEQ(active_, ir.getInt16(0)), next, to);
}

void ChunkLoop::finish() {
  llvm::IRBuilder<>& ir = frame_.ir;
  ir.SetInsertPoint(next);
  llvm::Value* following = ir.CreateAdd(first_lane_, ir.getInt64(semantics::chunk_lanes));
  first_lane_->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpEQ(following, ir.getInt64(frame_.wave_size())), done, head);
  ir.SetInsertPoint(done);
}

}  // namespace Atoll::compiler

// compiler: the registers of one chunk (chunk_state.h).
#include "compiler/chunk_state.h"

namespace Atoll::compiler {

namespace {

const llvm::Align row_align(64), word_align(4);

}  // namespace

ChunkState::ChunkState(Frame& frame, llvm::Instruction* once_end, llvm::Instruction* begin_end, llvm::Value* index)
    : frame_(frame), once_end_(once_end), begin_end_(begin_end), index_(index) {
  const llvm::IRBuilder<>::InsertPointGuard guard(frame_.ir);
  frame_.ir.SetInsertPoint(begin_end_);
  first_lane64_ = frame_.ir.CreateShl(index, 4);
  first_lane_ = frame_.ir.CreateTrunc(first_lane64_, frame_.i32());
}

template <typename Load>
llvm::AllocaInst* ChunkState::beginning_with(std::map<unsigned, llvm::AllocaInst*>& locals, unsigned key,
                                             llvm::Type* type, llvm::Align align, bool once, Load load) {
  llvm::AllocaInst*& made = locals[key];
  if (made != nullptr) return made;
  made = llvm::cast<llvm::AllocaInst>(frame_.local(type, align));
  const llvm::IRBuilder<>::InsertPointGuard guard(frame_.ir);
  if (once) frame_.ir.SetInsertPoint(once_end_);
  if (!once) frame_.ir.SetInsertPoint(begin_end_);
  llvm::Value* value = load();
  frame_.ir.SetInsertPoint(begin_end_);
  if (type == frame_.lanes()) value = slice(value);
  frame_.ir.CreateAlignedStore(value, made, align);
  return made;
}

llvm::Value* ChunkState::row_address(unsigned key) {
  llvm::Value* base = frame_.at(key >= 256 ? frame_.agpr : frame_.vgpr, key % 256 * sizeof(machine::Row));
  return frame_.ir.CreateInBoundsGEP(frame_.chunk(), base, index_);
}

llvm::Value* ChunkState::whole_row(unsigned key) {
  llvm::Value*& copy = whole_rows_[key];
  if (copy != nullptr) return copy;
  copy = frame_.local(llvm::ArrayType::get(frame_.i32(), semantics::wave_lanes), row_align);
  const llvm::IRBuilder<>::InsertPointGuard guard(frame_.ir);
  frame_.ir.SetInsertPoint(once_end_);
  llvm::Value* row = frame_.at(key >= 256 ? frame_.agpr : frame_.vgpr, key % 256 * sizeof(machine::Row));
  for (unsigned lane = 0; lane < semantics::wave_lanes; lane += semantics::chunk_lanes) {
    llvm::Value* words = frame_.ir.CreateAlignedLoad(frame_.chunk(), frame_.at(row, lane * 4), row_align);
    frame_.ir.CreateAlignedStore(words, frame_.at(copy, lane * 4), row_align);
  }
  return copy;
}

llvm::AllocaInst* ChunkState::row_local(unsigned key) {
  return beginning_with(rows_, key, frame_.chunk(), row_align, false,
                        [&] { return frame_.ir.CreateAlignedLoad(frame_.chunk(), row_address(key), row_align); });
}
llvm::AllocaInst* ChunkState::mask_local(unsigned reg) {
  return beginning_with(masks_, reg, frame_.lanes(), llvm::Align(2), true, [&] { return frame_.scalar64(reg); });
}
llvm::AllocaInst* ChunkState::word_local(unsigned reg) {
  return beginning_with(words_, reg, frame_.i32(), word_align, true, [&] { return frame_.scalar32(reg); });
}
llvm::AllocaInst* ChunkState::scc_local() {
  return beginning_with(scc_, 0, frame_.ir.getInt8Ty(), llvm::Align(1), true,
                        [&] { return frame_.ir.CreateLoad(frame_.ir.getInt8Ty(), frame_.scc_address()); });
}

llvm::Value* ChunkState::row(unsigned key) {
  return frame_.ir.CreateAlignedLoad(frame_.chunk(), row_local(key), row_align);
}

void ChunkState::set_row(unsigned key, llvm::Value* value) {
  frame_.ir.CreateAlignedStore(value, row_local(key), row_align);
  rows_set_.insert(key);
}

void ChunkState::set_active_lanes(unsigned key, llvm::Value* value) {
  set_row(key, frame_.ir.CreateSelect(exec(), value, row(key)));
}

llvm::Value* ChunkState::slice(llvm::Value* whole) {
  llvm::Value* bits = frame_.ir.CreateTrunc(frame_.ir.CreateLShr(whole, first_lane64_), frame_.i16());
  return frame_.ir.CreateBitCast(bits, frame_.lanes());
}

llvm::Value* ChunkState::mask(unsigned reg) { return frame_.ir.CreateLoad(frame_.lanes(), mask_local(reg)); }

void ChunkState::set_mask(unsigned reg, llvm::Value* value) { frame_.ir.CreateStore(value, mask_local(reg)); }

llvm::Value* ChunkState::bits(llvm::Value* slice) {
  return frame_.ir.CreateZExt(frame_.ir.CreateBitCast(slice, frame_.i16()), frame_.i64());
}

llvm::Value* ChunkState::scc_slice() {
  if (scc_slice_ == nullptr) {
    scc_slice_ = llvm::cast<llvm::AllocaInst>(frame_.local(frame_.lanes(), llvm::Align(2)));
  }
  return frame_.ir.CreateLoad(frame_.lanes(), scc_slice_);
}

void ChunkState::set_scc_slice(llvm::Value* value) {
  scc_slice();
  frame_.ir.CreateStore(value, scc_slice_);
}

llvm::Value* ChunkState::word(unsigned reg) { return frame_.ir.CreateLoad(frame_.i32(), word_local(reg)); }

void ChunkState::set_word(unsigned reg, llvm::Value* value) { frame_.ir.CreateStore(value, word_local(reg)); }

llvm::Value* ChunkState::pair(unsigned reg) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* low = ir.CreateZExt(word(reg), frame_.i64());
  return ir.CreateOr(low, ir.CreateShl(ir.CreateZExt(word(reg + 1), frame_.i64()), 32));
}

void ChunkState::set_pair(unsigned reg, llvm::Value* value) {
  set_word(reg, frame_.ir.CreateTrunc(value, frame_.i32()));
  set_word(reg + 1, frame_.ir.CreateTrunc(frame_.ir.CreateLShr(value, 32), frame_.i32()));
}

llvm::Value* ChunkState::scc() { return frame_.ir.CreateLoad(frame_.ir.getInt8Ty(), scc_local()); }
void ChunkState::set_scc(llvm::Value* value) { frame_.ir.CreateStore(value, scc_local()); }

}  // namespace Atoll::compiler

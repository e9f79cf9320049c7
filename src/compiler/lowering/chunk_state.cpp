// compiler: the registers of one chunk (chunk_state.h).
#include "compiler/lowering/chunk_state.h"

namespace Atoll::compiler {

ChunkState::ChunkState(Frame& frame, llvm::Instruction* once_end, llvm::Instruction* begin_end, llvm::Value* first_lane,
                       bool branches)
    : frame_(frame), once_end_(once_end), begin_end_(begin_end), first_lane64_(first_lane), branches_(branches) {
  const llvm::IRBuilder<>::InsertPointGuard guard(frame_.ir);
  frame_.ir.SetInsertPoint(begin_end_);
  first_lane_ = frame_.ir.CreateTrunc(first_lane, frame_.i32());
  // Computed once: rows are at constant distances from there.
  vgpr_ = frame_.ir.CreateInBoundsGEP(frame_.i32(), frame_.vgpr, first_lane);
  agpr_ = frame_.ir.CreateInBoundsGEP(frame_.i32(), frame_.agpr, first_lane);
}

llvm::Value* ChunkState::Holder::get(Frame& frame) const {
  return local != nullptr ? frame.ir.CreateAlignedLoad(type, local, align) : value;
}

void ChunkState::Holder::set(Frame& frame, llvm::Value* to) {
  if (local != nullptr) frame.ir.CreateAlignedStore(to, local, align);
  if (local == nullptr) value = to;
}

template <typename Load>
ChunkState::Holder& ChunkState::beginning_with(std::map<unsigned, Holder>& holders, unsigned key, llvm::Type* type,
                                               llvm::Align align, bool once, Load load) {
  Holder& made = holders[key];
  if (made.type != nullptr) return made;
  made.type = type;
  made.align = align;
  if (branches_) made.local = llvm::cast<llvm::AllocaInst>(frame_.local(type, align));
  const llvm::IRBuilder<>::InsertPointGuard guard(frame_.ir);
  if (once) frame_.ir.SetInsertPoint(once_end_);
  if (!once) frame_.ir.SetInsertPoint(begin_end_);
  llvm::Value* value = load();
  frame_.ir.SetInsertPoint(begin_end_);
  if (type == frame_.lanes()) value = slice(value);
  made.set(frame_, value);
  return made;
}

llvm::Value* ChunkState::row_address(unsigned key) { return frame_.row_address(key, vgpr_, agpr_); }

llvm::Value* ChunkState::whole_row(unsigned key) {
  llvm::Value*& copy = whole_rows_[key];
  if (copy != nullptr) return copy;
  copy = frame_.local(llvm::ArrayType::get(frame_.i32(), semantics::wave_lanes), row_align);
  const llvm::IRBuilder<>::InsertPointGuard guard(frame_.ir);
  frame_.ir.SetInsertPoint(once_end_);
  llvm::Value* row = frame_.row_address(key);
  for (unsigned lane = 0; lane < frame_.wave_size(); lane += semantics::chunk_lanes) {
    llvm::Value* words = frame_.ir.CreateAlignedLoad(frame_.chunk(), frame_.at(row, lane * 4), row_align);
    frame_.ir.CreateAlignedStore(words, frame_.at(copy, lane * 4), row_align);
  }
  return copy;
}

ChunkState::Holder& ChunkState::row_holder(unsigned key) {
  return beginning_with(rows_, key, frame_.chunk(), row_align, false,
                        [&] { return frame_.ir.CreateAlignedLoad(frame_.chunk(), row_address(key), row_align); });
}
ChunkState::Holder& ChunkState::mask_holder(unsigned reg) {
  return beginning_with(masks_, reg, frame_.lanes(), llvm::Align(2), true, [&] { return frame_.lane_mask(reg); });
}
ChunkState::Holder& ChunkState::word_holder(unsigned reg) {
  return beginning_with(words_, reg, frame_.i32(), dword_align, true, [&] { return frame_.scalar32(reg); });
}
ChunkState::Holder& ChunkState::scc_holder() {
  return beginning_with(scc_, 0, frame_.ir.getInt8Ty(), llvm::Align(1), true,
                        [&] { return frame_.ir.CreateLoad(frame_.ir.getInt8Ty(), frame_.scc_address()); });
}

llvm::Value* ChunkState::row(unsigned key) { return row_holder(key).get(frame_); }

void ChunkState::set_row(unsigned key, llvm::Value* value) {
  row_holder(key).set(frame_, value);
  rows_set_.insert(key);
}

void ChunkState::set_active_lanes(unsigned key, llvm::Value* value) {
  set_row(key, frame_.ir.CreateSelect(exec(), value, row(key)));
}

void ChunkState::write_rows(const VectorSet& rows, llvm::Value* written, bool look_for_all) {
  llvm::IRBuilder<>& ir = frame_.ir;
  std::vector<std::pair<llvm::Value*, llvm::Value*>> stores;
  for (const unsigned key : rows_set_) {
    if (rows[key]) stores.emplace_back(row(key), row_address(key));
  }
  if (stores.empty()) return;
  llvm::BasicBlock* after = nullptr;
  if (look_for_all) {
    const auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(frame_.context, name, frame_.function);
    };
    llvm::BasicBlock *whole = block("whole"), *part = block("part");
    after = block("after");
    ir.CreateCondBr(ir.CreateICmpEQ(ir.CreateBitCast(written, frame_.i16()), ir.getInt16(0xFFFF)), whole, part);
    ir.SetInsertPoint(whole);
    for (const auto& [value, address] : stores) ir.CreateAlignedStore(value, address, row_align);
    ir.CreateBr(after);
    ir.SetInsertPoint(part);
  }
  for (const auto& [value, address] : stores) ir.CreateMaskedStore(value, address, row_align, written);
  if (after == nullptr) return;
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}

llvm::Value* ChunkState::slice(llvm::Value* whole) {
  llvm::Value* bits = frame_.ir.CreateTrunc(frame_.ir.CreateLShr(whole, first_lane64_), frame_.i16());
  return frame_.ir.CreateBitCast(bits, frame_.lanes());
}

llvm::Value* ChunkState::mask(unsigned reg) { return mask_holder(reg).get(frame_); }

void ChunkState::set_mask(unsigned reg, llvm::Value* value) { mask_holder(reg).set(frame_, value); }

llvm::Value* ChunkState::bits(llvm::Value* slice) {
  return frame_.ir.CreateZExt(frame_.ir.CreateBitCast(slice, frame_.i16()), frame_.i64());
}

/// Begins with nothing set: whoever reads it has set it.
ChunkState::Holder& ChunkState::scc_slice_holder() {
  const auto nothing = [&] { return frame_.ir.getInt64(0); };
  return beginning_with(scc_slice_, 0, frame_.lanes(), llvm::Align(2), true, nothing);
}

llvm::Value* ChunkState::scc_slice() { return scc_slice_holder().get(frame_); }
void ChunkState::set_scc_slice(llvm::Value* value) { scc_slice_holder().set(frame_, value); }

llvm::Value* ChunkState::word(unsigned reg) { return word_holder(reg).get(frame_); }

void ChunkState::set_word(unsigned reg, llvm::Value* value) { word_holder(reg).set(frame_, value); }

llvm::Value* ChunkState::pair(unsigned reg) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* low = ir.CreateZExt(word(reg), frame_.i64());
  return ir.CreateOr(low, ir.CreateShl(ir.CreateZExt(word(reg + 1), frame_.i64()), 32));
}

void ChunkState::set_pair(unsigned reg, llvm::Value* value) {
  set_word(reg, frame_.ir.CreateTrunc(value, frame_.i32()));
  set_word(reg + 1, frame_.ir.CreateTrunc(frame_.ir.CreateLShr(value, 32), frame_.i32()));
}

llvm::Value* ChunkState::scc() { return scc_holder().get(frame_); }
void ChunkState::set_scc(llvm::Value* value) { scc_holder().set(frame_, value); }

}  // namespace Atoll::compiler

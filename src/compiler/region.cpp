// compiler: regions (region.h).
#include "compiler/region.h"

#include <algorithm>
#include <map>

#include "isa/table.h"

namespace Atoll::compiler {

using Way = SliceState::Way;

void Region::end_before(const isa::Instruction& instruction) {
  if (items_.empty()) return;
  const Way way = state_.way(instruction, /*inside=*/true);
  if (may_fault_ || way == Way::neither || way == Way::on_slices) return end();
  scalars_written_ = true;
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    for (unsigned word = 0; operand.kind == isa::OperandKind::scalar && word < operand.words; ++word) {
      if (state_.is_sliced(operand.reg + word)) return end();
    }
  }
}

void Region::add(const isa::Instruction& instruction, uint64_t pc) {
  Way way = state_.way(instruction, !items_.empty());
  if (way == Way::neither) {
    end();
    way = state_.way(instruction, /*inside=*/false);
  }
  switch (way) {
    case Way::scalars:
      if (may_fault_) end();
      scalars_written_ = !items_.empty();
      if (ScalarCode::takes_load(instruction)) {
        frame_.note_pc(pc);
        scalars_.emit_load(instruction, registers_);
      } else {
        scalars_.emit(instruction, registers_);
      }
      break;
    case Way::memory: {
      // Where each lane stores two elements, all lanes' first ones come before the second ones.
      const bool is_store = memory_operands(instruction)->is_store;
      const unsigned parts = is_store ? semantics::memory_access(instruction.opcode).elements : 1;
      for (unsigned element = 0; element < parts; ++element) add_access(instruction, element, pc);
      break;
    }
    case Way::lanes: {
      Item& item = new_item(instruction, pc);
      item.is_vector = true;
      item.lanes = lanes_.prepare(instruction, registers_, [this](unsigned reg) { return state_.is_sliced(reg); });
      break;
    }
    case Way::on_slices: {
      Item& item = new_item(instruction, pc);
      for (unsigned i = 0; i < instruction.sources(); ++i) {
        const isa::Operand& source = instruction.src(i);
        if (!state_.is_sliced_source(source)) item.whole[i] = scalars_.value(source, registers_);
      }
      if (isa::row(instruction.opcode).has(isa::flag::scc_in)) item.scc = registers_.scc();
      every_chunk_ = true;
      break;
    }
    case Way::neither:
      return;
  }
  state_.step(instruction, way);
}

Region::Item& Region::new_item(const isa::Instruction& instruction, uint64_t pc) {
  if (items_.empty()) begin_pc_ = pc;
  Item& item = items_.emplace_back();
  item.instruction = &instruction;
  item.keep_inactive = state_.exec_written;
  return item;
}

void Region::add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc) {
  const MemoryOperands operands = *memory_operands(instruction);
  const auto space = static_cast<unsigned>(operands.space);
  const bool may_fault = operands.space != MemorySpace::lds;
  if (stores_[space] || (operands.is_store && loads_[space]) || (may_fault && scalars_written_)) end();
  may_fault_ |= may_fault;
  (operands.is_store ? stores_ : loads_)[space] = true;
  new_item(instruction, pc).access = memory_.prepare(instruction, element, registers_);
}

void Region::end() {
  if (items_.empty()) return;
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(frame_.context, name, frame_.function); };
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* head = block("chunk");
  llvm::BasicBlock* begin = block("begin");
  llvm::BasicBlock* body = block("lanes");
  llvm::BasicBlock* next = block("next");
  llvm::BasicBlock* done = block("done");

  llvm::Value* exec = frame_.exec();
  std::map<unsigned, llvm::Value*> gathered;  // 64 bits
  const auto gather = [&] {
    llvm::Value* whole = frame_.local(frame_.i64(), llvm::Align(8));
    ir.CreateStore(ir.getInt64(0), whole);
    return whole;
  };
  for (unsigned pair = 0; pair < SliceState::pairs; ++pair) {
    if (state_.sliced[pair]) gathered[2 * pair] = gather();
  }
  llvm::Value* gathered_scc = state_.scc_sliced ? gather() : nullptr;
  const auto note_chunk = [&](llvm::Value* chunk) {
    if (may_fault_) frame_.note_chunk(chunk);
  };
  if (may_fault_) frame_.note_pc(begin_pc_);
  llvm::Instruction* once_end = ir.CreateBr(head);

  ir.SetInsertPoint(head);
  llvm::PHINode* index = ir.CreatePHI(frame_.i64(), 2);
  index->addIncoming(ir.getInt64(0), before);
  llvm::Value* active = ir.CreateTrunc(ir.CreateLShr(exec, ir.CreateShl(index, 4)), frame_.i16());
  // Without active lanes, all that a vector instruction does is to yield masks of zeros.
  if (every_chunk_) ir.CreateBr(begin);
  if (!every_chunk_) ir.CreateCondBr(ir.CreateICmpEQ(active, ir.getInt16(0)), next, begin);

  ir.SetInsertPoint(begin);
  ChunkState chunk(frame_, once_end, ir.CreateBr(body), index);

  ir.SetInsertPoint(body);
  note_chunk(index);
  for (const Item& item : items_) {
    if (item.access) {
      memory_.emit(*item.access, item.keep_inactive || state_.exec_grows, chunk);
    } else if (item.is_vector) {
      lanes_.emit(item.lanes, item.keep_inactive || state_.exec_grows, chunk);
    } else {
      scalars_.emit_on_slices(*item.instruction, item.whole, item.scc, chunk);
    }
  }
  llvm::Value* active_lanes = ir.CreateBitCast(active, frame_.lanes());
  for (const unsigned key : chunk.rows_set()) {
    llvm::Value* written = state_.exec_grows ? llvm::ConstantInt::getTrue(frame_.lanes()) : active_lanes;
    ir.CreateMaskedStore(chunk.row(key), chunk.row_address(key), llvm::Align(64), written);
  }
  const auto place = [&](llvm::Value* slice, llvm::Value* whole) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(slice), chunk.first_lane64());
    ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), whole), placed), whole);
  };
  for (const auto& [reg, whole] : gathered) place(chunk.mask(reg), whole);
  if (state_.scc_sliced) place(chunk.scc_slice(), gathered_scc);
  ir.CreateBr(next);

  ir.SetInsertPoint(next);
  llvm::Value* following = ir.CreateAdd(index, ir.getInt64(1));
  index->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpEQ(following, ir.getInt64(semantics::wave_lanes / semantics::chunk_lanes)), done, head);

  ir.SetInsertPoint(done);
  note_chunk(ir.getInt8(engine::no_chunk));
  for (const auto& [reg, whole] : gathered) registers_.set_pair(reg, ir.CreateLoad(frame_.i64(), whole));
  if (state_.scc_sliced) {
    llvm::Value* any = ir.CreateICmpNE(ir.CreateLoad(frame_.i64(), gathered_scc), ir.getInt64(0));
    registers_.set_scc(ir.CreateZExt(any, ir.getInt8Ty()));
  }

  items_.clear();
  state_ = {};
  every_chunk_ = scalars_written_ = may_fault_ = false;
  std::ranges::fill(loads_, false);
  std::ranges::fill(stores_, false);
}

}  // namespace Atoll::compiler

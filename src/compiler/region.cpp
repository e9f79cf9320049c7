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
  if (way == Way::neither || way == Way::on_slices) return end();
  note_scalars_written(effects_of(instruction));
  if (items_.empty()) return;
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
  const Effects effects = effects_of(instruction);
  switch (way) {
    case Way::scalars:
      add_scalar(instruction, effects, pc);
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
  if (!items_.empty()) scalars_read_ |= effects.reads;
  state_.step(instruction, way);
}

/// An instruction that is carried out before the loop.
void Region::add_scalar(const isa::Instruction& instruction, const Effects& effects, uint64_t pc) {
  const bool is_load = ScalarCode::takes_load(instruction);
  if (is_load && (stores_ & shared_spaces(MemorySpace::global)) != 0) end();
  note_scalars_written(effects);
  if (!is_load) return scalars_.emit(instruction, registers_);
  // When the load fails although a vector instruction before it might have, the wave is to find out in its own order.
  const bool is_ahead = may_fault_;
  frame_.note_pc(is_ahead ? begin_pc_ : pc);
  if (is_ahead) frame_.note_chunk(frame_.ir.getInt8(0));
  scalars_.emit_load(instruction, registers_);
  if (is_ahead) frame_.note_chunk(frame_.ir.getInt8(engine::no_chunk));
}

void Region::note_scalars_written(const Effects& effects) {
  if ((effects.writes & scalars_read_).none()) return;
  if (may_fault_) end();
  reads_overwritten_ = !items_.empty();
}

Region::Item& Region::new_item(const isa::Instruction& instruction, uint64_t pc) {
  if (items_.empty()) begin_pc_ = pc;
  Item& item = items_.emplace_back();
  item.instruction = &instruction;
  item.exec_written = state_.exec_written;
  item.inactive_needed = (effects_of(instruction).row_writes & behind_->inactive).any();
  return item;
}

void Region::add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc) {
  const MemoryOperands operands = *memory_operands(instruction);
  const unsigned spaces = shared_spaces(operands.space);
  const bool may_fault = operands.space != MemorySpace::lds;
  const unsigned before = operands.stores() ? loads_ | stores_ : stores_;
  // At one address for all, scratch is there or it is not, whatever the region has changed.
  const bool by_lane = operands.space != MemorySpace::scratch || operands.address != nullptr;
  const bool is_late = may_fault && (reads_overwritten_ || (by_lane && changes_what_it_loaded_));
  if ((before & spaces) != 0 || is_late) end();
  may_fault_ |= may_fault;
  if (operands.loads()) loads_ |= spaces;
  if (operands.stores()) stores_ |= spaces;
  new_item(instruction, pc).access = memory_.prepare(instruction, element, registers_);
  note_changes(instruction, operands);
}

void Region::note_changes(const isa::Instruction& instruction, const MemoryOperands& operands) {
  changes_what_it_loaded_ |= operands.is_atomic;
  if (operands.space != MemorySpace::scratch && operands.space != MemorySpace::flat) return;
  const ScratchPart part = scratch_part(instruction, operands);
  if (!operands.is_store) return scratch_loads_.push_back(part);
  changes_what_it_loaded_ |=
      std::ranges::any_of(scratch_loads_, [&](const ScratchPart& loaded) { return loaded.may_overlap(part); });
}

Region::ScratchPart Region::scratch_part(const isa::Instruction& instruction, const MemoryOperands& operands) {
  if (operands.space != MemorySpace::scratch || operands.address != nullptr) return {};
  return {operands.scalar_base, instruction.offset, semantics::memory_access(instruction.opcode).bytes};
}

bool Region::ScratchPart::may_overlap(const ScratchPart& other) const {
  if (bytes == 0 || other.bytes == 0) return true;
  if ((base == nullptr) != (other.base == nullptr)) return true;
  if (base != nullptr && base->reg != other.base->reg) return true;
  return offset < other.offset + other.bytes && other.offset < offset + bytes;
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
  const ScalarSet& scalars_needed = before_->scalars;
  for (unsigned pair = 0; pair < SliceState::pairs; ++pair) {
    if (!state_.sliced[pair] || (!scalars_needed[2 * pair] && !scalars_needed[2 * pair + 1])) continue;
    gathered[2 * pair] = gather();
  }
  llvm::Value* gathered_scc = state_.scc_sliced && scalars_needed[scc_number] ? gather() : nullptr;
  const auto note_chunk = [&](llvm::Value* chunk) {
    if (may_fault_) frame_.note_chunk(chunk);
  };
  if (may_fault_) frame_.note_pc(begin_pc_);
  llvm::Instruction* once_end = ir.CreateBr(head);

  ir.SetInsertPoint(head);
  llvm::PHINode* first_lane = ir.CreatePHI(frame_.i64(), 2);
  first_lane->addIncoming(ir.getInt64(0), before);
  llvm::Value* active = ir.CreateTrunc(ir.CreateLShr(exec, first_lane), frame_.i16());
  // Without active lanes, all that a vector instruction does is to yield masks of zeros.
  if (every_chunk_) ir.CreateBr(begin);
  if (!every_chunk_) ir.CreateCondBr(ir.CreateICmpEQ(active, ir.getInt16(0)), next, begin);

  ir.SetInsertPoint(begin);
  ChunkState chunk(frame_, once_end, ir.CreateBr(body), first_lane, /*branches=*/false);

  ir.SetInsertPoint(body);
  note_chunk(ir.CreateLShr(first_lane, 4));
  // A load is done even if nobody needs its result: it may fault.
  RowSet needed = before_->active | before_->inactive;
  for (const Item& item : items_) {
    const bool keep_inactive = item.inactive_needed && (item.exec_written || state_.exec_grows);
    if (item.access) needed |= effects_of(*item.instruction).row_writes;
    if (item.access) {
      memory_.emit(*item.access, keep_inactive, chunk);
    } else if (item.is_vector) {
      lanes_.emit(item.lanes, keep_inactive, chunk);
    } else {
      scalars_.emit_on_slices(*item.instruction, item.whole, item.scc, chunk);
    }
  }
  llvm::Value* active_lanes = ir.CreateBitCast(active, frame_.lanes());
  for (const unsigned key : chunk.rows_set()) {
    if (!needed[key]) continue;
    llvm::Value* written = state_.exec_grows ? llvm::ConstantInt::getTrue(frame_.lanes()) : active_lanes;
    ir.CreateMaskedStore(chunk.row(key), chunk.row_address(key), llvm::Align(64), written);
  }
  const auto place = [&](llvm::Value* slice, llvm::Value* whole) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(slice), chunk.first_lane64());
    ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), whole), placed), whole);
  };
  for (const auto& [reg, whole] : gathered) place(chunk.mask(reg), whole);
  if (gathered_scc != nullptr) place(chunk.scc_slice(), gathered_scc);
  ir.CreateBr(next);

  ir.SetInsertPoint(next);
  llvm::Value* following = ir.CreateAdd(first_lane, ir.getInt64(semantics::chunk_lanes));
  first_lane->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpEQ(following, ir.getInt64(semantics::wave_lanes)), done, head);

  ir.SetInsertPoint(done);
  note_chunk(ir.getInt8(engine::no_chunk));
  for (const auto& [reg, whole] : gathered) registers_.set_pair(reg, ir.CreateLoad(frame_.i64(), whole));
  if (gathered_scc != nullptr) {
    llvm::Value* any = ir.CreateICmpNE(ir.CreateLoad(frame_.i64(), gathered_scc), ir.getInt64(0));
    registers_.set_scc(ir.CreateZExt(any, ir.getInt8Ty()));
  }

  items_.clear();
  state_ = {};
  every_chunk_ = reads_overwritten_ = may_fault_ = false;
  scalars_read_.reset();
  loads_ = stores_ = 0;
  scratch_loads_.clear();
  changes_what_it_loaded_ = false;
}

}  // namespace Atoll::compiler

// compiler: regions (region.h).
#include "compiler/region.h"

#include <algorithm>
#include <map>

#include "engine/prepare.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using engine::constant_value;

using isa::OperandKind;
namespace flag = isa::flag;

bool is_exec(const isa::Operand& operand) {
  return operand.kind == OperandKind::scalar && (operand.reg & ~1u) == isa::scalar::exec_lo;
}

/// A register pair that can be in slices.
bool is_mask(const isa::Operand& operand) {
  return operand.kind == OperandKind::scalar && operand.words == 2 && operand.reg % 2 == 0;
}

bool writes_exec(const isa::Instruction& instruction) {
  if (isa::row(instruction.opcode).has(flag::exec_out)) return true;
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    if (is_exec(instruction.dst(i))) return true;
  }
  return false;
}

}  // namespace

bool Region::reads_slices(const isa::Instruction& instruction) const {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  if (scc_sliced_ && row.has(flag::scc_in)) return true;
  if (exec_written_ && row.has(flag::exec_out)) return true;
  const unsigned first = row.has(flag::reads_dst) ? 0 : instruction.destinations;
  for (unsigned i = first; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind == OperandKind::vccz && is_sliced(isa::scalar::vcc_lo)) return true;
    if (operand.kind == OperandKind::execz && exec_written_) return true;
    if (operand.kind == OperandKind::scc && scc_sliced_) return true;
    if (operand.kind != OperandKind::scalar) continue;
    for (unsigned word = 0; word < operand.words; ++word) {
      if (is_sliced(operand.reg + word)) return true;
    }
  }
  return false;
}

void Region::end_before(const isa::Instruction& instruction) {
  if (items_.empty()) return;
  bool touches = reads_slices(instruction) || writes_exec(instruction);
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    for (unsigned word = 0; operand.kind == OperandKind::scalar && word < operand.words; ++word) {
      touches |= is_sliced(operand.reg + word);
    }
  }
  if (touches) end();
}

void Region::add(const isa::Instruction& instruction, uint64_t pc) {
  if (const auto access = memory_operands(instruction)) {
    // Where each lane stores two elements, all lanes' first ones come before the second ones.
    const unsigned parts = access->is_store ? semantics::memory_access(instruction.opcode).elements : 1;
    for (unsigned element = 0; element < parts; ++element) add_access(instruction, element, pc);
    return;
  }
  if (LaneCode::takes(instruction)) return add_vector(instruction, pc);
  const bool is_load = ScalarCode::takes_load(instruction);
  if (!items_.empty() && (reads_slices(instruction) || writes_exec(instruction))) {
    bool on_slices = !is_load && works_on_each_bit(instruction) && is_mask(instruction.dst());
    if (scc_sliced_ && isa::row(instruction.opcode).has(flag::scc_in)) on_slices = false;
    for (unsigned i = 0; i < instruction.sources(); ++i) {
      const isa::Operand& source = instruction.src(i);
      if (!is_mask(source) && !constant_value(source)) on_slices = false;
    }
    if (on_slices) return add_on_slices(instruction, pc);
    end();
  }
  if (may_fault_) end();
  set_whole(instruction);
  scalars_written_ = !items_.empty();
  if (is_load) frame_.note_pc(pc);
  if (is_load) scalars_.emit_load(instruction, registers_);
  if (!is_load) scalars_.emit(instruction, registers_);
}

void Region::set_whole(const isa::Instruction& instruction) {
  if (items_.empty()) return;
  const isa::Operand* result = instruction.destinations != 0 ? &instruction.dst() : nullptr;
  for (unsigned word = 0; result != nullptr && result->kind == OperandKind::scalar && word < result->words; ++word) {
    const unsigned reg = result->reg + word;
    if (!is_sliced(reg)) continue;
    // One half alone has a new value.
    const bool both = (reg & ~1u) >= result->reg && (reg | 1u) < result->reg + result->words;
    if (!both) return end();
  }
  for (unsigned word = 0; result != nullptr && result->kind == OperandKind::scalar && word < result->words; ++word) {
    sliced_.erase((result->reg + word) & ~1u);
    within_.erase((result->reg + word) & ~1u);
  }
  if (isa::row(instruction.opcode).has(flag::scc_out)) scc_sliced_ = false;
}

void Region::end_before_sources(const isa::Instruction& instruction) {
  for (unsigned i = instruction.destinations; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind != OperandKind::scalar || operand.type == isa::DataType::lane_mask) continue;
    for (unsigned word = 0; word < operand.words; ++word) {
      if (is_sliced(operand.reg + word)) return end();
    }
  }
}

Region::Item& Region::new_item(const isa::Instruction& instruction, uint64_t pc) {
  if (items_.empty()) begin_pc_ = pc;
  Item& item = items_.emplace_back();
  item.instruction = &instruction;
  item.keep_inactive = exec_written_;
  return item;
}

void Region::add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc) {
  const MemoryOperands operands = *memory_operands(instruction);
  const auto space = static_cast<unsigned>(operands.space);
  const bool may_fault = operands.space != MemorySpace::lds;
  end_before_sources(instruction);
  if (stores_[space] || (operands.is_store && loads_[space]) || (may_fault && scalars_written_)) end();
  may_fault_ |= may_fault;
  (operands.is_store ? stores_ : loads_)[space] = true;
  new_item(instruction, pc).access = memory_.prepare(instruction, element, registers_);
}

void Region::add_vector(const isa::Instruction& instruction, uint64_t pc) {
  end_before_sources(instruction);
  Item& item = new_item(instruction, pc);
  item.is_vector = true;
  item.lanes = lanes_.prepare(instruction, registers_, [this](unsigned reg) { return is_sliced(reg); });
  if (item.lanes.mask_result != nullptr) {
    sliced_.insert(item.lanes.mask_result->reg);
    if (!exec_grows_) within_.insert(item.lanes.mask_result->reg);
  }
  if (writes_exec(instruction)) note_exec(!exec_grows_);
}

void Region::note_exec(bool within) {
  sliced_.insert(isa::scalar::exec_lo);
  exec_written_ = true;
  if (!within) exec_grows_ = true;
}

void Region::add_on_slices(const isa::Instruction& instruction, uint64_t pc) {
  Item& item = new_item(instruction, pc);
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    const bool in_slices = is_mask(source) && (is_sliced(source.reg) || is_exec(source));
    if (!in_slices) item.whole[i] = scalars_.value(source, registers_);
  }
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  if (row.has(flag::scc_in)) item.scc = registers_.scc();

  // In lanes that EXEC lacked at the beginning, sources that lie within it are 0: is the result, too?
  uint8_t outside = exec_grows_ ? 0xFF : 0x0F;
  constexpr uint8_t source_is_0[2] = {0x55, 0x33};
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    const bool within = is_mask(source) ? within_.contains(source.reg) || (is_exec(source) && !exec_grows_)
                                        : constant_value(source) == uint64_t{0};
    if (within) outside &= source_is_0[i];
  }
  const BitFunction function = bit_function(instruction);
  const auto none = [&](const uint8_t(&table)[2]) { return (table[0] & outside) == 0 && (table[1] & outside) == 0; };
  sliced_.insert(instruction.dst().reg);
  within_.erase(instruction.dst().reg);
  if (none(function.result)) within_.insert(instruction.dst().reg);
  if (row.has(flag::scc_out)) scc_sliced_ = true;
  if (writes_exec(instruction)) note_exec(none(function.exec));
  every_chunk_ = true;
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
  for (const unsigned reg : sliced_) gathered[reg] = gather();
  llvm::Value* gathered_scc = scc_sliced_ ? gather() : nullptr;
  const auto note_chunk = [&](llvm::Value* chunk) {
    if (may_fault_) ir.CreateStore(chunk, frame_.at(frame_.run, offsetof(Run, chunk)), /*isVolatile=*/true);
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
  note_chunk(ir.CreateTrunc(index, ir.getInt8Ty()));
  for (const Item& item : items_) {
    if (item.access) {
      memory_.emit(*item.access, item.keep_inactive || exec_grows_, chunk);
    } else if (item.is_vector) {
      lanes_.emit(item.lanes, item.keep_inactive || exec_grows_, chunk);
    } else {
      scalars_.emit_on_slices(*item.instruction, item.whole, item.scc, chunk);
    }
  }
  llvm::Value* active_lanes = ir.CreateBitCast(active, frame_.lanes());
  for (const unsigned key : chunk.rows_set()) {
    llvm::Value* written = exec_grows_ ? llvm::ConstantInt::getTrue(frame_.lanes()) : active_lanes;
    ir.CreateMaskedStore(chunk.row(key), chunk.row_address(key), llvm::Align(64), written);
  }
  const auto place = [&](llvm::Value* slice, llvm::Value* whole) {
    llvm::Value* placed = ir.CreateShl(chunk.bits(slice), chunk.first_lane64());
    ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), whole), placed), whole);
  };
  for (const auto& [reg, whole] : gathered) place(chunk.mask(reg), whole);
  if (scc_sliced_) place(chunk.scc_slice(), gathered_scc);
  ir.CreateBr(next);

  ir.SetInsertPoint(next);
  llvm::Value* following = ir.CreateAdd(index, ir.getInt64(1));
  index->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpEQ(following, ir.getInt64(semantics::wave_lanes / semantics::chunk_lanes)), done, head);

  ir.SetInsertPoint(done);
  note_chunk(ir.getInt8(engine::no_chunk));
  for (const auto& [reg, whole] : gathered) registers_.set_pair(reg, ir.CreateLoad(frame_.i64(), whole));
  if (scc_sliced_) {
    llvm::Value* any = ir.CreateICmpNE(ir.CreateLoad(frame_.i64(), gathered_scc), ir.getInt64(0));
    registers_.set_scc(ir.CreateZExt(any, ir.getInt8Ty()));
  }

  items_.clear();
  sliced_.clear();
  within_.clear();
  scc_sliced_ = every_chunk_ = exec_written_ = exec_grows_ = scalars_written_ = may_fault_ = false;
  std::ranges::fill(loads_, false);
  std::ranges::fill(stores_, false);
}

}  // namespace Atoll::compiler

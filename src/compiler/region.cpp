// compiler: regions (region.h).
#include "compiler/region.h"

#include <algorithm>

#include "engine/prepare.h"
#include "engine/vector.h"
#include "isa/table.h"
#include "semantics/modifiers.h"

namespace Atoll::compiler {

namespace {

using engine::constant_value;
using engine::is_row;
using engine::registers_exist;
using engine::vector_operands;
using engine::VectorOperands;
using isa::DataType;
using isa::OperandKind;

unsigned row_key(const isa::Operand& operand, unsigned word) {
  return operand.reg + word + (operand.kind == OperandKind::agpr ? 256 : 0);
}

/// Source modifiers that are one operation on the sign bit.
bool plain_or_signed(const isa::Operand& operand) {
  if (!semantics::has_source_modifiers(operand)) return true;
  isa::Operand bare = operand;
  bare.neg = bare.abs = false;
  if (semantics::has_source_modifiers(bare)) return false;
  return operand.type == DataType::f32 || operand.type == DataType::f64 || operand.type == DataType::f16;
}

}  // namespace

bool Region::takes(const isa::Instruction& instruction) {
  const semantics::VectorShape& shape = semantics::vector_function(instruction.opcode);
  if (shape.call == nullptr || shape.sources > 3 || shape.masks_in > 1 || shape.mixed_sources) return false;
  using enum isa::Extension;
  if (instruction.extension == sdwa || instruction.extension == dpp16 || instruction.extension == dpp8) return false;
  if (instruction.omod != 0 || (instruction.clamp && !shape.handles_clamp) || instruction.op_sel_dst) return false;
  if (instruction.dst_sel != isa::SdwaSelect::dword) return false;  // v_cvt_sr_fp8_f32 names a byte, without SDWA
  if (isa::row(instruction.opcode).has(isa::flag::exec_out)) return false;
  const VectorOperands operands = vector_operands(instruction);
  if (operands.sources != shape.sources || operands.masks != shape.masks_in || operands.results != shape.destinations ||
      (operands.mask_result != nullptr) != shape.mask_out) {
    return false;
  }
  for (const isa::Operand* mask : {operands.mask[0], operands.mask_result}) {
    if (mask != nullptr && (mask->kind != OperandKind::scalar || mask->words != 2)) return false;
  }
  for (unsigned i = 0; i < operands.results; ++i) {
    if (!is_row(*operands.result[i]) || i != 0) return false;
  }
  for (unsigned i = 0; i < operands.sources; ++i) {
    const isa::Operand& source = *operands.source[i];
    if (!plain_or_signed(source)) return false;
    if (!is_row(source) && source.kind != OperandKind::scalar && !constant_value(source)) return false;
    if (!is_row(source) && shape.src_words[i] > 2) return false;
    if (source.kind == OperandKind::scalar && source.words < shape.src_words[i]) return false;
  }
  return registers_exist(instruction);
}

void Region::add(const isa::Instruction& instruction) {
  const VectorOperands operands = vector_operands(instruction);
  Item item;
  item.instruction = &instruction;
  item.function = semantics_.vector_function(instruction.opcode);
  item.shape = semantics::vector_function(instruction.opcode);
  for (unsigned i = 0; i < item.shape.sources; ++i) {
    const isa::Operand& operand = *operands.source[i];
    Source& source = item.source[i];
    source.operand = &operand;
    if (const auto value = constant_value(operand)) {
      source.scalar[0] = frame_.ir.getInt32(static_cast<uint32_t>(*value));
      source.scalar[1] = frame_.ir.getInt32(static_cast<uint32_t>(*value >> 32));
    } else if (operand.kind == OperandKind::scalar) {
      source.scalar[0] = frame_.scalar32(operand.reg);
      if (item.shape.src_words[i] == 2) source.scalar[1] = frame_.scalar32(operand.reg + 1u);
    }
  }
  if (operands.results != 0) item.result = operands.result[0];
  if (operands.mask[0] != nullptr) {
    if (yields(operands.mask[0]->reg)) {
      item.mask_in_of = operands.mask[0]->reg;
    } else {
      item.mask_in = frame_.scalar64(operands.mask[0]->reg);
    }
  }
  item.mask_result = operands.mask_result;
  if (item.mask_result != nullptr) masks_.emplace(item.mask_result->reg, nullptr);
  items_.push_back(item);
}

llvm::Value* Region::row(const isa::Operand& operand, unsigned word) {
  llvm::Value*& value = rows_[row_key(operand, word)];
  if (value == nullptr) {
    llvm::Value* base = operand.kind == OperandKind::agpr ? frame_.agpr : frame_.vgpr;
    llvm::Value* address = frame_.ir.CreateInBoundsGEP(frame_.ir.getInt8Ty(),
                                                       frame_.at(base, (operand.reg + word) * sizeof(Row)), offset_);
    value = frame_.ir.CreateAlignedLoad(frame_.chunk(), address, llvm::Align(64));
  }
  return value;
}

llvm::Value* Region::source_word(const Item& item, unsigned i, unsigned word) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const Source& source = item.source[i];
  const isa::Operand& operand = *source.operand;
  llvm::Value* value = source.scalar[0] != nullptr ? ir.CreateVectorSplat(semantics::chunk_lanes, source.scalar[word])
                                                   : row(operand, word);
  if (!operand.neg && !operand.abs) return value;
  if (word + 1u != item.shape.src_words[i]) return value;  // the sign is in the last word
  const uint32_t sign = operand.type == DataType::f16 ? 0x8000 : 0x8000'0000;
  const auto all = [&](uint32_t bits) { return ir.CreateVectorSplat(semantics::chunk_lanes, ir.getInt32(bits)); };
  if (operand.abs) value = ir.CreateAnd(value, all(~sign));
  if (operand.neg) value = ir.CreateXor(value, all(sign));
  return value;
}

void Region::emit(const Item& item) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const llvm::Align row_align(64);
  const auto rows_of = [&](unsigned words) {
    return frame_.local(llvm::ArrayType::get(frame_.i32(), words * semantics::wave_lanes), row_align);
  };
  llvm::Value* call = frame_.local(llvm::ArrayType::get(frame_.i64(), sizeof(semantics::VectorCall) / 8), row_align);
  const auto set = [&](size_t offset, llvm::Value* value) { ir.CreateStore(value, frame_.at(call, offset)); };

  for (unsigned i = 0; i < item.shape.sources; ++i) {
    llvm::Value* rows = rows_of(item.shape.src_words[i]);
    for (unsigned word = 0; word < item.shape.src_words[i]; ++word) {
      ir.CreateAlignedStore(source_word(item, i, word), frame_.at(rows, word * sizeof(Row)), row_align);
    }
    set(offsetof(semantics::VectorCall, src) + i * sizeof(void*), rows);
  }
  llvm::Value* result = nullptr;
  if (item.result != nullptr) {
    result = rows_of(item.shape.dst_words[0]);
    if (item.shape.reads_dst || item.shape.writes_low_half_only) {
      for (unsigned word = 0; word < item.shape.dst_words[0]; ++word) {
        ir.CreateAlignedStore(row(*item.result, word), frame_.at(result, word * sizeof(Row)), row_align);
      }
    }
    set(offsetof(semantics::VectorCall, dst), result);
  }
  if (item.shape.masks_in != 0) {
    llvm::Value* mask = item.mask_in_of >= 0
                            ? ir.CreateZExt(chunk_masks_.at(static_cast<unsigned>(item.mask_in_of)), frame_.i64())
                            : ir.CreateLShr(item.mask_in, ir.CreateZExt(first_lane_, frame_.i64()));
    set(offsetof(semantics::VectorCall, mask_in), mask);
  }
  // The function is made for one mode: its fields are constants that vanish with the branches on them.
  const auto* mode = reinterpret_cast<const uint8_t*>(&frame_.mode);
  for (size_t byte = 0; byte < sizeof frame_.mode; ++byte) {
    set(offsetof(semantics::VectorCall, mode) + byte, ir.getInt8(mode[byte]));
  }
  set(offsetof(semantics::VectorCall, clamp), ir.getInt8(item.instruction->clamp));
  set(offsetof(semantics::VectorCall, first_lane), first_lane_);
  if (!item.function->hasFnAttribute(llvm::Attribute::AlwaysInline)) {
    item.function->removeFnAttr(llvm::Attribute::NoInline);
    item.function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  ir.CreateCall(item.function, {call});

  for (unsigned word = 0; item.result != nullptr && word < item.shape.dst_words[0]; ++word) {
    const unsigned key = row_key(*item.result, word);
    rows_[key] = ir.CreateAlignedLoad(frame_.chunk(), frame_.at(result, word * sizeof(Row)), row_align);
    if (std::ranges::find(written_, key) == written_.end()) written_.push_back(key);
  }
  if (item.mask_result != nullptr) {
    llvm::Value* mask = ir.CreateTrunc(
        ir.CreateLoad(frame_.i64(), frame_.at(call, offsetof(semantics::VectorCall, mask_out))), frame_.i16());
    chunk_masks_[item.mask_result->reg] = ir.CreateAnd(mask, active_);
  }
}

void Region::end() {
  if (items_.empty()) return;
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(frame_.context, name, frame_.function); };
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* head = block("chunk");
  llvm::BasicBlock* body = block("lanes");
  llvm::BasicBlock* next = block("next");
  llvm::BasicBlock* done = block("done");

  llvm::Value* exec = frame_.exec();
  for (auto& [reg, gathered] : masks_) {
    gathered = frame_.local(frame_.i64(), llvm::Align(8));
    ir.CreateStore(ir.getInt64(0), gathered);
  }
  ir.CreateBr(head);

  ir.SetInsertPoint(head);
  llvm::PHINode* index = ir.CreatePHI(frame_.i64(), 2);
  index->addIncoming(ir.getInt64(0), before);
  llvm::Value* lane = ir.CreateShl(index, 4);
  active_ = ir.CreateTrunc(ir.CreateLShr(exec, lane), frame_.i16());
  ir.CreateCondBr(ir.CreateICmpEQ(active_, ir.getInt16(0)), next, body);

  ir.SetInsertPoint(body);
  offset_ = ir.CreateShl(index, 6);
  first_lane_ = ir.CreateTrunc(lane, frame_.i32());
  for (const Item& item : items_) emit(item);
  llvm::Value* active_lanes =
      ir.CreateBitCast(active_, llvm::FixedVectorType::get(frame_.i1(), semantics::chunk_lanes));
  for (const unsigned key : written_) {
    llvm::Value* base = key >= 256 ? frame_.agpr : frame_.vgpr;
    llvm::Value* address = ir.CreateInBoundsGEP(ir.getInt8Ty(), frame_.at(base, (key % 256) * sizeof(Row)), offset_);
    ir.CreateMaskedStore(rows_.at(key), address, llvm::Align(64), active_lanes);
  }
  for (const auto& [reg, mask] : chunk_masks_) {
    llvm::Value* gathered = masks_.at(reg);
    llvm::Value* placed = ir.CreateShl(ir.CreateZExt(mask, frame_.i64()), lane);
    ir.CreateStore(ir.CreateOr(ir.CreateLoad(frame_.i64(), gathered), placed), gathered);
  }
  ir.CreateBr(next);

  ir.SetInsertPoint(next);
  llvm::Value* following = ir.CreateAdd(index, ir.getInt64(1));
  index->addIncoming(following, next);
  ir.CreateCondBr(ir.CreateICmpEQ(following, ir.getInt64(semantics::wave_lanes / semantics::chunk_lanes)), done, head);

  ir.SetInsertPoint(done);
  for (const auto& [reg, gathered] : masks_) frame_.set_scalar(reg, ir.CreateLoad(frame_.i64(), gathered));

  items_.clear();
  masks_.clear();
  rows_.clear();
  chunk_masks_.clear();
  written_.clear();
}

}  // namespace Atoll::compiler

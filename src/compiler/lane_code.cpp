// compiler: vector instructions as IR (lane_code.h).
#include "compiler/lane_code.h"

#include "engine/prepare.h"
#include "engine/vector.h"
#include "isa/table.h"
#include "semantics/modifiers.h"

namespace Atoll::compiler {

namespace {

using engine::constant_value;
using engine::is_row;
using engine::vector_operands;
using engine::VectorOperands;
using isa::DataType;
using isa::OperandKind;
using semantics::VectorCall;

const llvm::Align row_align(64);

/// Source modifiers that are one operation on the sign bit.
bool plain_or_signed(const isa::Operand& operand) {
  if (!semantics::has_source_modifiers(operand)) return true;
  isa::Operand bare = operand;
  bare.neg = bare.abs = false;
  if (semantics::has_source_modifiers(bare)) return false;
  return operand.type == DataType::f32 || operand.type == DataType::f64 || operand.type == DataType::f16;
}

}  // namespace

bool LaneCode::takes(const isa::Instruction& instruction) {
  const semantics::VectorShape& shape = semantics::vector_function(instruction.opcode);
  if (shape.call == nullptr || shape.sources > 3 || shape.masks_in > 1 || shape.mixed_sources) return false;
  using enum isa::Extension;
  if (instruction.extension == sdwa || instruction.extension == dpp16 || instruction.extension == dpp8) return false;
  if (instruction.omod != 0 || (instruction.clamp && !shape.handles_clamp) || instruction.op_sel_dst) return false;
  if (instruction.dst_sel != isa::SdwaSelect::dword) return false;  // v_cvt_sr_fp8_f32 names a byte, without SDWA
  const VectorOperands operands = vector_operands(instruction);
  if (operands.sources != shape.sources || operands.masks != shape.masks_in || operands.results != shape.destinations ||
      (operands.mask_result != nullptr) != shape.mask_out || operands.results > 1) {
    return false;
  }
  for (const isa::Operand* mask : {operands.mask[0], operands.mask_result}) {
    if (mask != nullptr && (mask->kind != OperandKind::scalar || mask->words != 2 || mask->reg % 2 != 0)) return false;
  }
  if (operands.results != 0 && !is_row(*operands.result[0])) return false;
  for (unsigned i = 0; i < operands.sources; ++i) {
    const isa::Operand& source = *operands.source[i];
    if (!plain_or_signed(source)) return false;
    if (!is_row(source) && source.kind != OperandKind::scalar && !constant_value(source)) return false;
    if (!is_row(source) && shape.src_words[i] > 2) return false;
    if (source.kind == OperandKind::scalar && source.words < shape.src_words[i]) return false;
  }
  return engine::registers_exist(instruction);
}

LaneCode::Prepared LaneCode::prepare(const isa::Instruction& instruction, ScalarRegisters& registers) {
  const VectorOperands operands = vector_operands(instruction);
  Prepared prepared;
  prepared.instruction = &instruction;
  prepared.shape = semantics::vector_function(instruction.opcode);
  for (unsigned i = 0; i < prepared.shape.sources; ++i) {
    const isa::Operand& operand = *operands.source[i];
    Source& source = prepared.source[i];
    source.operand = &operand;
    if (const auto value = constant_value(operand)) {
      source.scalar[0] = frame_.ir.getInt32(static_cast<uint32_t>(*value));
      source.scalar[1] = frame_.ir.getInt32(static_cast<uint32_t>(*value >> 32));
    } else if (operand.kind == OperandKind::scalar) {
      source.scalar[0] = registers.word(operand.reg);
      if (prepared.shape.src_words[i] == 2) source.scalar[1] = registers.word(operand.reg + 1u);
    }
  }
  if (operands.results != 0) prepared.result = operands.result[0];
  prepared.mask = operands.mask[0];
  prepared.mask_result = operands.mask_result;
  return prepared;
}

llvm::Value* LaneCode::source_word(const Prepared& prepared, unsigned i, unsigned word, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const Source& source = prepared.source[i];
  const isa::Operand& operand = *source.operand;
  llvm::Value* value = source.scalar[0] != nullptr ? ir.CreateVectorSplat(semantics::chunk_lanes, source.scalar[word])
                                                   : chunk.row(row_key(operand, word));
  if (!operand.neg && !operand.abs) return value;
  if (word + 1u != prepared.shape.src_words[i]) return value;  // the sign is in the last word
  const uint32_t sign = operand.type == DataType::f16 ? 0x8000 : 0x8000'0000;
  const auto all = [&](uint32_t bits) { return ir.CreateVectorSplat(semantics::chunk_lanes, ir.getInt32(bits)); };
  if (operand.abs) value = ir.CreateAnd(value, all(~sign));
  if (operand.neg) value = ir.CreateXor(value, all(sign));
  return value;
}

void LaneCode::emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const semantics::VectorShape& shape = prepared.shape;
  const auto rows_of = [&](unsigned words) {
    return frame_.local(llvm::ArrayType::get(frame_.i32(), words * semantics::wave_lanes), row_align);
  };
  llvm::Value* call = frame_.local(llvm::ArrayType::get(frame_.i64(), sizeof(VectorCall) / 8), row_align);
  const auto set = [&](size_t offset, llvm::Value* value) { ir.CreateStore(value, frame_.at(call, offset)); };

  for (unsigned i = 0; i < shape.sources; ++i) {
    llvm::Value* rows = rows_of(shape.src_words[i]);
    for (unsigned word = 0; word < shape.src_words[i]; ++word) {
      ir.CreateAlignedStore(source_word(prepared, i, word, chunk), frame_.at(rows, word * sizeof(Row)), row_align);
    }
    set(offsetof(VectorCall, src) + i * sizeof(void*), rows);
  }
  llvm::Value* result = nullptr;
  if (prepared.result != nullptr) {
    result = rows_of(shape.dst_words[0]);
    if (shape.reads_dst || shape.writes_low_half_only) {
      for (unsigned word = 0; word < shape.dst_words[0]; ++word) {
        ir.CreateAlignedStore(chunk.row(row_key(*prepared.result, word)), frame_.at(result, word * sizeof(Row)),
                              row_align);
      }
    }
    set(offsetof(VectorCall, dst), result);
  }
  if (prepared.mask != nullptr) {
    llvm::Value* mask =
        prepared.mask_whole != nullptr ? chunk.slice(prepared.mask_whole) : chunk.mask(prepared.mask->reg);
    set(offsetof(VectorCall, mask_in), chunk.bits(mask));
  }
  // The function is made for one mode: its fields are constants that vanish with the branches on them.
  const auto* mode = reinterpret_cast<const uint8_t*>(&frame_.mode);
  for (size_t byte = 0; byte < sizeof frame_.mode; ++byte) {
    set(offsetof(VectorCall, mode) + byte, ir.getInt8(mode[byte]));
  }
  set(offsetof(VectorCall, clamp), ir.getInt8(prepared.instruction->clamp));
  set(offsetof(VectorCall, first_lane), chunk.first_lane());
  llvm::Function* function = semantics_.vector_function(prepared.instruction->opcode);
  if (!function->hasFnAttribute(llvm::Attribute::AlwaysInline)) {
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  ir.CreateCall(function, {call});

  for (unsigned word = 0; prepared.result != nullptr && word < shape.dst_words[0]; ++word) {
    llvm::Value* value = ir.CreateAlignedLoad(frame_.chunk(), frame_.at(result, word * sizeof(Row)), row_align);
    const unsigned key = row_key(*prepared.result, word);
    if (keep_inactive) chunk.set_active_lanes(key, value);
    if (!keep_inactive) chunk.set_row(key, value);
  }
  if (prepared.mask_result != nullptr) {
    llvm::Value* mask =
        ir.CreateTrunc(ir.CreateLoad(frame_.i64(), frame_.at(call, offsetof(VectorCall, mask_out))), frame_.i16());
    mask = ir.CreateAnd(ir.CreateBitCast(mask, frame_.lanes()), chunk.exec());
    chunk.set_mask(prepared.mask_result->reg, mask);
    if (isa::row(prepared.instruction->opcode).has(isa::flag::exec_out)) chunk.set_mask(isa::scalar::exec_lo, mask);
  }
}

}  // namespace Atoll::compiler

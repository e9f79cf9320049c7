// compiler: scalar instructions as IR (salu_lowering.h).
#include "compiler/lowering/salu_lowering.h"

#include "engine/interpreter/prepare.h"
#include "isa/table.h"

namespace Atoll::compiler {

using isa::Opcode;
using isa::OperandKind;
using semantics::ScalarCall;

bool works_on_each_bit(const isa::Instruction& instruction) {
  return isa::row_of(instruction).has(isa::flag::bitwise) && instruction.dst().words == instruction.lane_mask_words;
}

BitFunction bit_function(const isa::Instruction& instruction) {
  constexpr uint8_t first = 0b1010'1010, second = 0b1100'1100, exec = 0b1111'0000;
  BitFunction function;
  for (unsigned scc = 0; scc < 2; ++scc) {
    ScalarCall call{.src = {first, second}, .dst = 0, .exec = exec, .scc = scc != 0};
    semantics::scalar_function(instruction.opcode)(call);
    function.result[scc] = static_cast<uint8_t>(call.dst);
    const bool to_exec = instruction.dst().reg == isa::scalar::exec_lo;
    function.exec[scc] = static_cast<uint8_t>(to_exec ? call.dst : call.exec);
  }
  return function;
}

bool SaluLowering::takes(const isa::Instruction& instruction) {
  return semantics::scalar_function(instruction.opcode) != nullptr && instruction.sources() <= 2 &&
         engine::registers_exist(instruction);
}

llvm::Value* SaluLowering::value(const isa::Operand& operand, ScalarRegisters& registers) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const auto is_zero = [&](unsigned reg) {
    return ir.CreateZExt(ir.CreateICmpEQ(lane_mask(frame_, registers, reg), ir.getInt64(0)), frame_.i64());
  };
  switch (operand.kind) {
    case OperandKind::scalar:
      if (operand.reg == isa::scalar::null) return ir.getInt64(0);
      return operand.words == 2 ? registers.pair(operand.reg)
                                : ir.CreateZExt(registers.word(operand.reg), frame_.i64());
    case OperandKind::scc:
      return ir.CreateZExt(registers.scc(), frame_.i64());
    case OperandKind::vccz:
      return is_zero(isa::scalar::vcc_lo);
    case OperandKind::execz:
      return is_zero(isa::scalar::exec_lo);
    case OperandKind::flat_scratch_base_lo:
    case OperandKind::flat_scratch_base_hi:
      return scratch_base(frame_, operand);
    default:
      return ir.getInt64(engine::constant_value(operand).value_or(0));
  }
}

void SaluLowering::emit(const isa::Instruction& instruction, ScalarRegisters& registers) {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* unused = ir.getInt64(0);
  llvm::Value* arguments[] = {unused, unused, unused, unused, registers.scc()};
  unsigned sources = 0;
  for (; sources < instruction.sources(); ++sources) arguments[sources] = value(instruction.src(sources), registers);
  if (instruction.encoding == isa::Encoding::sopk) arguments[sources] = ir.getInt64(instruction.immediate);
  const isa::Operand* result = instruction.destinations != 0 ? &instruction.dst() : nullptr;
  const isa::InstructionRow& row = isa::row_of(instruction);
  const bool writes_exec = row.has(isa::flag::exec_out);
  if (result != nullptr) arguments[2] = value(*result, registers);
  if (writes_exec) arguments[3] = lane_mask(frame_, registers, isa::scalar::exec_lo);
  const std::vector<llvm::Value*> results = operations_.scalar(instruction.opcode).emit(ir, arguments);
  if (result != nullptr) {
    if (result->words == 2) registers.set_pair(result->reg, results[0]);
    if (result->words != 2) registers.set_word(result->reg, ir.CreateTrunc(results[0], frame_.i32()));
  }
  if (writes_exec && (result == nullptr || result->reg != isa::scalar::exec_lo)) {
    set_lane_mask(frame_, registers, isa::scalar::exec_lo, results[1]);
  }
  // The others have kept SCC, but not always that of the instruction before: it may come from the lanes later.
  if (row.has(isa::flag::scc_out)) registers.set_scc(results[2]);
}

llvm::Value* SaluLowering::function_of(std::span<llvm::Value* const> inputs, uint8_t table) {
  llvm::IRBuilder<>& ir = frame_.ir;
  // Half of the table for each value of the last input.
  const unsigned half = 1u << (inputs.size() - 1);
  const auto all = static_cast<uint8_t>((1u << half) - 1);
  const auto if_0 = static_cast<uint8_t>(table & all), if_1 = static_cast<uint8_t>(table >> half & all);
  llvm::Value* input = inputs.back();
  const auto rest = [&](uint8_t of) -> llvm::Value* {
    if (of == 0) return llvm::Constant::getNullValue(frame_.lanes());
    if (of == all) return llvm::Constant::getAllOnesValue(frame_.lanes());
    return function_of(inputs.first(inputs.size() - 1), of);
  };
  if (if_0 == if_1) return rest(if_0);
  if (if_0 == 0) return ir.CreateAnd(input, rest(if_1));
  if (if_1 == all) return ir.CreateOr(input, rest(if_0));
  if (if_1 == 0) return ir.CreateAnd(ir.CreateNot(input), rest(if_0));
  if (if_0 == all) return ir.CreateOr(ir.CreateNot(input), rest(if_1));
  if (if_0 == (if_1 ^ all)) return ir.CreateXor(input, rest(if_0));
  return ir.CreateSelect(input, rest(if_1), rest(if_0));
}

void SaluLowering::emit_on_varying_masks(const isa::Instruction& instruction, llvm::Value* const (&whole)[2],
                                         llvm::Value* scc, ChunkState& chunk) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  llvm::Value* inputs[3] = {chunk.exec(), chunk.exec(), chunk.exec()};
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    inputs[i] = whole[i] != nullptr ? chunk.slice(whole[i]) : chunk.mask(instruction.src(i).reg);
  }
  const BitFunction function = bit_function(instruction);
  const auto value = [&](const uint8_t(&table)[2]) {
    if (table[0] == table[1]) return function_of(inputs, table[0]);
    llvm::Value* is_set = frame_.ir.CreateICmpNE(scc, llvm::ConstantInt::get(scc->getType(), 0));
    return frame_.ir.CreateSelect(is_set, function_of(inputs, table[1]), function_of(inputs, table[0]));
  };
  llvm::Value* result = value(function.result);
  if (row.has(isa::flag::exec_out)) {
    llvm::Value* exec = value(function.exec);
    chunk.set_mask(instruction.dst().reg, result);
    chunk.set_mask(isa::scalar::exec_lo, exec);
    result = exec;
  } else {
    chunk.set_mask(instruction.dst().reg, result);
  }
  if (row.has(isa::flag::scc_out)) chunk.set_scc_slice(result);
}

}  // namespace Atoll::compiler

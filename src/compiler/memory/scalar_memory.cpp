// compiler: what scalar instructions load (scalar_memory.h).
#include "compiler/memory/scalar_memory.h"

#include "compiler/memory/access_filter.h"
#include "compiler/memory/guest_bounds.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/scalar_offset.h"
#include "isa/table.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::compiler {

using isa::OperandKind;

bool ScalarMemory::takes(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  const bool is_load = row.encoding == isa::Encoding::smem && row.computes.operation == isa::Operation::load;
  const bool has_base_alone = row.operands[1].type == isa::DataType::b64 && !row.has(isa::flag::reads_flat_scratch);
  if (!is_load || !has_base_alone) return false;  // no buffers, no scratch
  const isa::Operand& result = instruction.dst();
  if (instruction.scale_offset) return false;
  if (!engine::registers_exist(instruction) || result.kind != OperandKind::scalar) return false;
  if (instruction.src(0).kind != OperandKind::scalar || result.reg + result.words > isa::scalar::m0) return false;
  if (instruction.sources() == 1) return true;
  const isa::Operand& offset = instruction.src(1);
  return engine::constant_value(offset) || (offset.kind == OperandKind::scalar && offset.words == 1);
}

llvm::Value* ScalarMemory::offset(const isa::Operand& operand, ScalarRegisters& registers) {
  if (const auto value = engine::constant_value(operand)) return frame_.ir.getInt64(*value);
  if (operand.reg == isa::scalar::null) return frame_.ir.getInt64(0);
  return frame_.ir.CreateZExt(registers.word(operand.reg), frame_.i64());
}

void ScalarMemory::load(const isa::Instruction& instruction, ScalarRegisters& registers, bool words_apart,
                        bool is_noted) {
  llvm::IRBuilder<>& ir = frame_.ir;
  const isa::Operand& result = instruction.dst();
  llvm::Value* offset = ir.getInt64(static_cast<uint64_t>(engine::scalar_offset(instruction)));
  if (instruction.sources() > 1) offset = ir.CreateAdd(offset, this->offset(instruction.src(1), registers));
  llvm::Value* base = registers.pair(instruction.src(0).reg);
  llvm::Value* as_given = ir.CreateAdd(base, offset);
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const bool is_small = access.bytes != 0 && access.bytes < 4;  // of such, the offset alone is aligned
  llvm::Value* address = is_small ? ir.CreateAdd(base, ir.CreateAnd(offset, ~uint64_t{access.bytes - 1u}))
                                  : ir.CreateAnd(as_given, ~uint64_t{3});
  llvm::Value* from_base = frame_.bounds->offset(address);
  if (is_noted) frame_.bounds->note(from_base);
  if (!is_noted) frame_.check(frame_.bounds->hold(from_base));
  if (frame_.odd != nullptr)
    frame_.odd->look_at_scalar(is_small ? access.bytes : result.words * 4u, is_small ? address : as_given);
  llvm::Value* pointer = ir.CreateIntToPtr(address, frame_.pointer());
  if (is_small) {
    llvm::Type* narrow = ir.getIntNTy(access.bytes * 8u);
    llvm::Value* word = ir.CreateAlignedLoad(narrow, pointer, unaligned, /*isVolatile=*/true);
    word = access.sign_extend ? ir.CreateSExt(word, frame_.i32()) : ir.CreateZExt(word, frame_.i32());
    return registers.set_word(result.reg, word);
  }
  llvm::Type* type = llvm::FixedVectorType::get(frame_.i32(), result.words);
  llvm::Value* loaded = ir.CreateAlignedLoad(type, pointer, llvm::Align(4), /*isVolatile=*/true);
  for (unsigned i = 0; i < result.words; ++i) {
    llvm::Value* word = words_apart ? ir.CreateAlignedLoad(frame_.i32(), frame_.at(pointer, i * 4), llvm::Align(4))
                                    : ir.CreateExtractElement(loaded, i);
    registers.set_word(result.reg + i, word);
  }
}

}  // namespace Atoll::compiler

// compiler: scratch as a buffer (scratch_buffers.h).
#include "compiler/memory/scratch_buffers.h"

#include <bit>

#include <llvm/IR/Module.h>

#include "engine/interpreter/prepare.h"
#include "engine/memory/buffer_resource.h"
#include "isa/table.h"
#include "isa/unit.h"

namespace Atoll::compiler {

using isa::OperandKind;

namespace {

/// True for the instructions that set up a scratch resource from another one: copies of scalar registers, and the
/// addition of the wave's offset.
bool keeps_scratch_resource(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  switch (row.computes.operation) {
    case isa::Operation::mov:
      return row.encoding == isa::Encoding::sop1 && !row.has(isa::flag::indexed_source | isa::flag::indexed_result) &&
             instruction.src(0).kind == OperandKind::scalar;
    case isa::Operation::add:
      return row.encoding == isa::Encoding::sop2 && row.operands[0].type == isa::DataType::u32;
    case isa::Operation::add_carry:
      return isa::is_scalar_alu(row.encoding);
    default:
      return false;
  }
}

}  // namespace

std::bitset<isa::scalar::count> ordinary_resources(const engine::ControlFlow& flow) {
  ScalarSet written;
  for (const auto& [pc, block] : flow.blocks) {
    for (const engine::Located& at : block.instructions) {
      const isa::Instruction& instruction = at.instruction;
      if (!keeps_scratch_resource(instruction)) written |= lane_effects_of(instruction).writes;
    }
  }
  std::bitset<isa::scalar::count> ordinary;
  for (unsigned reg = 0; reg + 4 <= isa::scalar::count; ++reg) {
    ordinary[reg] = written[reg] || written[reg + 1] || written[reg + 2] || written[reg + 3];
  }
  return ordinary;
}

ScratchBuffers::Key ScratchBuffers::key(const MemoryOperands& operands) {
  const isa::Operand& offset = *operands.resource_offset;
  if (const auto value = engine::constant_value(offset)) return {operands.resource->reg, true, *value};
  return {operands.resource->reg, false, offset.reg};
}

void ScratchBuffers::note_writes(const ScalarSet& written) {
  std::erase_if(known_, [&](const auto& known) {
    bool is_written = !known.first.is_constant && written[known.first.offset];
    for (unsigned word = 0; word < 4; ++word) is_written |= written[known.first.resource + word];
    return is_written;
  });
}

/// A function of the wave, the resource's words and the offset: the private address, or -1.
llvm::Function* ScratchBuffers::checker() {
  llvm::Module& module = *frame_.function->getParent();
  constexpr const char* name = "stack_base";
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Type* word = frame_.i32();
  auto* type = llvm::FunctionType::get(word, {frame_.pointer(), word, word, word, word, word}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  const llvm::IRBuilderBase::InsertPointGuard guard(ir);
  ir.SetInsertPoint(llvm::BasicBlock::Create(frame_.context, "", function));
  llvm::Value* wave = function->getArg(0);
  const auto argument = [&](unsigned i) { return ir.CreateZExt(function->getArg(i), frame_.i64()); };
  const auto has = [&](llvm::Value* value, uint32_t field, uint32_t expected) {
    return ir.CreateICmpEQ(ir.CreateAnd(value, field), ir.getInt32(expected));
  };
  // Lanes' dwords side by side, as many as the wave has lanes.
  using engine::BufferResource;
  const target::BufferResources layout = frame_.target.processor->buffer_resources;
  const uint64_t lanes = frame_.wave_size();
  const auto lanes_shift = static_cast<uint64_t>(std::countr_zero(lanes));
  const auto index_stride = static_cast<uint32_t>((lanes_shift - 3) << 21);
  llvm::Value* fits = layout >= target::BufferResources::gfx11
                          ? has(function->getArg(2), BufferResource::wide_swizzle_field, 1u << 30)
                          : has(function->getArg(2), BufferResource::swizzle_field, BufferResource::swizzle_field);
  fits = ir.CreateAnd(fits,
                      has(function->getArg(4), BufferResource::add_thread_id_field | BufferResource::index_stride_field,
                          BufferResource::add_thread_id_field | index_stride));
  if (target::has_element_size(*frame_.target.processor)) {
    constexpr uint32_t of_dwords = 1u << BufferResource::element_size_shift;
    fits = ir.CreateAnd(fits, has(function->getArg(4), BufferResource::element_size_field, of_dwords));
  }
  // Each lane's column is the one that scratch gives it, and the stack's end within.
  llvm::Value* begin = ir.CreateOr(argument(1), ir.CreateShl(ir.CreateAnd(argument(2), 0xFFFF), 32));
  llvm::Value* scratch = ir.CreateLoad(frame_.i64(), frame_.at(wave, offsetof(Wave, scratch)));
  llvm::Value* distance = ir.CreateSub(ir.CreateAdd(begin, argument(5)), scratch);
  llvm::Value* bytes =
      ir.CreateZExt(ir.CreateLoad(word, frame_.at(wave, offsetof(Wave, scratch_bytes_per_lane))), frame_.i64());
  fits = ir.CreateAnd(fits, ir.CreateICmpEQ(ir.CreateAnd(distance, lanes * 4 - 1), ir.getInt64(0)));
  fits = ir.CreateAnd(fits, ir.CreateICmpULT(distance, ir.CreateMul(bytes, ir.getInt64(lanes))));
  llvm::Value* base = ir.CreateLShr(distance, lanes_shift);
  if (layout >= target::BufferResources::gfx10) {  // the ABI's resource has no end
    constexpr auto empty = static_cast<uint32_t>(BufferResource::Bounds::empty);
    fits = ir.CreateAnd(fits,
                        has(function->getArg(4), BufferResource::bounds_field, empty << BufferResource::bounds_shift));
    fits = ir.CreateAnd(fits, ir.CreateICmpNE(function->getArg(3), ir.getInt32(0)));
  } else {  // no part of the stack is past the buffer's end
    llvm::Value* end = ir.CreateSub(ir.CreateAdd(argument(5), bytes), base);
    fits = ir.CreateAnd(fits, ir.CreateICmpULE(end, argument(3)));
  }
  ir.CreateRet(ir.CreateSelect(fits, ir.CreateTrunc(base, word), ir.getInt32(~0u)));
  return function;
}

llvm::Value* ScratchBuffers::find(const MemoryOperands& operands, ScalarRegisters& registers, uint64_t pc) {
  llvm::Value*& base = known_[key(operands)];
  if (base != nullptr) return base;
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::SmallVector<llvm::Value*, 6> arguments{frame_.wave};
  for (unsigned word = 0; word < 4; ++word) arguments.push_back(registers.word(operands.resource->reg + word));
  if (const auto value = engine::constant_value(*operands.resource_offset)) {
    arguments.push_back(ir.getInt32(static_cast<uint32_t>(*value)));
  } else {
    arguments.push_back(registers.word(operands.resource_offset->reg));
  }
  base = ir.CreateCall(checker(), arguments);
  frame_.interpret_unless(ir.CreateICmpNE(base, ir.getInt32(~0u)), pc);
  return base;
}

}  // namespace Atoll::compiler

#include "compiler/lowering/undefined_value_checks.h"

#include <vector>

#include <llvm/IR/MDBuilder.h>

#include "engine/compiled/compiled_run.h"
#include "machine/wave/undefined_registers.h"

namespace Atoll::compiler {

using engine::JitContext;
using machine::UndefinedRegisters;

namespace {

template <size_t count>
uint64_t word_of(const std::bitset<count>& set, unsigned word) {
  constexpr std::bitset<count> low(~uint64_t{0});
  return ((set >> (64 * word)) & low).to_ullong();
}

/// The words of UndefinedRegisters that a stretch has to do with.
std::vector<machine::RegisterUse> words_of(const CheckInterval& interval) {
  std::vector<machine::RegisterUse> words;
  const auto add = [&](const machine::RegisterUse& use) {
    if ((use.reads | use.reads_all | use.writes) != 0) words.push_back(use);
  };
  for (unsigned word = 0; word < UndefinedRegisters::row_words; ++word) {
    add({.word = word,
         .reads = word_of(interval.reads, word),
         .reads_all = word_of(interval.reads_all, word),
         .writes = word_of(interval.writes, word)});
  }
  for (unsigned word = 0; word < UndefinedRegisters::scalar_words; ++word) {
    add({.word = UndefinedRegisters::row_words + word,
         .reads = word_of(interval.scalar_reads, word),
         .reads_all = 0,
         .writes = word_of(interval.scalar_writes, word)});
  }
  return words;
}

}  // namespace

llvm::Value* UndefinedValueChecks::undefined_registers() {
  return frame_.ir.CreateLoad(frame_.pointer(), frame_.at(frame_.run, offsetof(engine::CompiledRun, undefined)));
}

/// Numbers where a function that is called finds them.
llvm::Value* UndefinedValueChecks::in_memory(std::span<const uint64_t> numbers) {
  llvm::IRBuilder<>& ir = frame_.ir;
  if (numbers.empty()) return llvm::Constant::getNullValue(frame_.pointer());
  llvm::Value* memory = frame_.local(llvm::ArrayType::get(frame_.i64(), numbers.size()), llvm::Align(8));
  for (unsigned i = 0; i < numbers.size(); ++i) {
    ir.CreateStore(ir.getInt64(numbers[i]), frame_.at(memory, sizeof(uint64_t) * i));
  }
  return memory;
}

llvm::BasicBlock* UndefinedValueChecks::look_at(const CheckInterval& interval) {
  const std::vector<machine::RegisterUse> words = words_of(interval);
  if (words.empty()) return nullptr;
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* undefined = undefined_registers();
  const auto address = [&](const machine::RegisterUse& use) {
    static_assert(offsetof(UndefinedRegisters, rows) == 0 &&
                  offsetof(UndefinedRegisters, scalars) == UndefinedRegisters::row_words * sizeof(uint64_t));
    return frame_.at(undefined, use.word * sizeof(uint64_t));
  };
  const auto join = [&](llvm::Value* bits, llvm::Value* more) {
    return bits == nullptr ? more : ir.CreateOr(bits, more);
  };
  // Registers of which some lanes are undefined are looked at in the engine; likewise those that become defined in
  // some lanes alone.
  llvm::Value *is_read = nullptr, *is_written = nullptr;
  std::vector<std::pair<llvm::Value*, llvm::Value*>> defined;  // where, and what is left
  for (const machine::RegisterUse& use : words) {
    llvm::Value* now = ir.CreateLoad(frame_.i64(), address(use));
    const uint64_t reads = use.reads | use.reads_all;
    if (reads != 0) is_read = join(is_read, ir.CreateAnd(now, ir.getInt64(reads)));
    if (use.writes == 0) continue;
    if (use.word < UndefinedRegisters::row_words)
      is_written = join(is_written, ir.CreateAnd(now, ir.getInt64(use.writes)));
    defined.emplace_back(address(use), ir.CreateAnd(now, ir.getInt64(~use.writes)));
  }
  llvm::Value* nothing = ir.getInt64(0);
  llvm::Value* is_rare = is_read != nullptr ? ir.CreateICmpNE(is_read, nothing) : ir.getFalse();
  if (is_written != nullptr) {
    llvm::Value* in_part = ir.CreateAnd(ir.CreateICmpNE(is_written, nothing),
                                        ir.CreateICmpNE(frame_.exec(), ir.getInt64(frame_.all_lanes())));
    is_rare = ir.CreateOr(is_rare, in_part);
  }
  for (const machine::UpperHalf& half : interval.upper_halves) {
    llvm::Value* now = ir.CreateLoad(frame_.i64(), frame_.at(undefined, half.addend / 64 * sizeof(uint64_t)));
    llvm::Value* bit = ir.CreateAnd(now, ir.getInt64(uint64_t{1} << half.addend % 64));
    is_rare = ir.CreateOr(is_rare, ir.CreateICmpNE(bit, nothing));
  }
  llvm::BasicBlock *rare = block("maybe_undefined"), *plain = block("defined"), *on = block("checked"),
                   *leaves = block("undefined");
  ir.CreateCondBr(is_rare, rare, plain, llvm::MDBuilder(frame_.context).createBranchWeights(1, 1u << 10));
  ir.SetInsertPoint(plain);
  for (const auto& [where, left] : defined) ir.CreateStore(left, where);
  ir.CreateBr(on);

  ir.SetInsertPoint(rare);
  static_assert(sizeof(machine::RegisterUse) == 4 * sizeof(uint64_t));
  static_assert(sizeof(machine::UpperHalf) == 3 * sizeof(uint64_t));
  std::vector<uint64_t> uses, upper_halves;
  for (const machine::RegisterUse& use : words) {
    uses.insert(uses.end(), {use.word, use.reads, use.reads_all, use.writes});
  }
  for (const machine::UpperHalf& half : interval.upper_halves) {
    upper_halves.insert(upper_halves.end(), {half.addend, half.sum, half.carry});
  }
  llvm::Value* called =
      ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(JitContext, registers_are_defined)));
  llvm::Type *pointer = frame_.pointer(), *number = frame_.i64();
  auto* type = llvm::FunctionType::get(ir.getInt8Ty(), {pointer, pointer, pointer, number, pointer, number}, false);
  llvm::CallInst* call = ir.CreateCall(type, called,
                                       {frame_.wave, undefined, in_memory(uses), ir.getInt64(words.size()),
                                        in_memory(upper_halves), ir.getInt64(interval.upper_halves.size())});
  call->addFnAttr(llvm::Attribute::Cold);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  call->addParamAttr(0, llvm::Attribute::ReadOnly);
  ir.CreateCondBr(ir.CreateICmpNE(call, ir.getInt8(0)), on, leaves);
  ir.SetInsertPoint(on);
  return leaves;
}

void UndefinedValueChecks::end_accesses() {
  llvm::IRBuilder<>& ir = frame_.ir;
  llvm::Value* some =
      ir.CreateLoad(ir.getInt8Ty(), frame_.at(frame_.run, offsetof(engine::CompiledRun, has_filtered_accesses)));
  llvm::BasicBlock *report = block("tell"), *on = block("told");
  ir.CreateCondBr(ir.CreateICmpNE(some, ir.getInt8(0)), report, on,
                  llvm::MDBuilder(frame_.context).createBranchWeights(1, 1u << 10));
  ir.SetInsertPoint(report);
  llvm::Value* called =
      ir.CreateLoad(frame_.pointer(), frame_.at(frame_.jit_context, offsetof(JitContext, accesses_are_over)));
  auto* type = llvm::FunctionType::get(ir.getVoidTy(), {frame_.pointer(), frame_.pointer()}, false);
  llvm::CallInst* call = ir.CreateCall(type, called, {frame_.wave, frame_.run});
  call->addFnAttr(llvm::Attribute::Cold);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  call->addParamAttr(0, llvm::Attribute::ReadOnly);
  ir.CreateBr(on);
  ir.SetInsertPoint(on);
}

}  // namespace Atoll::compiler

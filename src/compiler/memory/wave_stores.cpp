// compiler: stores of the whole wave to LDS, from rows in memory (chunk_memory.h): a function for each size of
// elements, with a loop over the chunks.
#include <fmt/format.h>

#include <llvm/IR/Module.h>

#include "compiler/lowering/chunk_loop.h"
#include "compiler/memory/chunk_memory.h"

namespace Atoll::compiler {

bool ChunkMemory::can_for_wave(const isa::Instruction& instruction, const MemoryOperands& operands) {
  return operands.space == MemorySpace::lds && operands.is_store &&
         semantics::memory_access(instruction).half == semantics::MemoryAccess::Half::none;
}

void ChunkMemory::emit_for_wave(const Prepared& prepared, llvm::Value* exec, llvm::Value* address,
                                llvm::ArrayRef<llvm::Value*> data) {
  const unsigned bytes = semantics::memory_access(*prepared.instruction).bytes;
  const int64_t offset = offset_of(*prepared.instruction, prepared.operands, prepared.element);
  llvm::SmallVector<llvm::Value*, 9> arguments{lds_base(), ir().getInt32(static_cast<uint32_t>(offset)),
                                               lds_starts(bytes), exec, address};
  arguments.append(data.begin(), data.end());
  const std::string name = fmt::format("store_wave_{}", bytes);
  llvm::Function* function = frame_.function->getParent()->getFunction(name);
  if (function == nullptr) {
    function = new_shared(name, ir().getVoidTy(), arguments);
    emit_store_of_wave(*function, bytes);
  }
  ir().CreateCall(function, arguments)->setCallingConv(sparing);
}

/// The body of such a function.
void ChunkMemory::emit_store_of_wave(llvm::Function& function, unsigned bytes) {
  const llvm::IRBuilderBase::InsertPointGuard guard(ir());
  llvm::BasicBlock* begin = llvm::BasicBlock::Create(frame_.context, "begin", &function);
  ChunkLoop loop(frame_, function);
  llvm::Argument *base = function.getArg(0), *offset = function.getArg(1), *starts = function.getArg(2),
                 *exec = function.getArg(3), *address = function.getArg(4);
  ir().SetInsertPoint(begin);
  loop.enter(exec);
  loop.skip_inactive(loop.lanes);

  ir().SetInsertPoint(loop.lanes);
  const auto words_of = [&](llvm::Value* row) {
    llvm::Value* words = ir().CreateInBoundsGEP(frame_.i32(), row, loop.first_lane());
    return ir().CreateAlignedLoad(frame_.chunk(), words, llvm::Align(64));
  };
  Addresses at;
  at.base = base;
  at.low = ir().CreateAdd(words_of(address), splat(offset));
  at.starts = starts;
  Words stored{};
  for (unsigned word = 0; word < (bytes + 3) / 4; ++word) stored[word] = words_of(address + 1 + word);
  store_in_place(bytes, at, ir().CreateBitCast(loop.active(), frame_.lanes()), stored);
  ir().CreateBr(loop.next);
  loop.finish();
  ir().CreateRetVoid();
}

}  // namespace Atoll::compiler

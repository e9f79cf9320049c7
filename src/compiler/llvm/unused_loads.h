// compiler: keeps loads whose result is unused. They have to be executed, because the wave faults on unmapped memory.
//
// LLVM would remove them. Each load is therefore marked by a call of an empty function. Once registers are SSA values,
// results without other uses are known, and only those loads are kept artificially.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PassManager.h>

namespace Atoll::compiler {

/// Marks values as loaded.
void note_loaded(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> words);

/// Removes the marks of note_loaded() and keeps the loads without other uses.
struct KeepUnusedLoads : llvm::PassInfoMixin<KeepUnusedLoads> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace Atoll::compiler

// compiler: loads whose result is not needed. They are done all the same: where there is no memory, the wave
// faults.
//
// LLVM would leave them out. So each load says what it has loaded by a call of a function that does nothing; once
// registers are values, it is clear which results get anywhere, and only the others are held on to.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PassManager.h>

namespace Atoll::compiler {

/// Says that these values have been loaded.
void note_loaded(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> words);

/// Takes what note_loaded() has put in out again, and keeps the loads that nothing else does.
struct KeepUnusedLoads : llvm::PassInfoMixin<KeepUnusedLoads> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace Atoll::compiler

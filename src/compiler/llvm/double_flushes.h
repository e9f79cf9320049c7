// compiler: removes redundant denormal flushes.
//
// In modes without f32 denormals (GFX6 to GFX8, and code compiled to flush them) each instruction flushes its sources
// and its result (semantics/float/float_mode.h). Most sources are results that have been flushed already, which LLVM
// does not recognise.
#pragma once

#include <llvm/IR/PassManager.h>

namespace Atoll::compiler {

/// Removes flushes of values that have been flushed on all paths within the function.
struct DropDoubleFlushes : llvm::PassInfoMixin<DropDoubleFlushes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace Atoll::compiler

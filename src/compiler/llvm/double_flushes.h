// compiler: denormals that are flushed twice.
//
// In a mode without denormals of f32 (that of GFX6 to GFX8, and of what is compiled to flush them elsewhere) each
// instruction flushes what it reads and what it writes (semantics/float/float_mode.h). What it reads is most often what
// another one has written. LLVM does not see that flushing that again changes nothing.
#pragma once

#include <llvm/IR/PassManager.h>

namespace Atoll::compiler {

/// Drops flushes of what has been flushed, whichever way it comes there within the function.
struct DropDoubleFlushes : llvm::PassInfoMixin<DropDoubleFlushes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace Atoll::compiler

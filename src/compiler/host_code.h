// compiler: from LLVM IR to host code: an object file, in memory.
#pragma once

#include <memory>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "support/error.h"

namespace Atoll::compiler {

/// Optimises modules for this host and generates code. One thread at a time.
class HostCompiler {
 public:
  static support::Result<std::unique_ptr<HostCompiler>> create();

  /// A relocatable object file for the host, its code position-independent.
  support::Result<llvm::SmallVector<char, 0>> compile(llvm::Module& module);

 private:
  std::unique_ptr<llvm::TargetMachine> target_;
};

}  // namespace Atoll::compiler

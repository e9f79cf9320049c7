// engine/compiled: from LLVM IR to host code that can be called.
#pragma once

#include <memory>
#include <string>

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include "support/error.h"

namespace Atoll::engine {

/// Optimises a module for this host and makes it callable. Code stays until the compiler goes.
class HostCompiler {
 public:
  static support::Result<std::unique_ptr<HostCompiler>> create();

  /// Host code of the function called `name` in the module.
  support::Result<void*> compile(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module,
                                 const std::string& name);

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> target_;
};

}  // namespace Atoll::engine

// compiler: from LLVM IR to host code: an object file, in memory.
#pragma once

#include <map>
#include <memory>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "semantics/host_vectors.h"
#include "support/error.h"

namespace Atoll::compiler {

/// Optimises modules and generates code for hosts of a level. One thread at a time.
class HostCompiler {
 public:
  static support::Result<std::unique_ptr<HostCompiler>> create();

  // The steps of compile_module() (driver/passes.h) that need to know the host. `fast_compile`: the code may be slower
  // if it is the sooner compiled.
  /// Has the module's functions made for hosts of that level.
  void set_target(llvm::Module& module, semantics::HostVectors level);
  void optimise(llvm::Module& module, semantics::HostVectors level, bool fast_compile);
  /// A relocatable object file for the host, its code position-independent.
  support::Result<llvm::SmallVector<char, 0>> generate(llvm::Module& module, semantics::HostVectors level,
                                                       bool fast_compile);

 private:
  llvm::TargetMachine& target(semantics::HostVectors level);

  const llvm::Target* architecture_ = nullptr;
  std::map<semantics::HostVectors, std::unique_ptr<llvm::TargetMachine>> targets_;
};

}  // namespace Atoll::compiler

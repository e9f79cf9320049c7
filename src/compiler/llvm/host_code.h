// compiler: compiles LLVM IR to an object file in memory.
#pragma once

#include <map>
#include <memory>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "semantics/host_vectors.h"
#include "support/error.h"

namespace Atoll::compiler {

/// Optimises modules and generates code for a host ISA level. Not thread-safe.
class HostCompiler {
 public:
  static support::Result<std::unique_ptr<HostCompiler>> create();

  // The target-dependent steps of compile_module() (driver/passes.h). `fast_compile`: prefer compile time over speed.
  // Sets the module's target to hosts of that level.
  void set_target(llvm::Module& module, semantics::HostVectors level);
  void optimise(llvm::Module& module, semantics::HostVectors level, bool fast_compile);
  /// Generates a relocatable, position-independent object file.
  support::Result<llvm::SmallVector<char, 0>> generate(llvm::Module& module, semantics::HostVectors level,
                                                       bool fast_compile);

 private:
  llvm::TargetMachine& target(semantics::HostVectors level);

  const llvm::Target* architecture_ = nullptr;
  std::map<semantics::HostVectors, std::unique_ptr<llvm::TargetMachine>> targets_;
};

}  // namespace Atoll::compiler

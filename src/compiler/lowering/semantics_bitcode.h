// compiler: the semantics room as LLVM bitcode (see CMakeLists.txt of this room).
#pragma once

#include <memory>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "isa/opcode.h"
#include "semantics/host_vectors.h"
#include "target/processor.h"

namespace Atoll::compiler {

/// Finds functions of semantics by opcode. Bodies are loaded lazily.
class SemanticsBitcode {
 public:
  SemanticsBitcode(llvm::LLVMContext& context, semantics::HostVectors level);

  /// Returns the function on one chunk of lanes (semantics/row.h, run_alone) after loading its body; null if none.
  llvm::Function* vector_function(isa::Opcode opcode, target::Generation generation);
  llvm::Function* scalar_function(isa::Opcode opcode);

  /// Returns a function on one chunk of semantics/modifiers.h or float_mode.h, or one of semantics/memory/atomic.h.
  llvm::Function* function(llvm::StringRef name);

  llvm::Module& module() { return *module_; }
  /// Removes unused functions and releases the module.
  std::unique_ptr<llvm::Module> take();

 private:
  llvm::Function* read(llvm::Function* function);
  void take_rare_lanes();

  std::unique_ptr<llvm::Module> module_;
  std::vector<llvm::Function*> vector_;                     ///< by generation and opcode
  llvm::DenseSet<const llvm::Function*> vector_functions_;  ///< all of them
  std::vector<llvm::Function*> scalar_;
};

}  // namespace Atoll::compiler

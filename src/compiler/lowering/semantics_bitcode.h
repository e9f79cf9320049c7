// compiler: the semantics room once more, as LLVM bitcode (see CMakeLists.txt of this room).
#pragma once

#include <memory>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "isa/opcode.h"
#include "semantics/host_vectors.h"
#include "target/processor.h"

namespace Atoll::compiler {

/// The functions of semantics, found by opcode. Functions that are not used stay unread.
class SemanticsBitcode {
 public:
  SemanticsBitcode(llvm::LLVMContext& context, semantics::HostVectors level);

  /// The function over one chunk of lanes (semantics/row.h, run_alone), or null. It is read in by this call.
  llvm::Function* vector_function(isa::Opcode opcode, target::Generation generation);
  llvm::Function* scalar_function(isa::Opcode opcode);

  /// A function of semantics/modifiers.h or float_mode.h, which works on one chunk, too, or of
  /// semantics/memory/atomic.h.
  llvm::Function* function(llvm::StringRef name);

  llvm::Module& module() { return *module_; }
  /// Drops what was not used and hands the module over.
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

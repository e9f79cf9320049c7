// compiler: from the control flow of a kernel, or of parts of it, to host functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "engine/compiled/control_flow.h"
#include "semantics/host_vectors.h"
#include "target/target.h"

namespace Atoll::compiler {

/// What became of a piece of code.
struct Translated {
  std::vector<uint64_t> entries;     ///< PCs at which waves may come in, by number
  std::vector<uint64_t> helper_pcs;  ///< PCs of the instructions that the engine executes, by number
};

/// Pieces of code for a target as functions of one LLVM module, for hosts with the vector instructions of `level`.
class Translation {
 public:
  Translation(const target::Target& target, semantics::HostVectors level);
  ~Translation();

  /// Makes an engine::HostFunction called `name`. PCs of `flow` count from the code's base, the helper calls' numbers
  /// from `first_helper`. `be_brief`: what is not in a loop may be slower if it is the sooner compiled.
  Translated add(const engine::ControlFlow& flow, const std::string& name, uint64_t first_helper, bool be_brief);
  /// Adds what becomes of code that is added from now on, as text: loops, superblocks and regions.
  void dump_regions_to(std::string* text);
  /// The module with all that was added. Nothing can be, any more.
  llvm::Module& finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace Atoll::compiler

// compiler: from the control flow of a kernel to one host function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "engine/compiled/control_flow.h"
#include "semantics/host_vectors.h"
#include "semantics/lanes.h"

namespace Atoll::compiler {

struct Translation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::vector<uint64_t> entries;  ///< PCs at which waves may come in, by number
  std::vector<uint64_t> steps;    ///< PCs of the instructions that are left to the interpreter's handlers, by number
};

/// Translates for waves whose MODE is `mode`, and hosts with the vector instructions of `level`, into an
/// engine::HostFunction called `name`. PCs of `flow` count from the code's base, the single steps' numbers from
/// `first_step`. `be_brief`: what is not in a loop may be slower if it is the sooner compiled.
Translation translate(const engine::ControlFlow& flow, const semantics::FloatMode& mode, semantics::HostVectors level,
                      const std::string& name, uint64_t first_step, bool be_brief);

}  // namespace Atoll::compiler

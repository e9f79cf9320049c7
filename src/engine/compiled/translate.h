// engine/compiled: from the control flow of a kernel to one host function.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "engine/compiled/control_flow.h"
#include "engine/compiled/single_step.h"
#include "semantics/lanes.h"

namespace Atoll::engine {

/// A translated function. It runs a wave from the block that `entry` numbers (in the order of ControlFlow::entries)
/// until the wave stops (false) or goes on at Wave::pc, which is not in the function or not to be run by it (true).
using HostFunction = bool (*)(Wave& wave, Run& run, uint64_t entry);

struct Translation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  uint64_t steps = 0;  ///< instructions that are left to the interpreter's handlers
};

/// Translates for waves whose MODE is `mode`. `steps` must live as long as the code.
Translation translate(const ControlFlow& flow, const semantics::FloatMode& mode, SingleSteps& steps,
                      const std::string& name);

}  // namespace Atoll::engine

// compiler: from the control flow of a kernel, or of parts of it, to host functions.
#pragma once

#include <bitset>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "compiler/analysis/hotness.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/superblocks.h"
#include "compiler/lowering/frame.h"
#include "compiler/lowering/region_plan.h"
#include "engine/compiled/control_flow.h"
#include "semantics/host_vectors.h"
#include "target/target.h"

namespace Atoll::compiler {

/// What the analyses say of a piece of code.
struct CodeFacts {
  const engine::ControlFlow& flow;
  const Liveness& liveness;
  const Hotness& hotness;
  std::span<const LoopPlan> loops;
  std::span<const Superblock> superblocks;  ///< everything but the loops
  std::bitset<isa::scalar::count> ordinary_resources;
};

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

  /// Makes an engine::HostFunction called `name`. PCs of the code count from its base, the helper calls' numbers from
  /// `first_helper`. Where there are faults in `plans` then, the function must not be used.
  Translated add(const CodeFacts& code, const std::string& name, uint64_t first_helper, PlanReport& plans);
  /// The module with all that was added. Nothing can be, any more.
  llvm::Module& finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace Atoll::compiler

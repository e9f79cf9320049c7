// compiler: translates the control flow of a kernel, or parts of it, to host functions.
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

/// Results of the analyses.
struct CodeFacts {
  const engine::ControlFlow& flow;
  const Liveness& liveness;
  const Hotness& hotness;
  std::span<const LoopPlan> loops;
  std::span<const Superblock> superblocks;  ///< everything outside the loops
  std::bitset<isa::scalar::count> ordinary_resources;
};

/// The result of a translation.
struct Translated {
  std::vector<uint64_t> entries;     ///< entry PCs by number
  std::vector<uint64_t> helper_pcs;  ///< PCs of instructions executed by the engine, by number
};

/// Translates code for a target to functions of one LLVM module, for a host ISA level.
class Translation {
 public:
  Translation(const target::Target& target, semantics::HostVectors level);
  ~Translation();

  /// Creates an engine::HostFunction called `name`. PCs are relative to the code's base; helper calls are numbered from
  /// `first_helper`. If `plans` then contains faults, the function must not be used.
  Translated add(const CodeFacts& code, const std::string& name, uint64_t first_helper, PlanReport& plans);
  /// Finalises and returns the module; add() must not be called afterwards.
  llvm::Module& finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace Atoll::compiler

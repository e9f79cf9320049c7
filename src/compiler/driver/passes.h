// compiler: the list of all passes in order. passes.cpp is the place to start reading the compiler.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/llvm/host_code.h"
#include "compiler/llvm/linking.h"
#include "compiler/lowering/translate.h"
#include "engine/compiled/control_flow.h"
#include "support/error.h"

namespace Atoll::compiler {

/// Receives the module after each step of the compiler, with the step's name (ir_steps).
using AfterStep = std::function<void(std::string_view step, const llvm::Module& module)>;
/// The steps after which there is LLVM IR, in their order.
inline constexpr std::string_view ir_steps[] = {"lowering", "optimise", "slow-paths", "mask-scalarization",
                                                "mask-expansion"};

/// Parts of a kernel (analysis/partition.h) that are compiled together.
struct ModuleRequest {
  std::span<const engine::ControlFlow> parts;
  const target::Target& target;
  semantics::HostVectors level;  ///< host ISA level
  uint64_t first_helper = 0;     ///< index of the first helper call
  bool fast_compile = false;     ///< prefer compile time over speed outside loops
  /// Receives loops, superblocks and regions as text; may be null.
  std::string* region_dump = nullptr;
  AfterStep after_step{};  ///< empty: none is called
};

/// The compiled functions, one per part.
struct CompiledModule {
  std::vector<Translated> parts;
  LinkedCode code;
};

/// Calls `emitted` once the parts are lowered, before LLVM's passes, so that later modules can proceed in parallel.
/// Without a host compiler the passes end there.
support::Result<CompiledModule> run_passes(const ModuleRequest& request, HostCompiler* host,
                                           const std::function<void(std::span<const Translated>)>& emitted);

/// LLVM's passes: returns the host machine code as an object file in memory.
support::Result<llvm::SmallVector<char, 0>> compile_module(llvm::Module& module, HostCompiler& host,
                                                           semantics::HostVectors level, bool fast_compile,
                                                           const AfterStep& after_step = {});

}  // namespace Atoll::compiler

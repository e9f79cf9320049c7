// compiler: all passes, in the order in which they run. Whoever wants to know what the compiler does to code begins to
// read in passes.cpp.
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
  semantics::HostVectors level;  ///< of the host's vector instructions
  uint64_t first_helper = 0;     ///< the number of the first helper call
  bool fast_compile = false;     ///< what is not in a loop may be slower if it is the sooner compiled
  /// Adds what becomes of the code, as text: loops, superblocks and regions. Null: nobody wants to know.
  std::string* region_dump = nullptr;
  AfterStep after_step{};  ///< empty: none is called
};

/// A function for each part.
struct CompiledModule {
  std::vector<Translated> parts;
  LinkedCode code;
};

/// `emitted` is told what became of the parts as soon as that is known, before LLVM is at them: what comes after may go
/// on beside other modules. Without a host compiler, the passes end there.
support::Result<CompiledModule> run_passes(const ModuleRequest& request, HostCompiler* host,
                                           const std::function<void(std::span<const Translated>)>& emitted);

/// The part of them that is LLVM's: the host's machine code, as an object file in memory.
support::Result<llvm::SmallVector<char, 0>> compile_module(llvm::Module& module, HostCompiler& host,
                                                           semantics::HostVectors level, bool fast_compile,
                                                           const AfterStep& after_step = {});

}  // namespace Atoll::compiler

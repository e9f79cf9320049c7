// codegen: LLVM IR to assembly text: reads a module, prepares it by LLVM's generic passes with a TargetTransformInfo of
// Atoll's own, and runs the passes of machine IR.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/error.h"
#include "target/target_id.h"

namespace Atoll::codegen {

struct IrModule {
  std::string name;  ///< in messages
  std::string ir;    ///< LLVM IR as text or bitcode
};

struct CompileOptions {
  target::TargetId target;
  unsigned wave_size = 0;   ///< 0: 32 where the processor has waves of 32, unless the IR says otherwise
  std::string print_after;  ///< print the machine IR after the pass of that name, to standard error; "all": after each
  unsigned version = 6;     ///< of the code object
  unsigned level = 3;       ///< of LLVM's optimizations: 0 to 3
  bool keep_going = false;  ///< leave out kernels that use what is not implemented
};

struct CompiledModule {
  std::string assembly;
  std::vector<std::string> refused;  ///< messages about kernels that are left out
};

/// Links the modules and compiles their kernels.
support::Result<CompiledModule> compile_ir(std::span<const IrModule> modules, const CompileOptions& options);

}  // namespace Atoll::codegen

// compiler: slow paths for operations with rare lanes (semantics/lanes/rare_lanes.h), mostly NaNs.
//
// First, the bitcode's checks become calls of marker functions of values, which stand for the operation's result and
// disappear in the end. LLVM thus sees no branches and optimises the code as if there were no rare lanes. Then runs of
// such operations within a block, with everything computed from their results, are executed speculatively as if no lane
// were rare. Where a result leaves the run there is one check of all lanes. If any lane is rare, the needed results are
// recomputed in a separate block, by shared functions.
//
// Many checks can be omitted: NaNs propagate through sums and products, so checking the last ones is sufficient, and
// comparisons do not depend on a NaN's payload.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace Atoll::compiler {

/// Replaces the calls of semantics' functions in a module before inlining. `is_vector` identifies vector functions,
/// whose VectorCall has the relevant lanes.
void take_rare_lanes_by_value(llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> is_vector);

/// Inserts the checks and slow-path blocks into an optimised function.
void insert_slow_paths(llvm::Function& function);

}  // namespace Atoll::compiler

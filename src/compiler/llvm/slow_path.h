// compiler: operations that do something else in few lanes (semantics/lanes/rare_lanes.h), NaNs most of all.
//
// First, the calls by which the bitcode asks become calls of functions of values, which stand for the operation's
// result and vanish in the end: so LLVM sees no branches and optimises what is between them as if there were no such
// lanes. Then stretches of such operations and of what is computed from their results, within a block, are done as if
// no lane were rare. Where a stretch ends, that is where a result gets out of it, there is one look at all the lanes,
// and if any is rare, what matters of the stretch is computed anew in a block of its own, by functions that all share.
//
// Many a look can be left out: a NaN goes through sums and products, so that it is enough to look at the last ones, and
// it makes no difference to a comparison which NaN it is.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace Atoll::compiler {

/// Changes the calls of semantics' functions in a module whose functions were not inlined yet. `is_vector` tells which
/// are vector functions, whose VectorCall says which lanes matter.
void take_rare_lanes_by_value(llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> is_vector);

/// Puts the looks and the blocks for rare lanes into a function that is optimised already.
void insert_slow_paths(llvm::Function& function);

}  // namespace Atoll::compiler

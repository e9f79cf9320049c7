// compiler: looks for NaNs after a loop instead of in each of its passes.
//
// A sum that a loop carries on stays a NaN once it is one, whatever is added to it: so it is enough to look at it where
// the loop is left. When it is a NaN there, the loop is done once more from its beginning, this time with a look in
// each pass.
//
// Until then the loop goes on with NaNs of which it is not known what they should have been. So nothing but such sums
// may depend on them: no branch, no address, no integer.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace Atoll::compiler {

/// The marks (slow_path_marker.h) that are looked at after their loops. For each, what tells in a pass whether it must
/// be looked at there after all: 1 bit.
using LateLooks = llvm::DenseMap<llvm::CallInst*, llvm::Value*>;

/// Finds them, and puts the looks after the loops.
LateLooks look_behind_loops(llvm::Function& function);

}  // namespace Atoll::compiler

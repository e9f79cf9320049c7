// compiler: sinks NaN checks out of loops.
//
// A sum carried by a loop stays a NaN once it is one, so checking it after the loop is sufficient. If it is a NaN
// there, the loop is repeated from its start with a check in each iteration.
//
// Until then the loop computes with NaNs of unknown payload. Only such sums may depend on them: no branch, address or
// integer.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace Atoll::compiler {

/// The marks (slow_path_marker.h) checked after their loops, each with the i1 that decides within an iteration whether
/// it must be checked there after all.
using LateLooks = llvm::DenseMap<llvm::CallInst*, llvm::Value*>;

/// Finds them and inserts the checks after the loops.
LateLooks look_behind_loops(llvm::Function& function);

}  // namespace Atoll::compiler

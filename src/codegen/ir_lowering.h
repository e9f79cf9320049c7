// codegen: what no instruction of these GPUs computes, as IR that instructions do compute.
//
// Division and square roots become an approximation and steps of Newton's method, with the exact sequences of the user
// guide's instructions div_scale, div_fmas and div_fixup; division of integers uses the reciprocal of floats; counts of
// zeros, overflow flags, rotations, saturation and elements at variable indices become simple operations. Runs after
// LLVM's passes, which would form some of these operations again.
#pragma once

#include <llvm/IR/Function.h>

#include "target/target.h"

namespace Atoll::codegen {

/// Lowers all instructions of the function. Changes its control flow where a loop is needed (64-bit division, memcpy).
void lower_ir(llvm::Function& function, const target::Processor& processor);

}  // namespace Atoll::codegen

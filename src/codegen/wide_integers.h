// codegen: integers of more than 64 bits, as pieces of 64 bits.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::codegen {

/// Replaces operations on integers of 65 to 1,024 bits by operations on i64. What it does not know stays.
void split_wide_integers(llvm::Function& function);

}  // namespace Atoll::codegen

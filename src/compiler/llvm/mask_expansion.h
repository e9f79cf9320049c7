// compiler: lane masks on hosts without mask registers.
//
// A wave's masks are words in scalar registers. Where lanes need one, it becomes a vector of single bits; without
// AVX-512 such a vector is one of whole elements, and LLVM 19 fills it bit by bit, with some thirty instructions for 16
// lanes, whenever a mask is used in another block than the one where it was made.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::compiler {

/// Makes the lanes' bits in every block where a mask is used: the word in all elements, compared under each lane's bit.
void expand_masks(llvm::Function& function);

}  // namespace Atoll::compiler

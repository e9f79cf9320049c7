// compiler: expands lane masks on hosts without mask registers.
//
// Masks are words in scalar registers and become <16 x i1> vectors for lanes. Without AVX-512 such a vector has whole
// elements, and LLVM fills it bit by bit, some thirty instructions for 16 lanes, whenever a mask is used in another
// block than its definition.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::compiler {

/// Expands the bits in each block that uses a mask: broadcasts the word and tests each lane's bit.
void expand_masks(llvm::Function& function);

}  // namespace Atoll::compiler

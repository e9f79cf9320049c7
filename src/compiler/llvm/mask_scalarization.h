// compiler: logic of lane masks as words.
//
// A wave's masks are words in scalar registers, whose slices become vectors of single bits where lanes need them. LLVM
// moves the logic between such masks over to the vectors. Back as operations of words it is as quick, in the host's
// general registers; and for AVX-512 LLVM 19's instruction selection does not come to an end over some of it where it
// is left as it is ("and" of a comparison and an "or" of two words, one of which is inverted elsewhere; blends by two
// masks and by what is in either of them, or in one but not in the other). So it is not to know of any word that lanes'
// bits are taken from how it was computed.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::compiler {

/// Turns and, or, xor of vectors of single bits that both come from words into the same of the words, and hides
/// from LLVM how words were computed whose bits lanes get.
void scalarize_masks(llvm::Function& function);

}  // namespace Atoll::compiler

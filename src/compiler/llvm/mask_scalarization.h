// compiler: computes lane-mask logic on words instead of vectors.
//
// Masks are words in scalar registers, whose slices become <16 x i1> vectors for lanes. LLVM moves logic on masks to
// the vectors. On words it is as fast, in general registers. LLVM 19's instruction selection for AVX-512 also did not
// terminate on some of it ("and" of a comparison and an "or" of two words, one inverted elsewhere; blends by two masks
// and by their union or difference). LLVM 22 terminates on the case in tests/differential/found_code_test.cpp. The
// computation of words that provide lanes' bits is hidden from LLVM.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::compiler {

/// Converts and, or, xor of i1 vectors that come from words to operations on the words, and hides from LLVM how the
/// words were computed.
void scalarize_masks(llvm::Function& function);

}  // namespace Atoll::compiler

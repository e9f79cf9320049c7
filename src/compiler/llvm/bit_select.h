// compiler: choosing bits by a constant.
//
// For AVX-512 LLVM makes one instruction of "these bits of one value, the others of another" (VPTERNLOG), and merges a
// blend after it into its mask. Where the blend keeps the lanes of a value that the choice takes bits from, LLVM 19
// writes the truth table with two operands in each other's place (llvm-project issue 157929, mended in July 2026: the
// bodies of VPTERNLOG231_imm8 and VPTERNLOG312_imm8 were swapped). It does so only where it knows the bits to be
// constants, so it must not: copysign into the destination, v_bfi_b32 v2, s0, v1, v2, is such a case, and so is
// v_bfi_b32 v2, s0, 1.0, v2, of which LLVM has folded one half.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::compiler {

/// Hides the constants of bit choices that blends follow.
void combine_ternary_logic(llvm::Function& function);

}  // namespace Atoll::compiler

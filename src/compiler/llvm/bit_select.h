// compiler: works around an LLVM bug in bit selection by a constant.
//
// For AVX-512 LLVM combines a bit selection into VPTERNLOG and merges a following blend into its mask. If the blend
// keeps lanes of one of the selected values, LLVM 19.1 and 22.1.8 swap two operands in the truth table (llvm-project
// issue 157929, fixed in July 2026 on the main branch: the bodies of VPTERNLOG231_imm8 and VPTERNLOG312_imm8 were
// swapped). This happens only if the bits are known constants, so they are hidden. Examples: copysign into the
// destination, v_bfi_b32 v2, s0, v1, v2, and v_bfi_b32 v2, s0, 1.0, v2, half of which LLVM folds.
#pragma once

#include <llvm/IR/Function.h>

namespace Atoll::compiler {

/// Hides the constants of bit selections that are followed by blends.
void combine_ternary_logic(llvm::Function& function);

}  // namespace Atoll::compiler

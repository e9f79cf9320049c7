// semantics: floating-point instructions of the scalar ALU (from GFX11.5 on), and transcendental functions whose
// operands are scalar registers (v_s_exp_f32 and its like, GFX12).
//
// What such an instruction computes is what some vector instruction computes in one lane, modifiers and the wave's
// floating-point mode included. So there is a list of pairs instead of further functions.
#pragma once

#include "isa/instruction.h"
#include "semantics/registry.h"
#include "target/processor.h"

namespace Atoll::semantics {

/// The vector instruction that does in one lane what the scalar one does; Opcode::invalid if `opcode` is no scalar
/// floating-point instruction.
isa::Opcode lane_equivalent(isa::Opcode opcode);

/// Executes a scalar floating-point instruction. `call` has the operands as for scalar_function(): the sources in the
/// order of the text, a literal among them, and the destination's old value. A comparison yields SCC; a result of 16
/// bits clears the upper half of its register ("RDNA4", V_S_EXP_F16; of the SALU's own, LLVM relies on nothing).
void scalar_float(const isa::Instruction& instruction, target::Generation generation, const FloatMode& mode,
                  ScalarCall& call);

}  // namespace Atoll::semantics

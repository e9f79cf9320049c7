// compiler: lowers scalar instructions.
#pragma once

#include <span>

#include "compiler/lowering/chunk_state.h"
#include "compiler/lowering/operation.h"
#include "engine/compiled/control_flow.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

/// Returns whether an instruction is bitwise on registers as wide as lane masks, so that it can be executed on mask
/// slices. Its SCC, if any, is whether the result (*_saveexec: EXEC) is non-zero.
bool works_on_each_bit(const isa::Instruction& instruction);

/// The truth tables of such an instruction for one lane: result and new EXEC as functions of the sources' bits and EXEC
/// (bit n of a table: first source n & 1, second n >> 1 & 1, EXEC n >> 2), indexed by SCC.
struct BitFunction {
  uint8_t result[2], exec[2];
};
BitFunction bit_function(const isa::Instruction& instruction);

class SaluLowering {
 public:
  SaluLowering(Frame& frame, Operations& operations) : frame_(frame), operations_(operations) {}

  /// Supports arithmetic and logic.
  static bool takes(const isa::Instruction& instruction);
  void emit(const isa::Instruction& instruction, ScalarRegisters& registers);

  /// Returns the operand as i64.
  llvm::Value* value(const isa::Operand& operand, ScalarRegisters& registers);

  /// Emits an instruction that works_on_each_bit() on varying masks. Sources in `whole` are i64 masks of the wave; the
  /// others are registers of the chunk.
  void emit_on_varying_masks(const isa::Instruction& instruction, llvm::Value* const (&whole)[2], llvm::Value* scc,
                             ChunkState& chunk);

 private:
  /// Emits the function with this truth table: bit n is its value for the inputs' bits in n, first input lowest.
  llvm::Value* function_of(std::span<llvm::Value* const> inputs, uint8_t table);

  Frame& frame_;
  Operations& operations_;
};

}  // namespace Atoll::compiler

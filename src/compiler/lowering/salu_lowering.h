// compiler: scalar instructions as IR.
#pragma once

#include <span>

#include "compiler/lowering/chunk_state.h"
#include "compiler/lowering/operation.h"
#include "engine/compiled/control_flow.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

/// Whether an instruction is an operation on each bit of registers as wide as lane masks alone, so that it can be
/// executed on the slices of lane masks. Its SCC, if it yields one, tells whether the result (of *_saveexec: EXEC) is
/// other than zero.
bool works_on_each_bit(const isa::Instruction& instruction);

/// What such an instruction makes of one lane's bits: its result and the new EXEC, for each value of the sources' bits
/// and EXEC's (bit n of a table: first source n & 1, second n >> 1 & 1, EXEC n >> 2), and of SCC (the index).
struct BitFunction {
  uint8_t result[2], exec[2];
};
BitFunction bit_function(const isa::Instruction& instruction);

class SaluLowering {
 public:
  SaluLowering(Frame& frame, Operations& operations) : frame_(frame), operations_(operations) {}

  /// Arithmetic and logic.
  static bool takes(const isa::Instruction& instruction);
  void emit(const isa::Instruction& instruction, ScalarRegisters& registers);

  /// 64 bits.
  llvm::Value* value(const isa::Operand& operand, ScalarRegisters& registers);

  /// An instruction that works_on_each_bit(), on varying masks. Sources in `whole` are there as 64 bits of the whole
  /// wave; the others are registers of the chunk.
  void emit_on_varying_masks(const isa::Instruction& instruction, llvm::Value* const (&whole)[2], llvm::Value* scc,
                             ChunkState& chunk);

 private:
  /// The function with this table: bit n is its value where each input's bit is that bit of n, the first the lowest.
  llvm::Value* function_of(std::span<llvm::Value* const> inputs, uint8_t table);

  Frame& frame_;
  Operations& operations_;
};

}  // namespace Atoll::compiler

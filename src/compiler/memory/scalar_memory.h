// compiler: scalar loads: s_load_dword, its multiples, and bytes and halves.
#pragma once

#include "compiler/lowering/scalar_registers.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

class ScalarMemory {
 public:
  explicit ScalarMemory(Frame& frame) : frame_(frame) {}

  static bool takes(const isa::Instruction& instruction);
  /// Emits a volatile load, because it may fault even if its result is unused. `words_apart`: each word is also loaded
  /// by itself, which is faster for broadcasts. `is_noted`: the address is checked later (GuestBounds).
  void load(const isa::Instruction& instruction, ScalarRegisters& registers, bool words_apart = false,
            bool is_noted = false);

 private:
  /// Returns the operand that is added to the base, i64.
  llvm::Value* offset(const isa::Operand& operand, ScalarRegisters& registers);

  Frame& frame_;
};

}  // namespace Atoll::compiler

// compiler: what scalar instructions load: s_load_dword, its multiples, and bytes and halves.
#pragma once

#include "compiler/lowering/scalar_registers.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

class ScalarMemory {
 public:
  explicit ScalarMemory(Frame& frame) : frame_(frame) {}

  static bool takes(const isa::Instruction& instruction);
  /// The load stays in its place and is executed even if its result is not needed, since it may fault: volatile.
  /// `words_apart`: each word is also loaded by itself, which is best for one that goes to all lanes. `is_noted`:
  /// whether the address is right is looked at later, with others (GuestBounds).
  void load(const isa::Instruction& instruction, ScalarRegisters& registers, bool words_apart = false,
            bool is_noted = false);

 private:
  /// The operand that is added to the base, 64 bits.
  llvm::Value* offset(const isa::Operand& operand, ScalarRegisters& registers);

  Frame& frame_;
};

}  // namespace Atoll::compiler

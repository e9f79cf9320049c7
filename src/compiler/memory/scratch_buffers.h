// compiler: where a wave's stack is, in code that addresses scratch as a buffer.
//
// On GFX9 up to gfx90a, and on GFX10, compilers reach scratch by buffer instructions. A resource in SGPRs says where it
// is and how lanes are interleaved, an SGPR how far the wave's stack has grown. Whether the resource is that of the
// wave's scratch is found out when the code runs, once for each pair of them in a block; if it is not, the interpreter
// goes on.
#pragma once

#include <map>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/scalar_registers.h"
#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

/// Whether an instruction writes the registers of buffer resources that some code uses other than by moving and
/// adding, as is done to scratch's only: then the resource is one of an ordinary buffer. By first register.
std::bitset<isa::scalar::count> ordinary_resources(const engine::ControlFlow& flow);

class ScratchBuffers {
 public:
  explicit ScratchBuffers(Frame& frame) : frame_(frame) {}

  /// Whether find() has been called for these operands and they hold the same still.
  bool knows(const MemoryOperands& operands) const { return known_.contains(key(operands)); }
  /// The private address, 32 bits, that an offset of 0 in the buffer means to each lane; a multiple of 4, inside the
  /// scratch. Where the buffer is another one, the code leaves for the interpreter to go on at `pc`: nothing of what
  /// is at `pc` and after must have been executed.
  llvm::Value* find(const MemoryOperands& operands, ScalarRegisters& registers, uint64_t pc);

  void note_writes(const ScalarSet& written);
  void forget() { known_.clear(); }

 private:
  struct Key {
    unsigned resource;
    bool is_constant;
    uint64_t offset;  ///< the constant, or the register
    auto operator<=>(const Key&) const = default;
  };
  static Key key(const MemoryOperands& operands);
  llvm::Function* checker();

  Frame& frame_;
  std::map<Key, llvm::Value*> known_;
};

}  // namespace Atoll::compiler

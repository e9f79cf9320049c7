// compiler: buffers other than scratch.
//
// What a buffer resource says is known when the code runs. Translated code has the addresses of those whose records
// follow one another, and whose bounds are the usual ones for the way of addressing (buffer_memory.cpp); it looks at
// each resource before the first access in a block, and where it is of another kind, the interpreter goes on.
#pragma once

#include <set>
#include <utility>

#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/scalar_registers.h"

namespace Atoll::compiler {

/// Whether the lanes have 64-bit offsets from the resource's base (addr64): of the resource nothing else matters then.
inline bool has_wide_offsets(const MemoryOperands& operands) {
  return operands.address != nullptr && operands.address->words == 2 && !operands.has_index;
}

class RawBuffers {
 public:
  explicit RawBuffers(Frame& frame) : frame_(frame) {}

  /// Whether check() has been called for these operands and their resource holds the same still.
  bool knows(const MemoryOperands& operands) const {
    return has_wide_offsets(operands) || known_.contains(key(operands));
  }
  /// Leaves for the interpreter to go on at `pc` unless the buffer is plain: nothing of what is at `pc` and after must
  /// have been executed.
  void check(const MemoryOperands& operands, ScalarRegisters& registers, uint64_t pc);

  void note_writes(const ScalarSet& written);
  void forget() { known_.clear(); }

 private:
  using Key = std::pair<unsigned, bool>;  ///< the resource's first register, and whether accesses have an index
  static Key key(const MemoryOperands& operands) { return {operands.resource->reg, operands.has_index}; }

  Frame& frame_;
  std::set<Key> known_;
};

}  // namespace Atoll::compiler

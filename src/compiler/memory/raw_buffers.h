// compiler: checks buffer resources.
//
// A resource's contents are known at run time. Translated code supports consecutive records with the usual bounds for
// the addressing mode (buffer_memory.cpp). It checks each resource before its first use in a block, and leaves to the
// interpreter for other kinds.
#pragma once

#include <set>
#include <utility>

#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/scalar_registers.h"

namespace Atoll::compiler {

/// Returns whether lanes have 64-bit offsets from the resource's base (addr64); nothing else of it matters then.
inline bool has_wide_offsets(const MemoryOperands& operands) {
  return operands.address != nullptr && operands.address->words == 2 && !operands.has_index;
}

class RawBuffers {
 public:
  explicit RawBuffers(Frame& frame) : frame_(frame) {}

  /// Returns whether check() has been called for these operands and the resource is unchanged.
  bool knows(const MemoryOperands& operands) const {
    return has_wide_offsets(operands) || known_.contains(key(operands));
  }
  /// Leaves to the interpreter at `pc` unless the buffer is plain. Nothing from `pc` on may have been executed.
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

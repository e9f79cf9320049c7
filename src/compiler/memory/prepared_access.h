// compiler: a memory access of a chunk with its scalar operands.
#pragma once

#include <cstdint>

#include <llvm/IR/Value.h>

#include "compiler/analysis/memory_operands.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::compiler {

/// Returns the immediate offset of an element.
inline int64_t offset_of(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element) {
  if (operands.space != MemorySpace::lds) return instruction.offset;
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const uint32_t field = element == 0 ? static_cast<uint32_t>(instruction.offset) : instruction.offset1;
  return field * (access.elements == 2 ? access.offset_unit : 1u);
}

/// A load or store accepted by memory_operands(), with its scalar operands at the time of preparation.
struct PreparedAccess {
  const isa::Instruction* instruction = nullptr;
  MemoryOperands operands;
  unsigned element = 0;                ///< index of the stored element, for instructions with several
  llvm::Value* scalar_base = nullptr;  ///< i64; scratch: i32; buffer: including its scalar offset
  /// For buffers, i32: number of bytes after `scalar_base`, or of records if there is an index, ...
  llvm::Value* buffer_end = nullptr;
  llvm::Value* buffer_stride = nullptr;  ///< ... and how many bytes each has
  llvm::Value* lds_limit = nullptr;      ///< LDS limit in M0, i32; null: none

  int64_t offset(unsigned of_element) const { return offset_of(*instruction, operands, of_element); }
  /// Returns the number of elements per lane, and their offsets from the first in bytes.
  unsigned elements() const { return operands.is_store ? 1 : semantics::memory_access(*instruction).elements; }
  int64_t distance(unsigned of_element) const { return of_element == 0 ? 0 : offset(of_element) - offset(0); }
};

}  // namespace Atoll::compiler

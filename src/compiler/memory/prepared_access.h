// compiler: a load, store or atomic of a chunk of lanes with what it needs of the scalar registers.
#pragma once

#include <cstdint>

#include <llvm/IR/Value.h>

#include "compiler/analysis/memory_operands.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::compiler {

/// What an instruction adds to the address of an element by itself.
inline int64_t offset_of(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element) {
  if (operands.space != MemorySpace::lds) return instruction.offset;
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const uint32_t field = element == 0 ? static_cast<uint32_t>(instruction.offset) : instruction.offset1;
  return field * (access.elements == 2 ? access.offset_unit : 1u);
}

/// A load or store that memory_operands() accepts, with its scalar operands as they are when it is prepared.
struct PreparedAccess {
  const isa::Instruction* instruction = nullptr;
  MemoryOperands operands;
  unsigned element = 0;                ///< which one a store stores, of those that the instruction has for each lane
  llvm::Value* scalar_base = nullptr;  ///< 64 bits; of scratch, 32 bits; of a buffer, with its offset for the wave
  /// Of a buffer, 32 bits: how many bytes there are after `scalar_base`, or, if there is an index, records, ...
  llvm::Value* buffer_end = nullptr;
  llvm::Value* buffer_stride = nullptr;  ///< ... and how many bytes each has
  llvm::Value* lds_limit = nullptr;      ///< what M0 limits LDS to, 32 bits; null: it does not

  int64_t offset(unsigned of_element) const { return offset_of(*instruction, operands, of_element); }
  /// How many elements it has for each lane, and how far they are from the first: bytes.
  unsigned elements() const { return operands.is_store ? 1 : semantics::memory_access(*instruction).elements; }
  int64_t distance(unsigned of_element) const { return of_element == 0 ? 0 : offset(of_element) - offset(0); }
};

}  // namespace Atoll::compiler

// compiler: which operands of a memory instruction are what, for those that translated code executes itself.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"

namespace Atoll::compiler {

enum class MemorySpace : uint8_t {
  global,
  lds,
  scratch,  ///< a lane's own: no access of another lane or space reaches it
  flat,     ///< any of them
  buffer    ///< of memory
};

/// Spaces in which the order of accesses of different lanes can matter, a bit for each.
constexpr unsigned shared_spaces(MemorySpace space) {
  constexpr unsigned global = 1, lds = 2;
  switch (space) {
    case MemorySpace::global:
    case MemorySpace::buffer:
      return global;
    case MemorySpace::lds:
      return lds;
    case MemorySpace::scratch:
      return 0;
    case MemorySpace::flat:
      break;
  }
  return global | lds;
}

/// The space of an access of which it is known that it is neither in the aperture of LDS nor in that of scratch.
constexpr MemorySpace outside_apertures(MemorySpace space) {
  return space == MemorySpace::flat ? MemorySpace::global : space;
}

/// Which operands of a load, store or atomic are what.
struct MemoryOperands {
  MemorySpace space = MemorySpace::global;
  bool is_store = false;
  bool is_atomic = false;
  /// One row, or two: the words of a 64-bit address, or a buffer's index and offset, if it has both; null: none.
  const isa::Operand* address = nullptr;
  const isa::Operand* scalar_base = nullptr;  ///< a pair of SGPRs; of scratch, one
  /// By which the address is multiplied, which is a signed offset from `scalar_base` then (GFX12.5). 0: it is not
  /// signed.
  uint8_t offset_scale = 0;
  const isa::Operand* result = nullptr;  ///< of a load or an atomic
  const isa::Operand* data[2]{};         ///< of a store or an atomic

  /// Of a buffer access, be it one of scratch (scratch_buffers.h) or not: four SGPRs, and an offset for the wave, an
  /// SGPR or a constant.
  const isa::Operand* resource = nullptr;
  const isa::Operand* resource_offset = nullptr;
  bool has_index = false;

  bool loads() const { return !is_store; }
  bool stores() const { return is_store || is_atomic; }
};

/// Null for instructions that are no load, store or atomic, or one that has to be left to the interpreter. A buffer
/// that may be scratch is said to be.
std::optional<MemoryOperands> memory_operands(const isa::Instruction& instruction);

}  // namespace Atoll::compiler

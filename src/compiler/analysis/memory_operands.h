// compiler: roles of a memory instruction's operands, for accesses that translated code performs inline.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"

namespace Atoll::compiler {

enum class MemorySpace : uint8_t {
  global,
  lds,
  scratch,  ///< private to the lane: not aliased by other lanes or spaces
  flat,     ///< any address space
  buffer    ///< of memory
};

/// Returns the address spaces in which the order of different lanes' accesses matters, one bit each.
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

/// Returns the space of an access that is known to be outside the LDS and scratch apertures.
constexpr MemorySpace outside_apertures(MemorySpace space) {
  return space == MemorySpace::flat ? MemorySpace::global : space;
}

/// Roles of the operands of a load, store or atomic.
struct MemoryOperands {
  MemorySpace space = MemorySpace::global;
  bool is_store = false;
  bool is_atomic = false;
  /// One row, or two: a 64-bit address, or a buffer's index and offset; null: none.
  const isa::Operand* address = nullptr;
  const isa::Operand* scalar_base = nullptr;  ///< a pair of SGPRs; for scratch, one SGPR
  /// Scale of the address, which is then a signed offset from `scalar_base` (GFX12.5). 0: unsigned.
  uint8_t offset_scale = 0;
  const isa::Operand* result = nullptr;  ///< of loads and atomics
  const isa::Operand* data[2]{};         ///< of stores and atomics

  /// For buffer accesses, including scratch (scratch_buffers.h): four SGPRs, and a uniform offset in an SGPR or
  /// constant.
  const isa::Operand* resource = nullptr;
  const isa::Operand* resource_offset = nullptr;
  bool has_index = false;

  bool loads() const { return !is_store; }
  bool stores() const { return is_store || is_atomic; }
};

/// Returns null for other instructions and for accesses left to the interpreter. Buffers that may be scratch are
/// marked.
std::optional<MemoryOperands> memory_operands(const isa::Instruction& instruction);

}  // namespace Atoll::compiler

// hazards: consecutive vector registers, as operands name them.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::hazards {

/// Consecutive registers, numbered as in isa::VectorSet.
struct RegisterRange {
  uint16_t first = 0, count = 0;

  bool overlaps(const RegisterRange& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
  friend bool operator==(const RegisterRange&, const RegisterRange&) = default;
};

/// Returns an operand's vector registers; an empty range for other operands.
inline RegisterRange range_of(const isa::Operand& operand) {
  if (operand.kind != isa::OperandKind::vgpr && operand.kind != isa::OperandKind::agpr) return {};
  const unsigned base = operand.kind == isa::OperandKind::agpr ? isa::first_agpr : 0;
  return {static_cast<uint16_t>(base + operand.reg), static_cast<uint16_t>(operand.words)};
}

}  // namespace Atoll::hazards

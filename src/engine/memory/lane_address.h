// engine: addresses in global memory, lane by lane, as instructions of GFX12.5 have them: 64 bits in a pair of VGPRs,
// or a scalar base with an offset in a VGPR, which is signed and may count elements (scale_offset).
//
// Uses of MemoryOp: `address` has the VGPRs, `scalar_base` and `scalar_offset` the base and what an offset is
// multiplied by, and `bits` says whether there is a base.
#pragma once

#include <cstdint>

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

inline constexpr uint8_t has_lane_address_base = 1;  ///< MemoryOp::bits

/// `bytes`: of an element. `scalar`: the operand that is a base if it is a scalar one, or null.
inline void set_lane_address(MemoryOp& m, const isa::Instruction& instruction, const isa::Operand& vector,
                             const isa::Operand* scalar, unsigned bytes) {
  m.offset = instruction.offset;
  m.address = row_offset(vector);
  m.bits = 0;
  m.scalar_offset = static_cast<uint8_t>(instruction.scale_offset ? bytes : 1);
  if (scalar == nullptr || scalar->kind != isa::OperandKind::scalar) return;
  m.scalar_base = static_cast<uint8_t>(scalar->reg);
  m.bits = has_lane_address_base;
}

/// `rows`: those of the address.
inline uint64_t lane_address(const Wave& wave, const MemoryOp& m, const Row* rows, unsigned lane) {
  const auto offset = static_cast<uint64_t>(int64_t{m.offset});
  if ((m.bits & has_lane_address_base) == 0) return (rows[0][lane] | uint64_t{rows[1][lane]} << 32) + offset;
  const int64_t vector = static_cast<int32_t>(rows[0][lane]) * int64_t{m.scalar_offset};
  return wave.scalar64(m.scalar_base) + static_cast<uint64_t>(vector) + offset;
}

}  // namespace Atoll::engine

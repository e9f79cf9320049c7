// engine: per-lane global addresses of GFX12.5 instructions: 64 bits in a pair of VGPRs, or a scalar base with a signed
// offset in a VGPR, which may count elements (scale_offset).
//
// Use of MemoryOp: `address` is the VGPRs, `scalar_base` the base, `scalar_offset` the offset's scale, and `bits` has
// the flag for a base.
#pragma once

#include <cstdint>

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

inline constexpr uint8_t has_lane_address_base = 1;  ///< MemoryOp::bits

/// `bytes`: element size. `scalar`: operand that is the base if it is an SGPR; may be null.
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

/// `rows`: rows of the address.
inline uint64_t lane_address(const Wave& wave, const MemoryOp& m, const Row* rows, unsigned lane) {
  const auto offset = static_cast<uint64_t>(int64_t{m.offset});
  if ((m.bits & has_lane_address_base) == 0) return (rows[0][lane] | uint64_t{rows[1][lane]} << 32) + offset;
  const int64_t vector = static_cast<int32_t>(rows[0][lane]) * int64_t{m.scalar_offset};
  return wave.scalar64(m.scalar_base) + static_cast<uint64_t>(vector) + offset;
}

}  // namespace Atoll::engine

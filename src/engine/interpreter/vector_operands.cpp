// engine: the operands of vector instructions, when they are prepared (vector.h).
#include <bit>
#include <iterator>

#include "engine/interpreter/vector.h"
#include "semantics/modifiers.h"
#include "support/half.h"

namespace Atoll::engine {

bool set_source(Preparation& p, unsigned slot, const isa::Operand& operand, unsigned words) {
  VectorOp& v = p.op.vector;
  if (operand.kind == isa::OperandKind::vgpr || operand.kind == isa::OperandKind::agpr) {
    v.source_base[slot] = row_base(operand);
    v.source[slot] = row_offset(operand);
    return true;
  }
  if (const auto value = constant_value(operand)) {
    v.source_base[slot] = RowBase::absolute;
    v.source[slot] = reinterpret_cast<uint64_t>(p.page.constant(*value));
    return true;
  }
  if (operand.kind != isa::OperandKind::scalar) return false;
  v.source_base[slot] = RowBase::temporary;
  const auto wide = static_cast<uint8_t>(words == 2 && operand.words == 2 ? broadcast_pair : 0);
  for (unsigned i = 0; i < p.op.broadcasts; ++i) {
    const uint8_t other = p.op.broadcast_slot[i];
    if (p.op.broadcast[i] == operand.reg && (other & broadcast_pair) == wide) {
      v.source[slot] = 2 * (other & ~broadcast_pair) * sizeof(Row);
      return true;
    }
  }
  if (p.op.broadcasts == std::size(p.op.broadcast)) return false;
  v.source[slot] = 2 * slot * sizeof(Row);
  const unsigned index = p.op.broadcasts++;
  p.op.broadcast[index] = static_cast<uint8_t>(operand.reg);
  p.op.broadcast_slot[index] = static_cast<uint8_t>(slot | wide);
  return true;
}

isa::Operand mixed_source(const isa::Operand& operand) {
  if (operand.kind != isa::OperandKind::constant || operand.type != isa::DataType::f16 || operand.op_sel_hi) {
    return operand;
  }
  constexpr uint16_t inverse_two_pi = 0x3118;
  const auto bits = static_cast<uint16_t>(operand.value);
  const float magnitude = support::half_value(bits & 0x7FFF);
  if (magnitude < 0.1f || magnitude > 4.0f) return operand;  // an integer's bits
  isa::Operand wide = operand;
  wide.value = std::bit_cast<uint32_t>(support::half_value(bits));
  if (bits == inverse_two_pi) wide.value = 0x3E22F983;
  wide.type = isa::DataType::f32;
  return wide;
}

VectorOperands vector_operands(const isa::Instruction& instruction) {
  VectorOperands operands;
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    if (operand.type == isa::DataType::lane_mask) {
      operands.mask_result = &operand;
    } else if (operands.results < std::size(operands.result)) {
      operands.result[operands.results++] = &operand;
    }
  }
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& operand = instruction.src(i);
    if (operand.type == isa::DataType::lane_mask) {
      if (operands.masks < std::size(operands.mask)) operands.mask[operands.masks++] = &operand;
    } else if (operands.sources < std::size(operands.source)) {
      operands.source[operands.sources++] = &operand;
    }
  }
  return operands;
}

bool is_modified(const isa::Instruction& instruction, const semantics::VectorShape& shape) {
  using enum isa::Extension;
  if (instruction.extension == sdwa || instruction.extension == dpp16 || instruction.extension == dpp8) return true;
  if (instruction.omod != 0 || instruction.clamp || instruction.op_sel_dst || shape.mixed_sources) return true;
  if (writes_part(instruction) || shape.has_truth_table || shape.has_signed_sources) return true;
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    if (semantics::has_source_modifiers(instruction.src(i))) return true;
  }
  return false;
}

}  // namespace Atoll::engine

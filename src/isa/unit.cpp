// isa: units by encoding, operation and flags (unit.h).
#include "isa/unit.h"

#include <algorithm>
#include <array>

namespace Atoll::isa {

namespace {

/// Instructions that only matrix units execute. The loads of scales are VALU instructions that they read.
bool is_matrix(Operation operation) {
  return operation == Operation::matrix_fma || operation == Operation::sparse_matrix_fma;
}

/// Scalar instructions that no unit of arithmetic executes: they change where the wave is or when it goes on.
Unit unit_of_control(const InstructionRow& row) {
  switch (row.computes.operation) {
    case Operation::send_message:
    case Operation::send_message_halt:
    case Operation::send_message_return:
      return Unit::message;
    default:
      break;
  }
  if (row.has(flag::branch) || row.has(flag::ends)) return Unit::branch;
  return row.encoding == Encoding::sopp ? Unit::none : Unit::salu;
}

bool computes_doubles(const InstructionRow& row) {
  return std::ranges::any_of(row.operands, [](const OperandSpec& operand) { return operand.type == DataType::f64; });
}

}  // namespace

Unit unit_of(const InstructionRow& row) {
  if (is_scalar_alu(row.encoding)) return unit_of_control(row);
  switch (row.encoding) {
    case Encoding::smem:
      return Unit::smem;
    case Encoding::ds:
      return row.has(flag::gws | flag::gds_only) ? Unit::gds : Unit::lds;
    case Encoding::ldsdir:
      return Unit::lds;
    case Encoding::flat:
      return Unit::flat;
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mubuf:
    case Encoding::mtbuf:
    case Encoding::mimg:
    case Encoding::vsample:
      return Unit::vmem;
    case Encoding::exp:
      return Unit::export_;
    default:
      break;
  }
  if (is_matrix(row.computes.operation)) return Unit::matrix;
  if (row.has(flag::transcendental)) return Unit::transcendental;
  return computes_doubles(row) ? Unit::double_rate : Unit::valu;
}

Unit unit_of(const Instruction& instruction) {
  if (instruction.opcode == Opcode::invalid) return Unit::none;
  const Unit unit = unit_of(row_of(instruction));
  return unit == Unit::lds && instruction.gds ? Unit::gds : unit;
}

std::string_view name_of(Unit unit) {
  constexpr std::array<std::string_view, 14> names{"none",   "SALU",   "VALU",   "transcendental", "double rate",
                                                   "matrix", "SMEM",   "VMEM",   "FLAT",           "LDS",
                                                   "GDS",    "export", "branch", "message"};
  return names[static_cast<size_t>(unit)];
}

}  // namespace Atoll::isa

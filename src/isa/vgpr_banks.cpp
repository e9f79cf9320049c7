// isa: banks of VGPRs (vgpr_banks.h).
#include "isa/vgpr_banks.h"

namespace Atoll::isa {

namespace {

constexpr unsigned bank_registers = 256;

/// Chooses the banks of the operands from `position` on, which are those of that row.
void choose(Instruction& instruction, const InstructionRow& row, unsigned position, unsigned end, uint8_t banks) {
  bool behind_literal = false;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none || position == end) break;
    if (spec.field == Field::flat_return && !instruction.glc) continue;
    if (row.has(flag::bitop3) && spec.field == Field::src2 && instruction.encoding == Encoding::vopd3) break;
    Operand& operand = instruction.operands[position++];
    behind_literal |= spec.field == Field::literal;
    if (operand.kind != OperandKind::vgpr) continue;
    operand.reg = static_cast<uint16_t>(operand.reg + bank_of(spec.field, banks, behind_literal) * bank_registers);
  }
}

}  // namespace

std::optional<BankRole> bank_role(Field field) {
  switch (field) {
    case Field::src0:
    case Field::src0_dst:
    case Field::vgpr_src0:
    case Field::wmma_src0:
    case Field::ds_addr:
    case Field::flat_address:
    case Field::buffer_address:
      return BankRole::first;
    case Field::src1:
    case Field::vgpr_src1:
    case Field::wmma_src1:
    case Field::ds_data0:
    case Field::flat_data:
    case Field::lds_data_address:
      return BankRole::second;
    case Field::src2:
    case Field::vgpr_src2:
    case Field::wmma_acc:
    case Field::wmma_acc_f16:
    case Field::wmma_index:
    case Field::ds_data1:
      return BankRole::third;
    case Field::vdst:
    case Field::wmma_dst:
    case Field::ds_dst:
    case Field::flat_dst:
    case Field::flat_return:
    case Field::lds_address:
    case Field::buffer_data:
      return BankRole::destination;
    default:
      return std::nullopt;
  }
}

unsigned bank_of(Field field, uint8_t banks, bool behind_literal) {
  const auto role = bank_role(field);
  if (!role) return 0;
  const unsigned place = behind_literal && *role == BankRole::second ? unsigned{2} : static_cast<unsigned>(*role);
  return banks >> 2 * place & 3u;
}

void choose_banks(Instruction& instruction, uint8_t banks) {
  if (banks == 0) return;
  const bool is_dual = instruction.second != Opcode::invalid;
  const unsigned end = is_dual ? instruction.second_operands : instruction.operand_count;
  choose(instruction, row_of(instruction), 0, end, banks);
  if (!is_dual) return;
  choose(instruction, row_on(instruction.second, instruction.generation), end, instruction.operand_count, banks);
}

}  // namespace Atoll::isa

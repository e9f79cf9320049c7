// assembler: dual instructions, whose two halves a wave carries out at once (instruction_parser.h).
#include "assembler/instruction_parser.h"
#include "assembler/parser.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::Encoding;
using isa::Field;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace scalar = isa::scalar;

/// Reads the operands of one half of a dual instruction into the result.
bool InstructionParser::dual_half(Opcode opcode) {
  Instruction& out = result_.instruction;
  static constexpr Form form{Opcode::invalid, Encoding::vop2, FormKind::base};
  form_ = &form;
  row_ = &map_.row(opcode);
  unsigned read = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    Operand& to = out.operands[out.operand_count++];
    to.type = spec.type;
    to.op_sel_hi = isa::is_packed(spec.type);
    if (spec.field == Field::carry_in) {
      to.kind = OperandKind::scalar;
      to.reg = scalar::vcc_lo;
      to.words = map_.lane_mask_words;
      // It may be spelled out.
      if (read < count_ && operands_[read].kind == OperandKind::scalar && operands_[read].reg == scalar::vcc_lo) ++read;
      continue;
    }
    if (read == count_) return refuse(lexer().place(), "too few operands for instruction");
    ++progress_;
    if (!vector_operand(spec, operands_[read++], to)) return false;
  }
  if (read != count_) return refuse(operands_[read].place, "too many operands for instruction");
  return true;
}

/// v_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5
bool InstructionParser::dual(std::string_view mnemonic, Place place) {
  const Opcode x = mnemonics_.find_dual(mnemonic);
  if (map_.lane_mask_words != 1) return error(place, "dual instructions need waves of 32 lanes");
  Instruction& out = result_.instruction;
  out = {};
  out.opcode = x;
  out.encoding = Encoding::vopd;
  out.destinations = 1;
  const auto half = [&](Opcode opcode) {
    count_ = 0;
    if (!operands(most_operands)) return false;
    if (given_ != 0) return error("a dual instruction has no modifiers");
    progress_ = 0;
    if (dual_half(opcode)) return true;
    return complain();
  };
  if (!half(x)) return false;
  if (!lexer().accept(TokenKind::colon) || !lexer().accept(TokenKind::colon)) {
    return error("expected '::' and the other half");
  }
  const std::string_view other = token().text;
  out.second = lexer().is(TokenKind::identifier) ? mnemonics_.find_dual(other) : Opcode::invalid;
  if (out.second == Opcode::invalid) return error("expected the other half, as v_dual_add_f32");
  out.second_operands = out.operand_count;
  lexer().advance();
  if (!half(out.second)) return false;
  return lexer().at_end() || error("unexpected token behind the operands");
}

}  // namespace Atoll::assembler

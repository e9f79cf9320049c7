// assembler: dual instructions, whose two halves a wave executes at once (instruction_parser.h).
//
// A text does not say whether it is VOPD or, from GFX12.5 on, VOPD3. It is VOPD if that can hold it, else VOPD3: both
// are made of it, and the encoder, which knows the rules, decides.
#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::Encoding;
using isa::Field;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace flag = isa::flag;
namespace scalar = isa::scalar;

/// Puts the operands of one half into the result. In VOPD3 a half takes what VOP3 does.
bool InstructionParser::dual_half(const DualText& half, Encoding encoding) {
  static constexpr Form short_form{Opcode::invalid, Encoding::vop2, FormKind::base},
      long_form{Opcode::invalid, Encoding::vop3, FormKind::vop3};
  isa::Instruction& out = result_.instruction;
  const bool third = encoding == Encoding::vopd3;
  form_ = third ? &long_form : &short_form;
  row_ = &map_.row(half.opcode);
  operands_ = half.operands;
  unsigned read = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none || (row_->has(flag::bitop3) && spec.field == Field::src2)) break;
    Operand& to = out.operands[out.operand_count++];
    to.type = spec.type;
    to.op_sel_hi = isa::is_packed(spec.type);
    if (spec.field == Field::carry_in && !third) {
      to.kind = OperandKind::scalar;
      to.reg = scalar::vcc_lo;
      to.words = map_.lane_mask_words;
      continue;  // to name it takes VOPD3
    }
    if (read == half.count) return refuse(half.end, "too few operands for instruction");
    ++progress_;
    if (!vector_operand(spec, operands_[read++], to)) return false;
  }
  if (read == half.count) return true;
  return refuse_additional(operands_[read]);
}

bool InstructionParser::dual_halves(const DualText& x, const DualText& y, Encoding encoding) {
  isa::Instruction& out = result_.instruction;
  out = said_;
  result_.literal = nullptr;
  out.opcode = x.opcode;
  out.second = y.opcode;
  out.encoding = encoding;
  out.destinations = 1;
  progress_ = 0;
  if (!dual_half(x, encoding)) return false;
  out.second_operands = out.operand_count;
  return dual_half(y, encoding);
}

/// v_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5
bool InstructionParser::dual(std::string_view mnemonic, Place place) {
  if (map_.lane_mask_words != 1) return error(place, "dual instructions need waves of 32 lanes");
  const auto read = [&](DualText& half) {
    count_ = 0;
    const bool has_table = map_.row(half.opcode).has(flag::bitop3);
    if (!operands(max_operands)) return false;
    if ((given_ & ~(has_table ? bit(Modifier::bitop3) : 0)) != 0) return error("a dual instruction has no modifiers");
    half.operands = operands_;
    half.count = count_;
    half.end = lexer().place();
    return true;
  };
  DualText x{.opcode = mnemonics_.find_dual(mnemonic)}, y;
  if (!read(x)) return false;
  if (!lexer().accept(TokenKind::colon) || !lexer().accept(TokenKind::colon)) {
    return error("expected '::' and the other half");
  }
  if (lexer().is(TokenKind::identifier)) y.opcode = mnemonics_.find_dual(token().text);
  if (y.opcode == Opcode::invalid) return error("expected the other half, as v_dual_add_f32");
  lexer().advance();
  if (!read(y)) return false;
  if (!lexer().at_end()) return error("unexpected token after the operands");

  using isa::CodeMap;
  const auto has_halves = [&](const isa::DualHalves& halves) {
    return CodeMap::code_of_half(halves.x, x.opcode) != CodeMap::none &&
           CodeMap::code_of_half(halves.y, y.opcode) != CodeMap::none;
  };
  if (has_halves(map_.vopd3) && dual_halves(x, y, Encoding::vopd3)) result_.otherwise = result_.instruction;
  // VOPD would change a constant that is negated, VOPD3 negates it; and VOPD3 alone names the lane mask.
  const auto wants_vopd3 = [&](const DualText& half) {
    const bool names_mask = half.count != 0 && map_.row(half.opcode).operands[half.count - 1u].field == Field::carry_in;
    return names_mask || half.any_modified();
  };
  const bool needs_vopd3 = result_.otherwise && (!has_halves(map_.vopd) || wants_vopd3(x) || wants_vopd3(y));
  if (!needs_vopd3 && dual_halves(x, y, Encoding::vopd)) return true;
  if (!result_.otherwise) return diagnose();
  result_.instruction = *result_.otherwise;
  result_.otherwise.reset();
  result_.literal = nullptr;
  return true;
}

}  // namespace Atoll::assembler

// assembler: operands of vector instructions (instruction_parser.h): sources with neg, abs and sext, lane masks,
// matrices, what interpolation names.
#include <algorithm>

#include "assembler/instruction/instruction_parser.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::DataType;
using isa::Encoding;
using isa::Field;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace flag = isa::flag;
namespace scalar = isa::scalar;

bool InstructionParser::vector_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  const bool sdwa = form_->kind == FormKind::sdwa;
  const DataType type = spec.type;
  class_ = isa::operand_class(map_, *row_, result_.instruction, spec.field, type);
  if (text.modified()) {
    if (form_->kind == FormKind::dpp && result_.instruction.extension == isa::Extension::dpp8) {
      return refuse(text.place, "the operand cannot have neg or abs: dpp8 has no place for them");
    }
    const bool source = isa::source_index(spec.field) >= 0;
    const bool floats =
        (isa::is_float(type) && (row_->has(flag::neg) || sdwa)) || row_->has(flag::neg_any) || row_->has(flag::mix);
    const bool plain = form_->kind == FormKind::base && form_->encoding != Encoding::vinterp &&
                       !(form_->encoding == Encoding::vop3p && row_->has(flag::mix));
    const bool folded = plain && text.is_constant() && class_.literal && isa::is_float(type) && !text.sext;
    if (!source || (plain && !folded) || (text.sext && (!sdwa || floats)) || (!text.sext && !floats && !folded)) {
      return refuse(text.place, "the operand cannot have neg, abs or sext");
    }
    if (folded) {
      // There are no modifiers here: the constant itself is changed.
      OperandText changed = text;
      if (!fold(changed, type)) return refuse(text.place, "the operand cannot have neg or abs");
      return source_operand(spec, changed, to);
    }
    to.neg = text.neg;
    to.abs = text.abs;
    to.sext = text.sext;
  }
  return source_operand(spec, text, to);
}

bool InstructionParser::source_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  const DataType type = spec.type;
  const auto vcc = [&] {
    const bool is_vcc = text.is == OperandText::Kind::registers && text.kind == OperandKind::scalar &&
                        text.reg == scalar::vcc_lo && text.words == map_.lane_mask_words;
    if (!is_vcc) return refuse_operand(text, map_.lane_mask_words == 1 ? "vcc_lo" : "vcc");
    return scalar_register(text, map_.lane_mask_words, to);
  };
  const auto either = [&] {
    return class_.scalar ? source(text, type, class_.literal, to) : vector_register(text, to);
  };
  switch (spec.field) {
    case Field::vdst:
      return vector_register(text, to);
    case Field::message_code:
      return immediate_value(text, 0, 255, to);
    case Field::wmma_dst:
    case Field::wmma_index:
    case Field::wmma_src0:
    case Field::wmma_src1:
      return vgpr(text, class_.words, to);
    case Field::wmma_acc:
    case Field::wmma_acc_f16:
      if (!text.is_constant()) return vgpr(text, class_.words, to);
      to.type = class_.type;
      return constant_value(text, to.type, class_.literal, to);
    case Field::agpr_dst:
    case Field::agpr_src0:
      if (text.kind != OperandKind::agpr || text.words != class_.words) return refuse_operand(text, "an AGPR");
      to.kind = OperandKind::agpr;
      to.reg = text.reg;
      to.words = text.words;
      return true;
    case Field::lane_dst:
      return scalar_register(text, class_.words, to);
    case Field::cmp_dst:
    case Field::carry_out:
    case Field::carry_in:
    case Field::vcc_in:
      return class_.vcc ? vcc() : scalar_register(text, class_.words, to);
    case Field::vgpr_src0:
      if (text.kind == OperandKind::lds_direct && class_.lds_direct) {
        to.kind = text.kind;
        return true;
      }
      return either();
    case Field::src0:
    case Field::src0_dst:
    case Field::src1:
    case Field::src2:
    case Field::vgpr_src1:
    case Field::vgpr_src2:
      return either();
    case Field::literal: {
      if (!text.is_constant() || text.is == OperandText::Kind::expression) return refuse_operand(text, "a number");
      OperandText spelled = text;
      spelled.lit = true;
      if (!constant_value(spelled, type, true, to)) return false;
      // It has 32 bits, of which a half is the lower ones.
      if (text.is == OperandText::Kind::integer && isa::is_half(type))
        result_.instruction.literal = static_cast<uint32_t>(text.value);
      return true;
    }
    case Field::interp_slot:
    case Field::attribute:
      return interpolation_operand(spec.field, text, to);
    default:
      return refuse(text.place, "invalid operand for instruction");
  }
}

/// p10, p20, p0; attr3.y
bool InstructionParser::interpolation_operand(Field field, const OperandText& text, Operand& to) {
  to.kind = OperandKind::constant;
  const auto number_in = [](std::string_view digits, unsigned most) -> std::optional<unsigned> {
    unsigned value = 0;
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    for (const char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return value <= most ? std::optional(value) : std::nullopt;
  };
  if (field == Field::interp_slot) {
    constexpr std::array<std::string_view, 3> slots{"p10", "p20", "p0"};
    const auto slot = std::ranges::find(slots, text.word);
    if (slot != slots.end()) {
      to.value = static_cast<uint64_t>(slot - slots.begin());
      return true;
    }
    constexpr std::string_view numbered = "invalid_param_";
    const auto number =
        text.word.starts_with(numbered) ? number_in(text.word.substr(numbered.size()), 511) : std::nullopt;
    if (!number) return refuse_operand(text, "p0, p10 or p20");
    to.value = *number;
    return true;
  }
  constexpr std::string_view channels = "xyzw";
  const size_t dot = text.word.find('.');
  const bool spelled = text.is == OperandText::Kind::word && text.word.starts_with("attr") &&
                       dot != std::string_view::npos && dot + 2 == text.word.size();
  const auto number = spelled ? number_in(text.word.substr(4, dot - 4), 63) : std::nullopt;
  const size_t channel = spelled ? channels.find(text.word[dot + 1]) : std::string_view::npos;
  if (!number || channel == std::string_view::npos) return refuse_operand(text, "an attribute, as attr0.x");
  const bool high = (given_ & bit(Modifier::high)) != 0;
  to.value = *number | channel << 6 | (high ? 1u << 8 : 0u);
  return true;
}

bool InstructionParser::matrix_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  const unsigned words = class_.words;
  const auto either = [&](bool vgprs, bool agprs) {
    if (text.is == OperandText::Kind::registers && text.kind == OperandKind::agpr && agprs && text.words == words) {
      to.kind = OperandKind::agpr;
      to.reg = text.reg;
      to.words = text.words;
      return true;
    }
    return vgprs ? vgpr(text, words, to) : refuse_operand(text, "an AGPR", words);
  };
  switch (spec.field) {
    case Field::matrix_dst:
    case Field::matrix_src0:
    case Field::matrix_src1:
      return either(class_.vgpr, class_.agpr);
    case Field::scale_src0:
    case Field::scale_src1:
      // Behind an MFMA they are VGPRs, as LLVM has it.
      if (row_->has(flag::matrix)) return vgpr(text, 1, to);
      return source(text, spec.type, class_.literal, to);
    default:
      break;
  }
  if (!text.is_constant()) {
    if (text.kind != result_.instruction.operands[0].kind) {
      return refuse(text.place, "the accumulator must be in the same kind of registers as the destination");
    }
    return either(true, true);
  }
  if (!unit_.processor().unified_vgprs) return refuse(text.place, "inline constants are not allowed for this operand");
  to.type = class_.type;
  return constant_value(text, to.type, class_.literal, to);
}

}  // namespace Atoll::assembler

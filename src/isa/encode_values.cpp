// isa: the encoder's registers, inline constants and literals: as the codes that fields hold.
#include "isa/decoder.h"
#include "isa/encoder.h"

namespace Atoll::isa {

bool Encoder::vgpr(const Operand& operand, Field field, unsigned& number, bool accumulation) {
  const OperandKind kind = accumulation ? OperandKind::agpr : OperandKind::vgpr;
  if (operand.kind != kind) {
    return wrong(field, "has to be {} register in {}", accumulation ? "an accumulation" : "a vector",
                 encoding_name(in_.encoding));
  }
  const unsigned words = class_.words;
  if (operand.words != words) return wrong(field, "has to be {} registers wide, not {}", words, operand.words);
  if (operand.reg > 255 || operand.reg + words > layout_.vgprs) return wrong(field, "goes beyond the last register");
  if (words > 1 && operand.reg % class_.vector_alignment != 0) {
    return wrong(field, "has to begin at an even register on {}", processor_.name);
  }
  number = operand.reg;
  return true;
}

bool Encoder::vector_register(const Operand& operand, Field field, unsigned& number) {
  if (!vgpr(operand, field, number)) return false;
  if (!class_.half || wide() || in_.encoding == Encoding::vinterp) return true;  // op_sel selects the half
  if (number >= 128) return wrong(field, "has to be one of v0 to v127 in {}", encoding_name(in_.encoding));
  if (operand.op_sel) number |= 0x80;
  return true;
}

bool Encoder::scalar_register(const Operand& operand, Field field, unsigned& code) {
  if (operand.kind != OperandKind::scalar) return wrong(field, "has to be a scalar register");
  const uint16_t reg = operand.reg;
  code = codes_.code_of_register(reg);
  if (code == CodeMap::none) return wrong(field, "is a register that {} does not have", processor_.name);
  if (reg == scalar::null) return true;  // of any width
  const unsigned words = class_.words, align = class_.scalar_alignment;
  if (operand.words != words) return wrong(field, "has to be {} registers wide, not {}", words, operand.words);
  const auto within = [&](unsigned first, unsigned end) {
    if ((reg - first) % align != 0) return wrong(field, "has to begin at a register whose number {} divides", align);
    return reg + words <= end || wrong(field, "goes beyond the last register");
  };
  if (reg < scalar::vcc_lo) return within(scalar::s0, processor_.addressable_sgprs);
  if (reg >= scalar::ttmp0 && reg < scalar::m0) return within(scalar::ttmp0, scalar::m0);
  if (words > (reg == scalar::m0 ? 1u : 2u) || reg % words != 0) return wrong(field, "cannot be that register");
  return true;
}

bool Encoder::constant(const Operand& operand, Field field, DataType type, unsigned& code) {
  if (row_->has(flag::mix) && !operand.op_sel_hi) type = DataType::f32;
  // A real in the place of an integer of 16 bits is a single float, of which the instruction sees the lower half.
  if (operand.type == DataType::f32 && is_half(type) && !is_float(type)) type = DataType::f32;
  const unsigned spare = 64 - constant_width(type);
  const auto integer = static_cast<int64_t>(operand.value);
  if (spare == 48 && (integer < INT16_MIN || integer > UINT16_MAX)) return wrong(field, "has more than 16 bits");
  if (!operand.is_literal) {
    code = codes_.code_of_constant(operand.value, type, inline_floats(*row_, type));
    // Integers of 16 bits take floats as literals.
    const bool as_literal =
        code >= 240 && is_half(type) && !is_float(type) && !has_half_exponent(*row_) && class_.literal;
    if (code != CodeMap::none && !as_literal) return true;
  }
  if (!class_.literal) {
    return fail("literals are not possible in {}{} on {}", encoding_name(in_.encoding),
                in_.extension == Extension::sdwa                                        ? " with SDWA"
                : in_.extension == Extension::dpp16 || in_.extension == Extension::dpp8 ? " with DPP"
                                                                                        : "",
                processor_.name);
  }
  bool wide = codes_.needs_wide_literal(operand.value, type, in_.encoding);
  if (operand.is_literal) {  // its type selects between the two
    const uint64_t whole = uint64_t{in_.literal_high} << 32 | in_.literal;
    wide = in_.wide_literal && constant_width(type) == 64 && operand.value == whole;
  }
  code = wide ? code::wide_literal : code::literal;
  return literal(operand, field, type, wide);
}

bool Encoder::literal(const Operand& operand, Field field, DataType type, bool wide) {
  if (operand.kind != OperandKind::constant) return wrong(field, "has to be a constant");
  uint64_t value = in_.literal;
  if (wide) {
    value = operand.is_literal ? uint64_t{in_.literal_high} << 32 | in_.literal : operand.value;
  } else if (!operand.is_literal) {
    const auto integer = static_cast<int64_t>(operand.value);
    value = static_cast<uint32_t>(operand.value);
    if (type == DataType::f64) {
      if (value != 0) return wrong(field, "has more bits than a literal: the low 32 bits of a double have to be 0");
      value = operand.value >> 32;
    } else if (is_half(type)) {
      value = static_cast<uint16_t>(operand.value);
    } else if (integer < INT32_MIN || integer > int64_t{UINT32_MAX}) {
      return wrong(field, "has more bits than a literal");
    }
  }
  // If one of two constants is narrower, it is the lower half of the other.
  const uint64_t mask = wide == wide_literal_ ? UINT64_MAX : UINT32_MAX;
  if (has_literal_ && ((literal_ ^ value) & mask) != 0) return fail("an instruction can have one literal only");
  if (!has_literal_ || wide) literal_ = value;
  has_literal_ = true;
  wide_literal_ |= wide;
  return true;
}

bool Encoder::scalar_source(const Operand& operand, Field field, unsigned& code) {
  switch (operand.kind) {
    case OperandKind::scalar:
      return scalar_register(operand, field, code);
    case OperandKind::constant:
      return constant(operand, field, class_.type, code);
    case OperandKind::vgpr:
    case OperandKind::agpr:
      return wrong(field, "cannot be a vector register");
    default:
      code = codes_.code_of_kind(operand.kind);
      if (code == CodeMap::none) return wrong(field, "is nothing that {} has", processor_.name);
      if (operand.kind == OperandKind::lds_direct && !class_.lds_direct) {
        return wrong(field, "cannot be src_lds_direct");
      }
      if (operand.kind == OperandKind::flat_scratch_base_hi && class_.words != 1) {
        return wrong(field, "cannot be src_flat_scratch_base_hi");
      }
      return true;
  }
}

bool Encoder::source(const Operand& operand, Field field, unsigned& code) {
  if (operand.kind != OperandKind::vgpr) return scalar_source(operand, field, code);
  if (!class_.vgpr) return wrong(field, "cannot be a vector register");
  if (!vector_register(operand, field, code)) return false;
  code += code::vgpr;
  return true;
}

bool Encoder::vcc(const Operand& operand, Field field) {
  if (operand.kind == OperandKind::scalar && operand.reg == scalar::vcc_lo && operand.words == map_.lane_mask_words) {
    return true;
  }
  return wrong(field, "has to be {} in {}", map_.lane_mask_words == 1 ? "vcc_lo" : "vcc", encoding_name(in_.encoding));
}

bool Encoder::immediate(const Operand& operand, Field field, uint32_t most, uint32_t& value) {
  if (operand.kind != OperandKind::constant) return wrong(field, "has to be an immediate");
  if (operand.value > most) return wrong(field, "has to be from 0 to {}, but is {}", most, operand.value);
  value = static_cast<uint32_t>(operand.value);
  return true;
}

}  // namespace Atoll::isa

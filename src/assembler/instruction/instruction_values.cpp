// assembler: what goes into an operand's field (instruction_parser.h): registers of the right kind and number,
// constants as the operand's type sees them.
//
// Whether a number is inline or a literal follows LLVM: an integer stands for its bits, also where the operand is a
// float; a real is converted to the operand's type, or to the upper half of a double.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "isa/constants.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::DataType;
using isa::Operand;
using isa::OperandKind;

namespace {

struct FloatFormat {
  unsigned fraction_bits, exponent_bits;
};

FloatFormat format_of(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::v2f16:
      return {10, 5};
    case DataType::bf16:
    case DataType::v2bf16:
      return {7, 8};
    default:
      return {23, 8};
  }
}

/// The bits of a double as the float that the type sees, rounded to nearest; nothing when it is too large, or so small
/// that it loses bits.
std::optional<uint32_t> narrow(double value, DataType type) {
  const auto [fraction_bits, exponent_bits] = format_of(type);
  const int max_exponent = (1 << (exponent_bits - 1)) - 1, least_exponent = 1 - max_exponent;
  const uint32_t sign = (std::signbit(value) ? 1u : 0u) << (fraction_bits + exponent_bits);
  if (value == 0) return sign;
  if (!std::isfinite(value)) return std::nullopt;
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, least_exponent);
  const int last_place = exponent - static_cast<int>(fraction_bits);
  const double units = std::nearbyint(std::ldexp(std::fabs(value), -last_place));
  const auto whole = static_cast<uint64_t>(units);
  const bool denormal = whole >> fraction_bits == 0;
  if (denormal && std::ldexp(units, last_place) != std::fabs(value)) return std::nullopt;
  const uint64_t bits = whole + (static_cast<uint64_t>(exponent - least_exponent) << fraction_bits);
  if (bits >> fraction_bits > static_cast<uint64_t>(max_exponent - least_exponent) + 1) return std::nullopt;
  return sign | static_cast<uint32_t>(bits);
}

constexpr bool fits(int64_t value, unsigned bits) {
  return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << bits;
}

}  // namespace

bool InstructionParser::vgpr(const OperandText& text, unsigned words, Operand& to) {
  const bool right = text.is == OperandText::Kind::registers && text.kind == OperandKind::vgpr && text.words == words;
  if (!right) return refuse_operand(text, "a VGPR", words);
  if (text.half) return refuse(text.place, "the operand is a whole register, not a half");
  if (text.reg % isa::vector_alignment(map_.layout, words) != 0) {
    return refuse(text.place, "vgpr tuples must be 64 bit aligned");
  }
  to.kind = OperandKind::vgpr;
  to.reg = text.reg;
  to.words = static_cast<uint8_t>(words);
  return true;
}

bool InstructionParser::vector_register(const OperandText& text, Operand& to) {
  if (!class_.half) return vgpr(text, class_.words, to);
  if (text.half) {
    half_named_ = true;
  } else {
    whole_named_ = &text;
  }
  OperandText whole = text;
  whole.half = false;
  if (text.kind != OperandKind::vgpr || !vgpr(whole, 1, to)) return refuse_operand(text, "a VGPR");
  to.half = true;
  to.op_sel = text.upper_half;
  const bool wide =
      form_->kind == FormKind::vop3 || form_->kind == FormKind::vop3_dpp || form_->encoding == isa::Encoding::vinterp;
  if (!wide && text.reg > 127) return refuse_operand(text, "one of v0 to v127");
  return true;
}

bool InstructionParser::scalar_register(const OperandText& text, unsigned words, Operand& to) {
  const bool is_null = text.reg == isa::scalar::null;
  if (text.is != OperandText::Kind::registers || text.kind != OperandKind::scalar ||
      (text.words != words && !is_null)) {
    return refuse_operand(text, "an SGPR", words);
  }
  if (mnemonics_.codes().code_of_register(text.reg) == isa::CodeMap::none) {
    return refuse(text.place, "register not available on this GPU");
  }
  to.kind = OperandKind::scalar;
  to.reg = text.reg;
  to.words = static_cast<uint8_t>(words);
  return true;
}

bool InstructionParser::scalar_source(const OperandText& text, DataType type, bool literals, Operand& to) {
  if (text.is_constant()) return constant_value(text, type, literals, to);
  if (text.is != OperandText::Kind::registers) return refuse_operand(text, "an SGPR or a constant", words(type));
  switch (text.kind) {
    case OperandKind::scalar:
      return scalar_register(text, words(type), to);
    case OperandKind::none:
    case OperandKind::vgpr:
    case OperandKind::agpr:
    case OperandKind::off:
      return refuse_operand(text, "an SGPR or a constant", words(type));
    default:
      if (mnemonics_.codes().code_of_kind(text.kind) == isa::CodeMap::none) {
        return refuse(text.place, "register not available on this GPU");
      }
      to.kind = text.kind;
      return true;
  }
}

bool InstructionParser::source(const OperandText& text, DataType type, bool literals, Operand& to) {
  if (text.is == OperandText::Kind::registers && text.kind == OperandKind::vgpr) {
    return vector_register(text, to);
  }
  if (text.is == OperandText::Kind::registers && text.kind == OperandKind::scalar && text.words != words(type) &&
      text.reg != isa::scalar::null) {
    return refuse_operand(text, "a VGPR, an SGPR or a constant", words(type));
  }
  return scalar_source(text, type, literals, to);
}

bool InstructionParser::constant_value(const OperandText& text, DataType type, bool literals, Operand& to) {
  to.kind = OperandKind::constant;
  if (text.is == OperandText::Kind::expression) {
    if (!literals) return refuse_literal(text);
    if (result_.literal != nullptr && result_.literal != text.expression) {
      return refuse(text.place, "only one unique literal operand is allowed");
    }
    result_.literal = text.expression;
  }
  const unsigned width = isa::constant_width(type);
  if (width == 64) return wide_constant(text, type, literals, to);
  if (text.is == OperandText::Kind::expression) return literal(text, type, 0, false, to);
  const bool short_integer = width == 16 && !isa::is_float(type);
  const isa::InlineFloats* floats = &isa::inline_floats(*row_, type);
  const auto is_inline = [&](uint64_t value) {
    return !text.lit && mnemonics_.codes().code_of_constant(value, type, *floats) != isa::CodeMap::none;
  };
  auto value = static_cast<int64_t>(text.value);
  uint32_t bits = 0;
  if (text.is == OperandText::Kind::real) {
    double real = 0;
    std::memcpy(&real, &text.value, sizeof real);
    if (short_integer) {
      // It must fit a half, and is a single float then, of which the instruction sees the lower half.
      if (!narrow(real, DataType::f16)) return refuse(text.place, "the number does not fit into the operand");
      to.type = type = DataType::f32;
      floats = &isa::inline_f32;
    }
    auto narrowed = narrow(real, type);
    // 1 / (2 pi) is spelled as a single float; bfloat16's own has been cut off rather than rounded.
    constexpr size_t inverse_two_pi = 8;
    if (narrow(real, DataType::f32) == isa::inline_f32[inverse_two_pi] && isa::is_float(type)) {
      narrowed = static_cast<uint32_t>(isa::inline_floats(type)[inverse_two_pi]);
    }
    if (!narrowed) return refuse(text.place, "the number does not fit into the operand");
    value = bits = *narrowed;
    // A sign bit makes no integer negative here.
    if (is_inline(isa::integer_constant(value, type))) {
      to.value = isa::integer_constant(value, type);
      return true;
    }
    if (short_integer && isa::has_half_exponent(*row_)) bits = *narrow(real, DataType::f16);
  } else {
    const bool in_range = !short_integer || isa::has_half_exponent(*row_) || (value >= -16 && value <= 64);
    if (in_range && fits(value, width) && is_inline(isa::integer_constant(value, type))) {
      to.value = isa::integer_constant(value, type);
      return true;
    }
    if (!fits(value, width == 16 ? 16 : 32)) return refuse(text.place, "the number does not fit into the operand");
    bits = static_cast<uint32_t>(value);
    if (width == 16 && !short_integer) bits = static_cast<uint16_t>(bits);
  }
  if (!literals) return refuse_literal(text);
  return literal(text, type, bits, false, to);
}

bool InstructionParser::literal(const OperandText& text, DataType type, uint64_t bits, bool wide, Operand& to) {
  isa::Instruction& out = result_.instruction;
  const auto low = static_cast<uint32_t>(bits), high = static_cast<uint32_t>(bits >> 32);
  if (out.extension == isa::Extension::literal && (out.literal != low || out.literal_high != high)) {
    return refuse(text.place, "only one unique literal operand is allowed");
  }
  if (out.extension != isa::Extension::none && out.extension != isa::Extension::literal) {
    return refuse_literal(text);
  }
  out.extension = isa::Extension::literal;
  out.literal = low;
  out.literal_high = high;
  out.wide_literal |= wide;
  to.kind = OperandKind::constant;
  to.is_literal = true;
  to.value = wide ? bits : isa::literal_constant(low, type);
  return true;
}

bool InstructionParser::fold(OperandText& text, DataType type) const {
  if (text.is == OperandText::Kind::expression) return false;
  const unsigned width = text.is == OperandText::Kind::real ? 64 : isa::constant_width(type);
  if (text.is == OperandText::Kind::integer && width == 64) return false;
  const uint64_t sign = uint64_t{1} << (width - 1);
  if (text.abs) text.value &= ~sign;
  if (text.neg) text.value ^= sign;
  text.neg = text.abs = false;
  return true;
}

bool InstructionParser::immediate_value(const OperandText& text, int64_t least, int64_t most, Operand& to) {
  const auto value = static_cast<int64_t>(text.value);
  const bool is_number = text.is == OperandText::Kind::integer || text.is == OperandText::Kind::call;
  if (!is_number || value < least || value > most) return refuse_operand(text, "a number that fits");
  to.kind = OperandKind::constant;
  to.value = text.value;
  return true;
}

}  // namespace Atoll::assembler

// assembler: constants of operands of 64 bits (instruction_parser.h). A literal of 32 bits is the upper half of a
// double, the lower half of anything else; where a generation has literals of 64 bits, isa::CodeMap says which
// constants are one.
//
// What numbers mean follows LLVM: an integer of up to 32 bits is a double's upper half, a longer one is all its bits.
#include "assembler/instruction/instruction_parser.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::DataType;
using isa::Field;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;

namespace {

constexpr uint32_t lower(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t upper(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

/// Whether it is a number of 32 bits, with or without sign.
constexpr bool is_short(uint64_t value) {
  const auto integer = static_cast<int64_t>(value);
  return integer >= INT32_MIN && integer <= int64_t{UINT32_MAX};
}

/// Whether it is one of the doubles that go with a double in the middle of the instruction.
bool is_beside_constant(const isa::InstructionRow& row, DataType type) {
  return type == DataType::f64 && std::ranges::any_of(row.operands, [](const OperandSpec& spec) {
           return spec.field == Field::literal && spec.type == DataType::f64;
         });
}

}  // namespace

bool InstructionParser::wide_constant(const OperandText& text, DataType type, bool literals, Operand& to) {
  const isa::CodeMap& codes = mnemonics_.codes();
  const bool is_double = type == DataType::f64, is_real = text.is == OperandText::Kind::real;
  const bool wide_literals = map_.layout.wide_literals;
  const uint64_t value = text.value;
  if (text.is == OperandText::Kind::expression) {
    if (!wide_literals || !codes.is_one_word(form_->encoding))
      return refuse(text.place, "invalid operand for instruction");
    return literal(text, type, 0, true, to);
  }
  if (!text.lit && codes.code_of_constant(value, type, isa::inline_floats(type)) != isa::CodeMap::none) {
    to.value = value;
    return true;
  }
  if (is_real && !is_double) return refuse(text.place, "the operand is an integer of 64 bits");
  if (!is_real && is_double && text.modified()) {
    return refuse(text.place, "neg and abs of an integer mean nothing on a double");
  }
  if (!literals) return refuse_literal(text);
  if (text.lit64 && is_double && !wide_literals) return refuse(text.place, "lit64 is not supported on this GPU");
  const bool all_bits = is_real || text.lit64 || !is_short(value);
  if (is_beside_constant(*row_, type)) return literal(text, type, all_bits ? value : value << 32, true, to);
  if (text.lit && wide_literals) {
    if (text.lit64) {
      if (!codes.is_one_word(form_->encoding) && !is_real && !is_short(value)) {
        return refuse(text.place, "the number does not fit into the operand");
      }
      return literal(text, type, value, true, to);
    }
    return literal(text, type, is_real ? upper(value) : lower(value), true, to);
  }
  if (codes.needs_wide_literal(is_double && !all_bits ? value << 32 : value, type, form_->encoding)) {
    return literal(text, type, value, true, to);
  }
  if (is_real && lower(value) != 0) {
    source_.warning(text.place,
                    "Can't encode literal as exact 64-bit floating-point operand. Low 32-bits will be set to zero");
  }
  if (is_real || (is_double && all_bits && wide_literals && lower(value) == 0)) {
    return literal(text, type, upper(value), false, to);
  }
  if (!is_short(value)) return refuse(text.place, "the number does not fit into the operand");
  return literal(text, type, lower(value), false, to);
}

}  // namespace Atoll::assembler

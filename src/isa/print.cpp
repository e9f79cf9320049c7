// isa: the printer.
//
// Text is mnemonic, operands in the order of the row, modifiers. What prints specially (immediates with names,
// swizzles, DPP controls) has a function each, in print_immediates.cpp and print_modifiers.cpp. The reference is LLVM
// 22's printer, which tests/isa compares with.
#include "isa/print.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "isa/code_map.h"
#include "isa/constants.h"
#include "isa/printer.h"
#include "isa/vgpr_banks.h"

namespace Atoll::isa {
namespace {

/// The text of the inline floats in order of their codes; 1 / (2 pi) is the last.
constexpr std::array<std::string_view, 9> float_names{"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                                      "-2.0", "4.0",  "-4.0", "0.15915494"};
/// How constants of a type are looked at: how many bits count, and which patterns have names.
struct ConstantFormat {
  unsigned width;
  const InlineFloats* names;
};

ConstantFormat constant_format(DataType type) {
  switch (type) {
    case DataType::i16:
    case DataType::u16:
    case DataType::b16:
      return {16, nullptr};
    case DataType::f16:
    case DataType::v2f16:
    case DataType::bf16:
    case DataType::v2bf16:
      return {16, &inline_floats(type)};
    default:
      return {words_of(type) == 2 && &inline_floats(type) == &inline_f64 ? 64u : 32u, &inline_floats(type)};
  }
}

/// `value` if it is small enough for an inline integer, sign-extended from `width` bits.
std::optional<int64_t> inline_integer(uint64_t value, unsigned width) {
  const int64_t extended = static_cast<int64_t>(value << (64 - width)) >> (64 - width);
  if (extended < -16 || extended > 64) return std::nullopt;
  return extended;
}

/// The name of an inline float with that pattern, or nothing.
std::string_view inline_float(uint64_t value, ConstantFormat format, const Layout& layout) {
  if (format.names == nullptr) return {};
  const uint64_t pattern = format.width == 64 ? value : value & ((uint64_t{1} << format.width) - 1);
  for (unsigned i = 0; i < float_names.size() - (layout.inverse_two_pi ? 0 : 1); ++i) {
    if (pattern != (*format.names)[i]) continue;
    return format.width == 64 && i == 8 ? "0.15915494309189532" : float_names[i];
  }
  return {};
}

}  // namespace

void Printer::run() {
  if (in_.encoding == Encoding::vopd || in_.encoding == Encoding::vopd3) {
    const DualHalves& halves = map_.duals(in_.encoding);
    dual(halves.x, in_.opcode, 0);
    text_ += " :: ";
    dual(halves.y, in_.second, in_.second_operands);
    return;
  }
  text_ += map_.name(in_.opcode);
  suffix();
  switch (in_.encoding) {
    case Encoding::sopk:
    case Encoding::sopp:
    case Encoding::sopc:
      scalar_with_immediate();
      break;
    case Encoding::exp:
      export_operands();
      break;
    default:
      operands();
      break;
  }
  modifiers();
}

/// Whether the text leaves that operand out.
bool Printer::hidden(const Operand& op, Field field) const {
  if (field == Field::vcc_in) return true;
  return field == Field::cmp_dst && op.reg == scalar::exec_lo && map_.layout.exec_compares && row_.has(flag::exec_out);
}

/// One half of a dual instruction, whose operands begin there; `halves`: by their codes, to find its name.
void Printer::dual(std::span<const Opcode> halves, Opcode opcode, unsigned position) {
  const auto found = std::ranges::find(halves, opcode);
  (text_ += "v_dual") += map_.dual_names[static_cast<size_t>(found - halves.begin())].substr(1);
  first_ = true;
  behind_literal_ = false;
  const InstructionRow& row = map_.row(opcode);
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    if (row.has(flag::bitop3) && spec.field == Field::src2) break;  // one of two
    const Operand& op = in_.operands[position++];
    if (spec.field == Field::carry_in && in_.encoding == Encoding::vopd) continue;  // VCC
    separator();
    operand(op, spec);
  }
  if (row.has(flag::bitop3)) truth_table();
}

void Printer::suffix() {
  if (in_.operand_count == 0) return;
  if (in_.extension == Extension::sdwa) {
    if (in_.encoding != Encoding::vopc || map_.layout.scalar_sdwa) text_ += "_sdwa";
  } else if (in_.extension == Extension::dpp16 || in_.extension == Extension::dpp8) {
    text_ += in_.encoding == Encoding::vop3 || in_.encoding == Encoding::vop3p ? "_e64_dpp"
             : in_.encoding == Encoding::vopc                                  ? ""
                                                                               : "_dpp";
  } else if (map_.suffixed[static_cast<size_t>(in_.opcode)]) {
    text_ += in_.encoding == Encoding::vop3 ? "_e64" : "_e32";
  }
}

void Printer::operands() {
  // Prefetches have the offset before its register, others after it.
  const bool prefetch =
      std::ranges::any_of(row_.operands, [](const OperandSpec& spec) { return spec.field == Field::prefetch_length; });
  unsigned position = 0;
  for (const OperandSpec& spec : row_.operands) {
    if (spec.field == Field::none || position == in_.operand_count) break;
    const Operand& op = in_.operands[position];
    if (spec.field == Field::flat_return && !in_.glc) continue;
    if (in_.lds && (spec.field == Field::flat_dst || spec.field == Field::buffer_data)) continue;
    ++position;
    if (hidden(op, spec.field)) continue;
    separator();
    if (spec.field == Field::soffset && prefetch) {
      scalar_offset();
      separator();
    }
    if (spec.field == Field::image_address && in_.address_count != 0) {
      image_addresses();
      continue;
    }
    operand(op, spec);
  }
  if (in_.encoding == Encoding::flat &&
      position < in_.operand_count) {  // a scalar base, which rows of FLAT do not have
    separator();
    value(in_.operands[position]);
  }
  if (in_.encoding == Encoding::smem && in_.operand_count != 0 && row_.operands[1].field != Field::none && !prefetch) {
    // The offset stands in soffset's place if there is no soffset, after it otherwise.
    if (!in_.offset_immediate) return;
    if (in_.offset_register) {
      text_ += " offset:";
    } else {
      separator();
    }
    scalar_offset();
  }
}

void Printer::scalar_offset() {
  if (in_.extension == Extension::literal) return hexadecimal(in_.literal);
  if (in_.offset < 0) text_ += '-';
  hexadecimal(static_cast<uint64_t>(std::abs(static_cast<int64_t>(in_.offset))));
}

void Printer::export_operands() {
  text_ += ' ';
  text_ += export_target_name(in_.export_target, map_.generation);
  operands();
}

void Printer::operand(const Operand& op, const OperandSpec& spec) {
  if (spec.field == Field::interp_slot) {
    constexpr std::array<std::string_view, 3> slots{"p10", "p20", "p0"};
    if (op.value < slots.size()) {
      text_ += slots[op.value];
    } else {
      text_ += "invalid_param_";
      decimal(static_cast<int64_t>(op.value));
    }
    return;
  }
  if (spec.field == Field::message_code) return message(static_cast<unsigned>(op.value));
  if (spec.field == Field::attribute) {
    text_ += "attr";
    decimal(static_cast<int64_t>(op.value & 63));
    text_ += '.';
    text_ += "xyzw"[op.value >> 6 & 3];
    return;
  }
  behind_literal_ |= spec.field == Field::literal;
  if (spec.field == Field::literal && in_.wide_literal && op.type == DataType::f64) return wide_literal(op);
  if (spec.field == Field::literal) return in_.encoding == Encoding::sopk ? constant(op) : hexadecimal(in_.literal);
  if (spec.field == Field::sdata_imm || spec.field == Field::prefetch_length) return small_or_hexadecimal(op.value);
  // "-1" would be another constant than a negated 1.
  const bool packed = in_.encoding == Encoding::vop3p && !row_.has(flag::mix);
  const bool neg = op.neg && !packed;
  const bool spelled = neg && !op.abs && op.kind == OperandKind::constant && !could_be_inline(op);
  if (spelled) {
    text_ += "neg(";
  } else if (neg) {
    text_ += '-';
  }
  if (op.abs) text_ += '|';
  if (op.sext) text_ += "sext(";
  value(op);
  if (vgpr_banks_ != 0 && op.kind == OperandKind::vgpr) bank(op, spec);
  if (op.sext) text_ += ')';
  if (op.abs) text_ += '|';
  if (spelled) text_ += ')';
}

/// Appends the register's name in the whole register file (s_set_vgpr_msb).
void Printer::bank(const Operand& op, const OperandSpec& spec) {
  const unsigned bank = bank_of(spec.field, vgpr_banks_, behind_literal_);
  if (bank == 0) return;
  text_ += " /*";
  Operand whole = op;
  whole.reg = static_cast<uint16_t>(op.reg + bank * 256);
  value(whole);
  text_ += "*/";
}

void Printer::registers(std::string_view file, unsigned first, unsigned count) {
  text_ += file;
  if (count == 1) {
    decimal(first);
    return;
  }
  text_ += '[';
  decimal(first);
  text_ += ':';
  decimal(first + count - 1);
  text_ += ']';
}

void Printer::image_addresses() {
  const Operand& address = in_.operands[1];
  const ImageParts& parts = map_.image_parts[static_cast<size_t>(in_.opcode)];
  text_ += '[';
  for (unsigned i = 0; i < in_.address_count; ++i) {
    if (i != 0) text_ += ", ";
    unsigned words = 1;
    if (map_.layout.address_tuples) {
      const bool last = i + 1u == in_.address_count;
      words = row_.has(flag::ray) ? parts.rays[i] : last ? address.words - i : 1;
    }
    registers("v", in_.addresses[i], words);
  }
  text_ += ']';
}

void Printer::scalar_registers(const Operand& op) {
  namespace s = scalar;
  if (op.reg < s::vcc_lo) return registers("s", op.reg, op.words);
  if (op.reg >= s::ttmp0 && op.reg < s::m0) return registers("ttmp", op.reg - s::ttmp0, op.words);
  if (op.reg == s::m0 || op.reg == s::null) {
    text_ += op.reg == s::m0 ? "m0" : "null";
    return;
  }
  struct Pair {
    uint16_t low;
    std::string_view name;
  };
  constexpr std::array pairs{Pair{s::vcc_lo, "vcc"},
                             Pair{s::exec_lo, "exec"},
                             Pair{s::flat_scratch_lo, "flat_scratch"},
                             Pair{s::xnack_mask_lo, "xnack_mask"},
                             Pair{s::tba_lo, "tba"},
                             Pair{s::tma_lo, "tma"}};
  for (const Pair& pair : pairs) {
    if ((op.reg & ~1) != pair.low) continue;
    text_ += pair.name;
    if (op.words == 1) text_ += (op.reg & 1) != 0 ? "_hi" : "_lo";
    return;
  }
}

void Printer::value(const Operand& op) {
  switch (op.kind) {
    case OperandKind::none:
      break;
    case OperandKind::vgpr:
      registers("v", op.reg, op.words);
      if (op.half) text_ += op.op_sel ? ".h" : ".l";
      break;
    case OperandKind::agpr:
      registers("a", op.reg, op.words);
      break;
    case OperandKind::scalar:
      scalar_registers(op);
      break;
    case OperandKind::constant:
      constant(op);
      break;
    case OperandKind::vccz:
      text_ += "src_vccz";
      break;
    case OperandKind::execz:
      text_ += "src_execz";
      break;
    case OperandKind::scc:
      text_ += "src_scc";
      break;
    case OperandKind::shared_base:
      text_ += "src_shared_base";
      break;
    case OperandKind::shared_limit:
      text_ += "src_shared_limit";
      break;
    case OperandKind::private_base:
      text_ += "src_private_base";
      break;
    case OperandKind::private_limit:
      text_ += "src_private_limit";
      break;
    case OperandKind::pops_exiting_wave_id:
      text_ += "src_pops_exiting_wave_id";
      break;
    case OperandKind::flat_scratch_base_lo:
      text_ += "src_flat_scratch_base_lo";
      break;
    case OperandKind::flat_scratch_base_hi:
      text_ += "src_flat_scratch_base_hi";
      break;
    case OperandKind::lds_direct:
      text_ += "src_lds_direct";
      break;
    case OperandKind::off:
      text_ += "off";
      break;
  }
}

/// A literal of 64 bits: one that fits 32 is marked.
void Printer::wide_literal(const Operand& op) {
  const uint64_t whole = uint64_t{in_.literal_high} << 32 | in_.literal;
  if (whole <= 0xFFFFFFFF) {
    text_ += "lit64(";
    hexadecimal(whole);
    text_ += ')';
    return;
  }
  const ConstantFormat format = constant_format(op.type);
  const DataType type = literal_type(op);
  const bool half = is_half(type) && type != DataType::bf16;
  if (format.width != 64) return hexadecimal(half ? in_.literal & 0xFFFF : in_.literal);
  if (const auto integer = inline_integer(whole, 64)) return decimal(*integer);
  if (const std::string_view name = inline_float(whole, format, map_.layout); !name.empty()) {
    text_ += name;
  } else {
    hexadecimal(op.type == DataType::f64 && in_.literal == 0 ? in_.literal_high : whole);
  }
}

void Printer::constant(const Operand& op) {
  // A source of code 255 sees the lower half.
  if (op.is_literal && in_.wide_literal &&
      (constant_format(op.type).width != 64 || op.value == (uint64_t{in_.literal_high} << 32 | in_.literal))) {
    return wide_literal(op);
  }
  // Constants of the exponent of v_ldexp_f16 are halves to the hardware (llvm-project issue 58167).
  const bool is_exponent = op.type == DataType::i16 && has_half_exponent(row_);
  const ConstantFormat format = constant_format(is_exponent ? DataType::f16 : op.type);
  if (!op.is_literal && &inline_floats(row_, op.type) == &inline_f16_twice && !inline_integer(op.value, format.width)) {
    // LLVM prints one half, but assembles that as a literal.
    return hexadecimal(op.value);
  }
  if (op.is_literal && in_.encoding != Encoding::sopk && op.type != DataType::f64) return literal(op);
  if (const auto integer = inline_integer(op.value, format.width)) return decimal(*integer);
  if (const std::string_view name = inline_float(op.value, format, map_.layout); !name.empty()) {
    text_ += name;
  } else if (op.is_literal) {
    hexadecimal(in_.literal);
  } else {
    hexadecimal(format.width == 16 ? static_cast<uint16_t>(op.value) : op.value);
  }
}

/// How a literal is looked at: of mixed precision as a half, however wide the source is, and as the exponent of a half.
DataType Printer::literal_type(const Operand& op) const {
  if (op.type == DataType::i16 && has_half_exponent(row_)) return DataType::f16;
  return row_.has(flag::mix) ? row_.operands[1].type : op.type;
}

/// Whether the text must say that a constant is a literal, for it could be an inline constant.
bool Printer::could_be_inline(const Operand& op) const {
  // LLVM shows that something is a literal, except where it stands for an immediate, and for doubles.
  if (!op.is_literal || in_.encoding == Encoding::sopk || op.type == DataType::f64) return false;
  const DataType type = literal_type(op);
  ConstantFormat format = constant_format(type);
  if (format.width == 64) return in_.literal <= 64;
  // A half is looked at as 16 bits, everything else as 32: packed halves, too, and short integers, like long ones.
  if (format.width == 16 && format.names == nullptr) format.names = &inline_f32;
  if (type != DataType::f16 && type != DataType::bf16) format.width = 32;
  if (row_.has(flag::doubled_constants)) {
    const bool same = in_.literal >> 16 == (in_.literal & 0xFFFF);
    if (same && inline_integer(in_.literal, 16)) return true;  // LLVM assembles it as an integer in the lower half
    format.names = &inline_f16_twice;
  }
  return inline_integer(in_.literal, format.width) || !inline_float(in_.literal, format, map_.layout).empty();
}

/// A literal that could be inline is printed as lit(...), which keeps an assembler from making it so.
void Printer::literal(const Operand& op) {
  if (could_be_inline(op)) {
    text_ += "lit(";
    hexadecimal(in_.literal);
    text_ += ')';
    return;
  }
  const DataType type = literal_type(op);
  const ConstantFormat format = constant_format(type);
  const bool short_integer = format.width == 16 && format.names == nullptr;
  hexadecimal(type == DataType::f16 || short_integer ? static_cast<uint16_t>(in_.literal) : in_.literal);
}

std::string print(const Instruction& instruction, const target::Processor& processor) {
  std::string text;
  text.reserve(64);
  append(text, instruction, processor);
  return text;
}

void append(std::string& text, const Instruction& instruction, const target::Processor& processor, uint8_t vgpr_banks) {
  Printer(instruction, processor, text, vgpr_banks).run();
}

std::string_view mnemonic(Opcode opcode) { return row(opcode).name; }

}  // namespace Atoll::isa

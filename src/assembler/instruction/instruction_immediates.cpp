// assembler: reading the immediates of SOPK, SOPP and SOPC instructions (instruction_parser.h), many of which have
// names: counters, messages, hardware registers.
#include <algorithm>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/immediate_names.h"
#include "isa/modifier_names.h"

namespace Atoll::assembler {

namespace flag = isa::flag;
namespace names = isa::names;
using isa::CounterField;
using isa::NamedValue;

namespace {

const NamedValue* find_name(std::span<const NamedValue> values, std::string_view name, target::Generation generation) {
  for (const NamedValue& row : values) {
    if (row.name == name && row.first <= generation && generation <= row.last) return &row;
  }
  return nullptr;
}

}  // namespace

bool InstructionParser::at_call() {
  return lexer().is(TokenKind::identifier) && lexer().buffer().text.c_str()[lexer().next()] == '(';
}

bool InstructionParser::operands_and_immediate(const isa::InstructionRow& row) {
  unsigned before = 0;
  while (before < row.operands.size() && row.operands[before].field != isa::Field::none) ++before;
  // s_setreg has the register that it sets in front.
  const bool in_front = row.has(flag::hwreg) && (before == 0 || row.operands[0].field != isa::Field::sdst);
  if (in_front && !immediate(row)) return false;
  if (in_front && before != 0 && !lexer().accept(TokenKind::comma)) return error("expected ',' and the operand");
  if (!operands(before)) return false;
  if (in_front) return true;
  const bool optional = row.encoding == isa::Encoding::sopp && row.has(flag::ends);
  if (optional && lexer().at_end()) return true;
  if (lexer().at_end()) return error("the immediate is missing");
  return immediate(row);
}

bool InstructionParser::immediate(const isa::InstructionRow& row) {
  if (row.has(flag::label)) return branch_target();
  const Place place = lexer().place();
  int64_t value = 0;
  bool named = false, good = true;
  const auto by_name = [&](uint64_t kind, bool here, auto&& read) {
    if (named || !row.has(kind) || !here) return;
    named = true;
    good = read();
  };
  const bool call = at_call();
  by_name(flag::hwreg, call, [&] { return hardware_register(value); });
  by_name(flag::waitcnt, call, [&] { return counters(isa::wait_counters(), value, true); });
  by_name(flag::depctr, call, [&] { return counters(isa::dependency_counters(), value, false); });
  by_name(flag::message, call, [&] { return message(value); });
  by_name(flag::delay, call, [&] { return delay(value); });
  by_name(flag::gpr_index_imm, call, [&] { return gpr_index(value); });
  by_name(flag::version, !lexer().is(TokenKind::minus), [&] { return version(value); });
  if (!good) return false;
  if (!named) {
    const auto plain = number();
    if (!plain) return false;
    value = *plain;
  }
  const bool narrow = row.has(flag::gpr_index_imm) && row.encoding == isa::Encoding::sopc;
  const bool is_unsigned = narrow || row.has(flag::hwreg | flag::message | flag::ends) ||
                           (row.encoding == isa::Encoding::sopk && row.operands[0].type == isa::DataType::u32);
  const int64_t least = is_unsigned ? 0 : -32768, most = narrow ? 255 : 65535;
  if (value < least || value > most) return error(place, fmt::format("expected a number from {} to {}", least, most));
  said_.immediate = static_cast<uint16_t>(value);
  return true;
}

bool InstructionParser::branch_target() {
  OperandText target;
  target.place = lexer().place();
  if (!constant(target, false)) return false;
  if (target.is == OperandText::Kind::expression) {
    result_.branch = target.expression;
    return true;
  }
  const auto distance = static_cast<int64_t>(target.value);
  if (target.is != OperandText::Kind::integer || distance < -32768 || distance > 65535) {
    return error(target.place, "expected a 16-bit signed jump offset");
  }
  said_.immediate = static_cast<uint16_t>(distance);
  return true;
}

/// hwreg(HW_REG_MODE, 0, 4): register, first bit, width.
bool InstructionParser::hardware_register(int64_t& value) {
  if (token().text != "hwreg") return error("expected hwreg(...) or a number");
  lexer().advance();
  lexer().advance();
  int64_t id = 0, first = 0, width = 32;
  if (lexer().is(TokenKind::identifier)) {
    const std::string_view name = token().text;
    const NamedValue* found = nullptr;
    if (name.starts_with("HW_REG_")) {
      found = find_name(isa::hardware_registers(), name.substr(7), map_.generation);
      if (found == nullptr) found = find_name(isa::other_hardware_register_names(), name.substr(7), map_.generation);
    }
    if (found == nullptr) return error(fmt::format("not on {}: hardware register {}", unit_.processor().name, name));
    id = found->value;
    lexer().advance();
  } else {
    const auto number = number_between(0, 63);
    if (!number) return false;
    id = *number;
  }
  if (lexer().accept(TokenKind::comma)) {
    const auto bit = number_between(0, 31);
    if (!bit) return false;
    first = *bit;
    if (!lexer().accept(TokenKind::comma)) return error("expected ',' and the number of bits");
    const auto count = number_between(1, 32);
    if (!count) return false;
    width = *count;
  }
  if (!lexer().accept(TokenKind::right_paren)) return error("expected ')' after hwreg(...");
  value = id | first << 6 | (width - 1) << 11;
  return true;
}

/// sendmsg(MSG_GS, GS_OP_EMIT, 0): message, operation, stream.
bool InstructionParser::message(int64_t& value) {
  if (token().text != "sendmsg") return error("expected sendmsg(...) or a number");
  lexer().advance();
  lexer().advance();
  const bool operations = map_.generation < target::Generation::gfx11;
  int64_t id = 0, operation = 0, stream = 0;
  if (lexer().is(TokenKind::identifier)) {
    const std::string_view name = token().text;
    const NamedValue* found =
        name.starts_with("MSG_") ? find_name(isa::messages(), name.substr(4), map_.generation) : nullptr;
    if (found == nullptr) return error(fmt::format("not on {}: message {}", unit_.processor().name, name));
    id = found->value;
    lexer().advance();
  } else {
    const auto number = number_between(0, operations ? 15 : 255);
    if (!number) return false;
    id = *number;
  }
  if (lexer().accept(TokenKind::comma)) {
    const Place place = lexer().place();
    if (lexer().is(TokenKind::identifier)) {
      const std::string_view name = token().text;
      const auto find = [&](std::string_view prefix, std::span<const std::string_view> all) {
        if (!name.starts_with(prefix)) return false;
        const auto found = std::ranges::find(all, name.substr(prefix.size()));
        operation = found - all.begin();
        return found != all.end();
      };
      if (!find("GS_OP_", names::gs_operations) && !find("SYSMSG_OP_", names::system_operations)) {
        return error(fmt::format("'{}' is not a message operation", name));
      }
      lexer().advance();
    } else {
      const auto number = number_between(0, 7);
      if (!number) return false;
      operation = *number;
    }
    if (!operations && operation != 0) return error(place, "this message has no operations");
    if (lexer().accept(TokenKind::comma)) {
      const auto number = number_between(0, 3);
      if (!number) return false;
      stream = *number;
    }
  }
  if (!lexer().accept(TokenKind::right_paren)) return error("expected ')' after sendmsg(...");
  value = id | operation << 4 | stream << 8;
  return true;
}

/// vmcnt(0) & lgkmcnt(1): those that are not named are not waited for. "_sat" after a name takes what is too much as
/// the most there is.
bool InstructionParser::counters(std::span<const CounterField> all, int64_t& value, bool is_waitcnt) {
  const auto there = [&](const CounterField& field) {
    return field.first <= map_.generation && map_.generation <= field.last;
  };
  const auto most_of = [](const CounterField& field) { return (1 << (field.low.count + field.high.count)) - 1; };
  const auto put = [&](const CounterField& field, int64_t count) {
    const int64_t low = (1 << field.low.count) - 1, high = (1 << field.high.count) - 1;
    value &= ~(low << field.low.low | high << field.high.low);
    value |= (count & low) << field.low.low | (count >> field.low.count & high) << field.high.low;
  };
  for (const CounterField& field : all) {
    if (there(field)) put(field, most_of(field));
  }
  while (at_call()) {
    std::string_view name = token().text;
    const Place place = lexer().place();
    const bool saturates = is_waitcnt && name.ends_with("_sat");
    if (saturates) name.remove_suffix(4);
    const auto field =
        std::ranges::find_if(all, [&](const CounterField& each) { return each.name == name && there(each); });
    if (field == all.end()) return error(place, fmt::format("not on {}: counter {}", unit_.processor().name, name));
    lexer().advance();
    lexer().advance();
    const Place count_place = lexer().place();
    const auto count = number();
    if (!count) return false;
    if (*count < 0 || (*count > most_of(*field) && !saturates)) {
      return error(count_place, fmt::format("too large value for {}", name));
    }
    put(*field, std::min<int64_t>(*count, most_of(*field)));
    if (!lexer().accept(TokenKind::right_paren)) return error("expected ')'");
    if (lexer().accept(TokenKind::amp) || lexer().accept(TokenKind::comma)) {
      if (!at_call()) return error("expected a counter name");
    }
  }
  return true;
}

/// instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
bool InstructionParser::delay(int64_t& value) {
  do {
    if (!at_call()) return error("expected instid0(...), instskip(...) or instid1(...)");
    const std::string_view part = token().text;
    std::span<const std::string_view> words = names::delay_dependencies;
    unsigned shift = 0;
    if (part == "instskip") {
      words = names::delay_skips;
      shift = 4;
    } else if (part == "instid1") {
      shift = 7;
    } else if (part != "instid0") {
      return error(fmt::format("'{}' is not a field of s_delay_alu", part));
    }
    lexer().advance();
    lexer().advance();
    const auto found = std::ranges::find(words, token().text);
    if (!lexer().is(TokenKind::identifier) || found == words.end()) return error("invalid value name");
    value |= (found - words.begin()) << shift;
    lexer().advance();
    if (!lexer().accept(TokenKind::right_paren)) return error("expected ')'");
  } while (lexer().accept(TokenKind::pipe));
  return true;
}

/// gpr_idx(SRC0,DST)
bool InstructionParser::gpr_index(int64_t& value) {
  if (token().text != "gpr_idx") return error("expected gpr_idx(...) or a number");
  lexer().advance();
  lexer().advance();
  while (!lexer().is(TokenKind::right_paren)) {
    const auto found = std::ranges::find(names::gpr_index_modes, token().text);
    if (!lexer().is(TokenKind::identifier) || found == names::gpr_index_modes.end()) {
      return error("expected a VGPR index mode: SRC0, SRC1, SRC2 or DST");
    }
    const int64_t bit = int64_t{1} << (found - names::gpr_index_modes.begin());
    if ((value & bit) != 0) return error("duplicate VGPR index mode");
    value |= bit;
    lexer().advance();
    if (!lexer().accept(TokenKind::comma) && !lexer().is(TokenKind::right_paren)) return error("expected ',' or ')'");
  }
  lexer().advance();
  return true;
}

/// UC_VERSION_GFX10|UC_VERSION_W32_BIT
bool InstructionParser::version(int64_t& value) {
  unsigned open = 0;
  for (;;) {
    while (lexer().accept(TokenKind::left_paren)) ++open;
    if (lexer().is(TokenKind::identifier)) {
      const auto found = std::ranges::find(names::shader_versions, token().text, &names::NamedNumber::name);
      if (found == names::shader_versions.end())
        return error(fmt::format("'{}' is not a shader version", token().text));
      value |= found->value;
      lexer().advance();
    } else if (lexer().is(TokenKind::integer) && token().value < 65536) {
      value |= static_cast<int64_t>(token().value);
      lexer().advance();
    } else {
      return error("expected a version");
    }
    while (open != 0 && lexer().accept(TokenKind::right_paren)) --open;
    if (!lexer().accept(TokenKind::pipe)) return open == 0 || error("expected ')'");
  }
}

}  // namespace Atoll::assembler

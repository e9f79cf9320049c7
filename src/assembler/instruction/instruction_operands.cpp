// assembler: reading an instruction's operands (instruction_parser.h): registers, numbers, expressions, and the marks
// around them (neg, abs, sext, lit).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"

namespace Atoll::assembler {

using isa::OperandKind;
namespace scalar = isa::scalar;

namespace {

struct NamedSource {
  OperandKind kind;
  uint16_t reg = 0;
  uint8_t words = 0;
};

const NamedSource* find_named_source(std::string_view name) {
  using enum OperandKind;
  static const std::unordered_map<std::string_view, NamedSource> named{
      {"vcc", {scalar, scalar::vcc_lo, 2}},
      {"vcc_lo", {scalar, scalar::vcc_lo, 1}},
      {"vcc_hi", {scalar, scalar::vcc_hi, 1}},
      {"exec", {scalar, scalar::exec_lo, 2}},
      {"exec_lo", {scalar, scalar::exec_lo, 1}},
      {"exec_hi", {scalar, scalar::exec_hi, 1}},
      {"m0", {scalar, scalar::m0, 1}},
      {"null", {scalar, scalar::null, 0}},
      {"flat_scratch", {scalar, scalar::flat_scratch_lo, 2}},
      {"flat_scratch_lo", {scalar, scalar::flat_scratch_lo, 1}},
      {"flat_scratch_hi", {scalar, scalar::flat_scratch_hi, 1}},
      {"xnack_mask", {scalar, scalar::xnack_mask_lo, 2}},
      {"xnack_mask_lo", {scalar, scalar::xnack_mask_lo, 1}},
      {"xnack_mask_hi", {scalar, scalar::xnack_mask_hi, 1}},
      {"tba", {scalar, scalar::tba_lo, 2}},
      {"tba_lo", {scalar, scalar::tba_lo, 1}},
      {"tba_hi", {scalar, scalar::tba_hi, 1}},
      {"tma", {scalar, scalar::tma_lo, 2}},
      {"tma_lo", {scalar, scalar::tma_lo, 1}},
      {"tma_hi", {scalar, scalar::tma_hi, 1}},
      {"src_flat_scratch_base_lo", {flat_scratch_base_lo}},
      {"src_flat_scratch_base_hi", {flat_scratch_base_hi}},
      {"src_vccz", {vccz}},
      {"vccz", {vccz}},
      {"src_execz", {execz}},
      {"execz", {execz}},
      {"src_scc", {scc}},
      {"scc", {scc}},
      {"src_shared_base", {shared_base}},
      {"shared_base", {shared_base}},
      {"src_shared_limit", {shared_limit}},
      {"shared_limit", {shared_limit}},
      {"src_private_base", {private_base}},
      {"private_base", {private_base}},
      {"src_private_limit", {private_limit}},
      {"private_limit", {private_limit}},
      {"src_pops_exiting_wave_id", {pops_exiting_wave_id}},
      {"pops_exiting_wave_id", {pops_exiting_wave_id}},
      {"src_lds_direct", {lds_direct}},
      {"lds_direct", {lds_direct}},
      {"off", {off}},
  };
  const auto found = named.find(name);
  return found == named.end() ? nullptr : &found->second;
}

/// A register file by the letters of its registers' names.
struct File {
  std::string_view prefix;
  OperandKind kind;
  uint16_t first;
  uint16_t count;
};
constexpr File files[] = {{"v", OperandKind::vgpr, 0, 256},
                          {"s", OperandKind::scalar, scalar::s0, 106},
                          {"a", OperandKind::agpr, 0, 256},
                          {"ttmp", OperandKind::scalar, scalar::ttmp0, 16},
                          {"acc", OperandKind::agpr, 0, 256}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the length of the letters at the start of "v12", "s[" and "ttmp4".
const File* find_file(std::string_view name, size_t& letters) {
  letters = 0;
  while (letters < name.size() && name[letters] >= 'a' && name[letters] <= 'z') ++letters;
  const std::string_view prefix = name.substr(0, letters);
  for (const File& file : files) {
    if (file.prefix == prefix) return &file;
  }
  return nullptr;
}

}  // namespace

Lexer& InstructionParser::lexer() { return parser_.lexer(); }

/// Operands and modifiers up to the statement's end. Commas between them may be left out.
bool InstructionParser::operands(unsigned most) {
  while (!lexer().at_end() && count_ < most) {
    if (lexer().is(TokenKind::error)) return error(lexer().problem());
    if (const auto is_modifier = modifier()) {
      if (!*is_modifier) return false;
    } else {
      operands_[count_] = {};
      operands_[count_].place = lexer().place();
      if (!operand()) return false;
      const OperandText& read = operands_[count_++];
      if (lexer().is(TokenKind::colon) && read.is_unknown_name() &&
          lexer().buffer().text.c_str()[lexer().next()] != ':') {
        return unknown_modifier(read.expression->symbol->name, read.place);
      }
    }
    if (lexer().accept(TokenKind::comma) && lexer().at_end()) return error("an operand is missing after the comma");
    if (lexer().is(TokenKind::colon)) return true;  // the other half of a dual instruction
  }
  return true;
}

bool InstructionParser::operand() {
  OperandText& to = operands_[count_];
  bool explicit_neg = false, explicit_abs = false, explicit_sext = false, bars = false;
  // The token after '-' distinguishes a negated source from a negative number.
  if (lexer().is(TokenKind::minus)) {
    Lexer ahead = lexer();
    ahead.advance();
    size_t letters = 0;
    const std::string_view text = ahead.token().text;
    const bool is_name = ahead.is(TokenKind::identifier);
    const bool is_register =
        is_name &&
        ((find_file(text, letters) != nullptr && letters < text.size() && is_digit(text[letters])) ||
         find_named_source(text) != nullptr || text == "abs" ||
         (letters == text.size() && find_file(text, letters) != nullptr && ahead.buffer().text[ahead.next()] == '['));
    if (is_register || ahead.is(TokenKind::pipe)) {
      lexer().advance();
      to.neg = true;
    }
  }
  const auto call = [&](std::string_view name) {
    if (!lexer().is(TokenKind::identifier) || token().text != name) return false;
    if (lexer().buffer().text.c_str()[lexer().next()] != '(') return false;
    lexer().advance();
    lexer().advance();
    return true;
  };
  if (!to.neg && call("neg")) to.neg = explicit_neg = true;
  if (call("abs")) {
    to.abs = explicit_abs = true;
  } else if (lexer().accept(TokenKind::pipe)) {
    to.abs = bars = true;
  }
  if (call("sext")) to.sext = explicit_sext = true;
  if (!operand_value(to, bars)) return false;
  if (explicit_sext && !lexer().accept(TokenKind::right_paren)) return error("expected ')' after sext(...");
  if (explicit_abs && !lexer().accept(TokenKind::right_paren)) return error("expected ')' after abs(...");
  if (bars && !lexer().accept(TokenKind::pipe)) return error("expected '|'");
  if (explicit_neg && !lexer().accept(TokenKind::right_paren)) return error("expected ')' after neg(...");
  return true;
}

bool InstructionParser::operand_value(OperandText& to, bool in_bars) {
  if (lexer().is(TokenKind::left_bracket)) {
    // A list of registers, or an expression in brackets.
    Lexer ahead = lexer();
    ahead.advance();
    size_t letters = 0;
    const std::string_view name = ahead.token().text;
    const bool is_register = find_file(name, letters) != nullptr || find_named_source(name) != nullptr;
    if (ahead.is(TokenKind::identifier) && is_register) return register_list(to);
    return constant(to, in_bars);
  }
  if (!lexer().is(TokenKind::identifier)) return constant(to, in_bars);
  if (const auto is_register = register_operand(to)) return *is_register;
  const std::string_view name = token().text;
  if (const NamedSource* named = find_named_source(name)) {
    lexer().advance();
    to.kind = named->kind;
    to.reg = named->reg;
    to.words = named->words;
    return true;
  }
  if (lexer().buffer().text.c_str()[lexer().next()] == '(' && !find_function(name)) return function_operand(to, name);
  if (name == "p10" || name == "p20" || name == "p0" || name.starts_with("invalid_param_") ||
      (name.starts_with("attr") && name.size() > 4 && is_digit(name[4]))) {
    to.is = OperandText::Kind::word;
    to.word = name;
    lexer().advance();
    return true;
  }
  return constant(to, in_bars);
}

bool InstructionParser::function_operand(OperandText& to, std::string_view name) {
  if (name == "lit" || name == "lit64") {
    lexer().advance();
    lexer().advance();
    to.lit = true;
    to.lit64 = name == "lit64";
    if (!constant(to, false)) return false;
    if (to.is == OperandText::Kind::expression) return error(to.place, "a literal has to be a number");
    if (!lexer().accept(TokenKind::right_paren)) return error("expected ')' after lit(...");
    return true;
  }
  if (name == "sendmsg") {
    to.is = OperandText::Kind::call;
    int64_t value = 0;
    if (!message(value)) return false;
    to.value = static_cast<uint64_t>(value);
    return true;
  }
  return constant(to, false);
}

std::optional<bool> InstructionParser::register_operand(OperandText& to) {
  const std::string_view name = token().text;
  size_t letters = 0;
  const File* file = find_file(name, letters);
  if (file == nullptr) return std::nullopt;
  if (letters == name.size()) {
    if (lexer().buffer().text.c_str()[lexer().next()] != '[') return std::nullopt;
    lexer().advance();
    lexer().advance();
    const Place place = lexer().place();
    const auto first = number_between(0, 1023);
    if (!first) return false;
    int64_t last = *first;
    if (lexer().accept(TokenKind::colon)) {
      const auto end = number_between(0, 1023);
      if (!end) return false;
      last = *end;
    }
    if (!lexer().accept(TokenKind::right_bracket)) return error("expected ']' after the registers");
    if (last < *first) return error(place, "the first register's number must not be above the last one's");
    to.kind = file->kind;
    return finish_register(to, file->first, static_cast<unsigned>(*first), static_cast<unsigned>(last - *first) + 1,
                           file->count);
  }
  unsigned index = 0;
  size_t at = letters;
  while (at < name.size() && is_digit(name[at]) && index < 10'000) {
    index = index * 10 + static_cast<unsigned>(name[at++] - '0');
  }
  const std::string_view rest = name.substr(at);
  if (at == letters || (!rest.empty() && rest != ".l" && rest != ".h")) return std::nullopt;
  to.half = !rest.empty();
  to.upper_half = rest == ".h";
  to.kind = file->kind;
  if (!finish_register(to, file->first, index, 1, file->count)) return false;
  lexer().advance();
  return true;
}

bool InstructionParser::finish_register(OperandText& to, uint16_t file, unsigned index, unsigned words,
                                        unsigned limit) {
  to.reg = static_cast<uint16_t>(file + index);
  to.words = static_cast<uint8_t>(words);
  if (to.kind == OperandKind::scalar) {
    // Registers without an operand encoding do not exist on this processor.
    const unsigned highest = file + index + words - 1;
    const isa::CodeMap& codes = mnemonics_.codes();
    const bool three_ttmps = words == 3 && file == scalar::ttmp0;  // nothing has these
    const bool there = !three_ttmps && index + words <= limit && codes.code_of_register(to.reg) != isa::CodeMap::none &&
                       codes.code_of_register(static_cast<uint16_t>(highest)) != isa::CodeMap::none;
    if (!there) {
      const target::Processor& processor = unit_.processor();
      if (file != scalar::s0) return error(to.place, fmt::format("{} has no such register", processor.name));
      return error(to.place, fmt::format("{} has no such register: its last SGPR is s{}", processor.name,
                                         processor.addressable_sgprs - 1));
    }
    // Tuples of scalar registers are aligned to their size, up to four.
    const unsigned alignment = isa::scalar_alignment(words);
    if (index % alignment != 0) {
      return error(to.place, fmt::format("{} scalar registers must begin at a multiple of {}", words, alignment));
    }
    if (file == scalar::s0) sgprs_ = std::max(sgprs_, index + words);
  } else {
    const bool is_vgpr = to.kind == OperandKind::vgpr;
    const unsigned end = is_vgpr ? map_.layout.vgprs : limit;
    if (index >= limit || index + words > end) {
      return error(to.place, fmt::format("there is no such register: the last one is {}{}", is_vgpr ? 'v' : 'a',
                                         std::max(limit, end) - 1));
    }
    if (is_vgpr) vgprs_ = std::max(vgprs_, index + words);
  }
  return true;
}

/// [v1, v2, v[5:7]]: one tuple if they follow each other, or addresses of an image.
bool InstructionParser::register_list(OperandText& to) {
  lexer().advance();
  bool consecutive = true;
  unsigned words = 0;
  address_count_ = 0;
  do {
    OperandText one;
    one.place = lexer().place();
    const auto is_register = lexer().is(TokenKind::identifier) ? register_operand(one) : std::nullopt;
    if (!is_register) {
      const NamedSource* named = lexer().is(TokenKind::identifier) ? find_named_source(token().text) : nullptr;
      if (named == nullptr) return error("expected a register");
      one.kind = named->kind;
      one.reg = named->reg;
      one.words = named->words;
      lexer().advance();
    } else if (!*is_register) {
      return false;
    }
    if (words == 0) {
      to.kind = one.kind;
      to.reg = one.reg;
    }
    if (one.kind != to.kind) return error(one.place, "registers of a list must be of the same kind");
    consecutive = consecutive && one.reg == to.reg + words;
    words += one.words;
    if (address_count_ == addresses_.size()) return error(one.place, "too many registers");
    addresses_[address_count_] = static_cast<uint8_t>(one.reg);
    address_words_[address_count_++] = one.words;
  } while (lexer().accept(TokenKind::comma));
  if (!lexer().accept(TokenKind::right_bracket)) return error("expected ']' after the registers");
  to.list = true;
  to.words = consecutive ? static_cast<uint8_t>(words) : uint8_t{0};
  return true;
}

/// A number, a real, or an expression. Within |...| a '|' ends it.
bool InstructionParser::constant(OperandText& to, bool in_bars) {
  const size_t begin = lexer().start();
  const bool minus = lexer().accept(TokenKind::minus);
  if (lexer().is(TokenKind::real)) {
    double value = std::strtod(std::string(token().text).c_str(), nullptr);
    if (minus) value = -value;
    std::memcpy(&to.value, &value, sizeof value);
    to.is = OperandText::Kind::real;
    lexer().advance();
    return true;
  }
  if (lexer().is(TokenKind::integer)) {
    const Token number = token();
    lexer().advance();
    const bool joined =
        lexer().is(TokenKind::identifier) && token().text.data() == number.text.data() + number.text.size();
    if (!joined && (!is_binary_operator(token().kind) || (in_bars && lexer().is(TokenKind::pipe)))) {
      to.is = OperandText::Kind::integer;
      to.value = minus ? -number.value : number.value;
      return true;
    }
  }
  lexer().jump(begin);
  const Expression* value = in_bars ? parser_.primary() : parser_.expression();
  if (value == nullptr) return false;
  // LLVM ignores a distance of labels when it chooses an encoding, even if it is already known.
  const bool is_constant = value->kind == Expression::Kind::constant;
  const bool on_labels = !is_constant && unit_.names(*value, [](const Symbol& symbol) { return symbol.is_label(); });
  const auto known = on_labels ? std::nullopt : unit_.absolute(*value);
  if (known) {
    to.is = OperandText::Kind::integer;
    to.value = static_cast<uint64_t>(*known);
    return true;
  }
  to.is = OperandText::Kind::expression;
  to.expression = value;
  return true;
}

/// A number that must be known by now.
std::optional<int64_t> InstructionParser::number() {
  OperandText text;
  text.place = lexer().place();
  if (lexer().is(TokenKind::error)) {
    error(lexer().problem());
    return std::nullopt;
  }
  if (!constant(text, false)) return std::nullopt;
  if (text.is != OperandText::Kind::integer) {
    error(text.place, "expected absolute expression");
    return std::nullopt;
  }
  return static_cast<int64_t>(text.value);
}

std::optional<int64_t> InstructionParser::number_between(int64_t least, int64_t most) {
  const Place place = lexer().place();
  const auto value = number();
  if (value && (*value < least || *value > most)) {
    error(place, fmt::format("expected a number from {} to {}", least, most));
    return std::nullopt;
  }
  return value;
}

}  // namespace Atoll::assembler

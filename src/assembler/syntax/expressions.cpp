// assembler: reading expressions (parser.h).
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"

namespace Atoll::assembler {

namespace {

struct BinaryOperator {
  TokenKind token;
  unsigned precedence;  ///< higher binds tighter
  Operation operation;
};
// The precedences are the GNU assembler's, in which "1 << 4 + 1" is 17 and "6 | 1 + 1" is 8.
constexpr BinaryOperator binary_operators[] = {
    {TokenKind::pipe_pipe, 1, Operation::logical_or},
    {TokenKind::amp_amp, 2, Operation::logical_and},
    {TokenKind::equal_equal, 3, Operation::equal},
    {TokenKind::exclaim_equal, 3, Operation::not_equal},
    {TokenKind::less_greater, 3, Operation::not_equal},
    {TokenKind::less, 3, Operation::less},
    {TokenKind::less_equal, 3, Operation::less_equal},
    {TokenKind::greater, 3, Operation::greater},
    {TokenKind::greater_equal, 3, Operation::greater_equal},
    {TokenKind::plus, 4, Operation::add},
    {TokenKind::minus, 4, Operation::subtract},
    {TokenKind::pipe, 5, Operation::bit_or},
    {TokenKind::exclaim, 5, Operation::bit_or_not},
    {TokenKind::caret, 5, Operation::bit_xor},
    {TokenKind::amp, 5, Operation::bit_and},
    {TokenKind::star, 6, Operation::multiply},
    {TokenKind::slash, 6, Operation::divide},
    {TokenKind::percent, 6, Operation::remainder},
    {TokenKind::less_less, 6, Operation::shift_left},
    {TokenKind::greater_greater, 6, Operation::shift_right},
};

const BinaryOperator* find_operator(TokenKind token) {
  for (const BinaryOperator& op : binary_operators) {
    if (op.token == token) return &op;
  }
  return nullptr;
}

}  // namespace

bool is_binary_operator(TokenKind token) { return find_operator(token) != nullptr; }

const Expression* Parser::expression() {
  const Expression* left = primary();
  return left == nullptr ? nullptr : binary(1, left);
}

const Expression* Parser::binary(unsigned least_precedence, const Expression* left) {
  for (;;) {
    const BinaryOperator* op = find_operator(token().kind);
    if (op == nullptr || op->precedence < least_precedence) return left;
    const Place place = lexer().place();
    lexer().advance();
    const Expression* right = primary();
    if (right == nullptr) return nullptr;
    const BinaryOperator* next = find_operator(token().kind);
    if (next != nullptr && next->precedence > op->precedence) right = binary(op->precedence + 1, right);
    if (right == nullptr) return nullptr;
    left = &unit_.operation(op->operation, {left, right}, place);
  }
}

const Expression* Parser::named(std::string_view name, Place place) {
  if (name == ".") return &unit_.here();
  if (token().kind == TokenKind::left_paren) {
    if (const auto function = find_function(name)) {
      lexer().advance();
      std::vector<const Expression*> operands;
      while (!lexer().is(TokenKind::right_paren)) {
        const Expression* operand = expression();
        if (operand == nullptr) return nullptr;
        operands.push_back(operand);
        if (lexer().accept(TokenKind::comma)) continue;
        if (!lexer().is(TokenKind::right_paren)) {
          error("expected comma or ')'");
          return nullptr;
        }
      }
      if (operands.empty()) {
        error(place, fmt::format("{}() needs an operand", name));
        return nullptr;
      }
      lexer().advance();
      return &unit_.operation(*function, std::move(operands), place);
    }
  }
  Specifier specifier = Specifier::none;
  if (const size_t at = name.find('@'); at != std::string_view::npos && at != 0) {
    const auto found = find_specifier(name.substr(at + 1));
    if (!found) {
      error(place, fmt::format("invalid variant '{}'", name.substr(at + 1)));
      return nullptr;
    }
    specifier = *found;
    name = name.substr(0, at);
  }
  return &unit_.reference(unit_.symbol(name), specifier, place);
}

/// An operand with what stands before it. Its parts are read by recursion, as deep as they are nested.
const Expression* Parser::primary() {
  constexpr unsigned deepest = 256;  // as many brackets as clang takes in C
  if (nesting_ == deepest) {
    error(fmt::format("expressions cannot be nested more than {} levels deep", deepest));
    return nullptr;
  }
  ++nesting_;
  const Expression* read = nested_primary();
  --nesting_;
  return read;
}

const Expression* Parser::nested_primary() {
  const Place place = lexer().place();
  const Token at = token();
  const auto unary = [&](Operation operation) -> const Expression* {
    lexer().advance();
    const Expression* operand = primary();
    return operand == nullptr ? nullptr : &unit_.operation(operation, {operand}, place);
  };
  switch (at.kind) {
    case TokenKind::integer: {
      lexer().advance();
      // "1b" and "1f" are the local labels before and after.
      const bool adjacent =
          token().kind == TokenKind::identifier && token().text.data() == at.text.data() + at.text.size();
      if (adjacent && (token().text == "b" || token().text == "f")) {
        const bool forward = token().text == "f";
        lexer().advance();
        Symbol& label = unit_.local_label(at.value, forward);
        if (!forward && !label.is_defined()) {
          error(place, "directional label undefined");
          return nullptr;
        }
        return &unit_.reference(label, Specifier::none, place);
      }
      return &unit_.constant(static_cast<int64_t>(at.value), place);
    }
    case TokenKind::big_integer:
      error("literal value out of range for directive");
      return nullptr;
    case TokenKind::real:
      error("floating point literal in expression");
      return nullptr;
    case TokenKind::identifier:
      lexer().advance();
      return named(at.text, place);
    case TokenKind::string: {
      const auto text = quoted();
      if (!text) return nullptr;
      std::string whole = *text;
      if (lexer().is(TokenKind::at)) {
        lexer().advance();
        whole += '@';
        whole += token().text;
        lexer().advance();
        return named(whole, place);
      }
      return &unit_.reference(unit_.symbol(whole), Specifier::none, place);
    }
    case TokenKind::minus:
      return unary(Operation::negate);
    case TokenKind::plus:
      return unary(Operation::plus);
    case TokenKind::tilde:
      return unary(Operation::complement);
    case TokenKind::exclaim:
      return unary(Operation::logical_not);
    case TokenKind::left_paren: {
      lexer().advance();
      const Expression* inner = expression();
      if (inner == nullptr || !expect(TokenKind::right_paren, "expected ')'")) return nullptr;
      return inner;
    }
    case TokenKind::left_bracket: {
      lexer().advance();
      const Expression* inner = expression();
      if (inner == nullptr || !expect(TokenKind::right_bracket, "expected ']' in brackets expression")) return nullptr;
      return inner;
    }
    case TokenKind::error:
      error(lexer().problem());
      return nullptr;
    default:
      error("unknown token in expression");
      return nullptr;
  }
}

/// The bits of a floating-point number of 2, 4 or 8 bytes: a real, an integer, "infinity" or "nan", with a sign.
std::optional<uint64_t> Parser::real_bits(unsigned size) {
  bool negative = false;
  if (lexer().accept(TokenKind::minus)) {
    negative = true;
  } else {
    lexer().accept(TokenKind::plus);
  }
  double value = 0;
  const std::string text(token().text);
  const auto is_word = [&](std::initializer_list<const char*> words) {
    for (const char* word : words) {
      if (strcasecmp(text.c_str(), word) == 0) return true;
    }
    return false;
  };
  if (lexer().is(TokenKind::identifier) && is_word({"infinity", "inf"})) {
    value = INFINITY;
  } else if (lexer().is(TokenKind::identifier) && is_word({"nan"})) {
    lexer().advance();
    const uint64_t quiet = size == 8 ? 0x7FFF'FFFF'FFFF'FFFF : 0x7FFF'FFFF;
    return negative ? quiet | uint64_t{1} << (8 * size - 1) : quiet;
  } else if (lexer().is(TokenKind::integer) || lexer().is(TokenKind::big_integer) || lexer().is(TokenKind::real)) {
    if (size == 4) {
      const float single = std::strtof(text.c_str(), nullptr);
      lexer().advance();
      uint32_t bits;
      std::memcpy(&bits, &single, sizeof bits);
      return negative ? bits ^ 0x8000'0000 : bits;
    }
    value = std::strtod(text.c_str(), nullptr);
  } else {
    error("unexpected token in directive");
    return std::nullopt;
  }
  lexer().advance();
  if (size == 4) return (std::isinf(value) ? 0x7F80'0000u : 0u) | (negative ? 0x8000'0000u : 0u);
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return negative ? bits ^ (uint64_t{1} << 63) : bits;
}

}  // namespace Atoll::assembler

// assembler: text to tokens (lexer.h).
#include "assembler/syntax/lexer.h"

namespace Atoll::assembler {

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

struct Operator {
  std::string_view text;
  TokenKind kind;
};
// Longer ones first.
constexpr Operator operators[] = {
    {"||", TokenKind::pipe_pipe},
    {"&&", TokenKind::amp_amp},
    {"!=", TokenKind::exclaim_equal},
    {"==", TokenKind::equal_equal},
    {"<=", TokenKind::less_equal},
    {"<<", TokenKind::less_less},
    {"<>", TokenKind::less_greater},
    {">=", TokenKind::greater_equal},
    {">>", TokenKind::greater_greater},
    {",", TokenKind::comma},
    {":", TokenKind::colon},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"~", TokenKind::tilde},
    {"/", TokenKind::slash},
    {"%", TokenKind::percent},
    {"*", TokenKind::star},
    {"^", TokenKind::caret},
    {"|", TokenKind::pipe},
    {"&", TokenKind::amp},
    {"!", TokenKind::exclaim},
    {"=", TokenKind::equal},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
    {"(", TokenKind::left_paren},
    {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},

    {"@", TokenKind::at},
    {"#", TokenKind::hash},
    {"\\", TokenKind::backslash},
    {"?", TokenKind::question},
};

}  // namespace

bool begins_name(char c) { return is_letter(c) || c == '_' || c == '.' || c == '$'; }
bool continues_name(char c) {
  return begins_name(c) || is_digit(c) || c == '@' || c == '?' || static_cast<unsigned char>(c) >= 0x80;
}

void Lexer::finish(TokenKind kind, size_t length) {
  token_.kind = kind;
  token_.text = std::string_view(buffer_->text).substr(start_, length);
  next_ = start_ + length;
}

void Lexer::skip_space() {
  const std::string& text = buffer_->text;
  for (;;) {
    const char c = at(next_);
    if (c == ' ' || c == '\t' || c == '\r') {
      ++next_;
    } else if (c == '/' && at(next_ + 1) == '*') {
      const size_t end = text.find("*/", next_ + 2);
      next_ = end == std::string::npos ? text.size() : end + 2;
    } else if (c == ';' || (c == '/' && at(next_ + 1) == '/') ||
               (c == '#' && (next_ == 0 || text[next_ - 1] == '\n'))) {
      const size_t end = text.find('\n', next_);
      next_ = end == std::string::npos ? text.size() : end;
    } else {
      return;
    }
  }
}

void Lexer::lex_number() {
  const std::string& text = buffer_->text;
  size_t p = start_;
  unsigned base = 10;
  if (text[p] == '0' && (at(p + 1) == 'x' || at(p + 1) == 'X')) {
    base = 16;
    p += 2;
    // A hexadecimal float has a 'p' after its digits.
    size_t q = p;
    while (digit_value(at(q)) < 16 || at(q) == '.') ++q;
    if (at(q) == 'p' || at(q) == 'P') {
      ++q;
      if (at(q) == '+' || at(q) == '-') ++q;
      while (is_digit(at(q))) ++q;
      return finish(TokenKind::real, q - start_);
    }
  } else if (text[p] == '0' && (at(p + 1) == 'b' || at(p + 1) == 'B') && (at(p + 2) == '0' || at(p + 2) == '1')) {
    base = 2;
    p += 2;
  } else {
    size_t q = p;
    while (is_digit(at(q))) ++q;
    const bool exponent = (at(q) == 'e' || at(q) == 'E') &&
                          (is_digit(at(q + 1)) || ((at(q + 1) == '+' || at(q + 1) == '-') && is_digit(at(q + 2))));
    if (at(q) == '.' || exponent) {
      if (at(q) == '.') {
        ++q;
        while (is_digit(at(q))) ++q;
      }
      if (at(q) == 'e' || at(q) == 'E') {
        size_t e = q + 1;
        if (at(e) == '+' || at(e) == '-') ++e;
        if (is_digit(at(e))) {
          while (is_digit(at(e))) ++e;
          q = e;
        }
      }
      return finish(TokenKind::real, q - start_);
    }
    if (text[p] == '0' && q - p > 1) base = 8;
  }
  const size_t digits = p;
  unsigned __int128 value = 0;
  bool too_big = false;
  while (static_cast<unsigned>(digit_value(at(p))) < base) {
    value = value * base + static_cast<unsigned>(digit_value(at(p)));
    too_big |= (value >> 64) != 0;
    ++p;
  }
  if (p == digits) {
    problem_ = base == 16 ? "invalid hexadecimal number" : "invalid binary number";
    return finish(TokenKind::error, p - start_);
  }
  if (base == 8 && is_digit(at(p))) {
    while (is_digit(at(p))) ++p;
    problem_ = "invalid octal number";
    return finish(TokenKind::error, p - start_);
  }
  const size_t end = p;
  while (at(p) == 'u' || at(p) == 'U' || at(p) == 'l' || at(p) == 'L') ++p;  // C's suffixes mean nothing here
  if (continues_name(at(p)) && at(p) != '.') p = end;
  token_.value = static_cast<uint64_t>(value);
  finish(too_big ? TokenKind::big_integer : TokenKind::integer, p - start_);
}

void Lexer::lex_string() {
  for (size_t p = start_ + 1; p < buffer_->text.size(); ++p) {
    const char c = buffer_->text[p];
    if (c == '"') return finish(TokenKind::string, p + 1 - start_);
    if (c == '\\') ++p;
  }
  problem_ = "unterminated string constant";
  finish(TokenKind::error, buffer_->text.size() - start_);
}

void Lexer::advance() {
  skip_space();
  start_ = next_;
  const std::string& text = buffer_->text;
  if (start_ >= text.size()) {
    start_ = text.size();
    return finish(TokenKind::end_of_file, 0);
  }
  const char c = text[start_];
  if (c == '\n') {
    finish(TokenKind::end_of_statement, 1);
    token_.text = {};
    return;
  }
  if (is_digit(c)) return lex_number();
  if (c == '.' && is_digit(at(start_ + 1))) {
    // ".5" is a number, ".2byte" a name.
    size_t p = start_ + 1;
    while (is_digit(at(p))) ++p;
    if (!continues_name(at(p)) || at(p) == 'e' || at(p) == 'E') return lex_number();
  }
  if (begins_name(c) || static_cast<unsigned char>(c) >= 0x80) {
    size_t p = start_ + 1;
    while (p < text.size() && continues_name(text[p])) ++p;
    return finish(TokenKind::identifier, p - start_);
  }
  if (c == '"') return lex_string();
  if (c == '\'') {
    const size_t length = at(start_ + 1) == '\\' ? 4 : 3;
    if (at(start_ + length - 1) != '\'') {
      problem_ = "unterminated single quote";
      return finish(TokenKind::error, 1);
    }
    char value = at(start_ + length - 2);
    if (length == 4) {
      switch (value) {
        case 't':
          value = '\t';
          break;
        case 'n':
          value = '\n';
          break;
        case 'b':
          value = '\b';
          break;
        case 'f':
          value = '\f';
          break;
        case 'r':
          value = '\r';
          break;
        default:
          break;
      }
    }
    token_.value = static_cast<unsigned char>(value);
    return finish(TokenKind::integer, length);
  }
  for (const Operator& op : operators) {
    if (text.compare(start_, op.text.size(), op.text) == 0) return finish(op.kind, op.text.size());
  }
  problem_ = "invalid character in input";
  finish(TokenKind::error, 1);
}

std::string_view Lexer::rest_of_statement() {
  const size_t begin = start_;
  size_t end = begin;
  while (!at_end()) {
    end = start_ + token_.text.size();
    advance();
  }
  return std::string_view(buffer_->text).substr(begin, end - begin);
}

std::optional<std::string> unescape(std::string_view token) {
  std::string out;
  const std::string_view text = token.substr(1, token.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const char c = text[i];
    if (c == 'x' || c == 'X') {
      unsigned value = 0;
      size_t digits = 0;
      while (i + 1 < text.size() && digit_value(text[i + 1]) < 16) {
        value = value << 4 | static_cast<unsigned>(digit_value(text[++i]));
        ++digits;
      }
      if (digits == 0) return std::nullopt;
      out += static_cast<char>(value);
      continue;
    }
    if (c >= '0' && c <= '7') {
      unsigned value = static_cast<unsigned>(c - '0');
      for (unsigned digit = 0; digit < 2 && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '7'; ++digit) {
        value = value << 3 | static_cast<unsigned>(text[++i] - '0');
      }
      if (value > 255) return std::nullopt;
      out += static_cast<char>(value);
      continue;
    }
    switch (c) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case '"':
      case '\\':
        out += c;
        break;
      default:
        return std::nullopt;
    }
  }
  return out;
}

}  // namespace Atoll::assembler

// assembler: text to tokens.
//
// Comments run from ';' or "//" to the end of the line, or stand between "/*" and "*/"; a line that begins with '#' is
// one, too. '@' and '$' are letters within a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assembler/syntax/source.h"

namespace Atoll::assembler {

enum class TokenKind : uint8_t {
  end_of_file,
  end_of_statement,
  identifier,
  integer,      ///< value
  big_integer,  ///< more than 64 bits
  real,
  string,  ///< with its quotes
  comma,
  colon,
  plus,
  minus,
  tilde,
  slash,
  percent,
  star,
  caret,
  pipe,
  pipe_pipe,
  amp,
  amp_amp,
  exclaim,
  exclaim_equal,
  equal,
  equal_equal,
  less,
  less_equal,
  less_less,
  less_greater,
  greater,
  greater_equal,
  greater_greater,
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  at,
  hash,
  backslash,
  question,
  error,  ///< `text` is where; what is wrong is Lexer::problem()
};

struct Token {
  TokenKind kind = TokenKind::end_of_file;
  std::string_view text;  ///< in the buffer; empty at an end
  uint64_t value = 0;     ///< of an integer
};

class Lexer {
 public:
  explicit Lexer(const Buffer& buffer, size_t offset = 0) : buffer_(&buffer), next_(offset) { advance(); }

  const Token& token() const { return token_; }
  bool is(TokenKind kind) const { return token_.kind == kind; }
  bool at_end() const { return is(TokenKind::end_of_statement) || is(TokenKind::end_of_file); }
  Place place() const { return {buffer_, static_cast<uint32_t>(start_)}; }
  Place place_of(std::string_view text) const {
    return {buffer_, static_cast<uint32_t>(text.data() - buffer_->text.data())};
  }
  const Buffer& buffer() const { return *buffer_; }
  const char* problem() const { return problem_; }

  /// Goes to the next token.
  void advance();
  /// Continues at an offset of the text.
  void jump(size_t offset) {
    next_ = offset;
    advance();
  }
  /// Where the current token begins, and where what follows it does.
  size_t start() const { return start_; }
  size_t next() const { return next_; }

  bool accept(TokenKind kind) {
    if (!is(kind)) return false;
    advance();
    return true;
  }

  /// What is left of the statement from the current token on, without a comment after it; the current token is its
  /// end afterwards.
  std::string_view rest_of_statement();

 private:
  void skip_space();
  void lex_number();
  void lex_string();
  void finish(TokenKind kind, size_t length);
  char at(size_t offset) const { return offset < buffer_->text.size() ? buffer_->text[offset] : '\0'; }

  const Buffer* buffer_;
  size_t next_ = 0, start_ = 0;
  Token token_;
  const char* problem_ = "";
};

bool begins_name(char c);
bool continues_name(char c);

/// The bytes that a string token stands for; nothing when an escape is none. `token` includes the quotes.
std::optional<std::string> unescape(std::string_view token);

}  // namespace Atoll::assembler

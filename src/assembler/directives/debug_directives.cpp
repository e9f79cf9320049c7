// assembler: directives of debug information (parser.h): source files and lines.
#include <fmt/format.h>

#include "assembler/syntax/parser.h"

namespace Atoll::assembler {

namespace {

/// The 32 hexadecimal digits after "md5 0x".
std::optional<Md5> parse_md5(std::string_view digits) {
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  Md5 md5{};
  if (digits.empty() || digits.size() > 2 * md5.size()) return std::nullopt;
  for (size_t i = 0; i < digits.size(); ++i) {  // from the last one on: leading zeros may be missing
    const char c = digits[digits.size() - 1 - i];
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    if (digit > 15) return std::nullopt;
    md5[md5.size() - 1 - i / 2] |= static_cast<uint8_t>(digit << (4 * (i % 2)));
  }
  return md5;
}

}  // namespace

/// .file "name", or .file number ["directory"] "name" [md5 0x...] [source "text"]
bool Parser::directive_file(std::string_view, Place) {
  // Without a number it would name the file in the symbol table, which LLVM does not do for AMDGPU.
  if (lexer().is(TokenKind::string)) return quoted() && expect_end();
  const Place number_place = lexer().place();
  const auto number = absolute();
  if (!number) return false;
  if (*number < 0 || *number > 0xFFFFF) return error(number_place, "file number is out of range");
  const auto first = quoted();
  if (!first) return false;
  std::string directory, file_name = *first;
  if (lexer().is(TokenKind::string)) {
    const auto second = quoted();
    if (!second) return false;
    directory = file_name;
    file_name = *second;
  }
  std::optional<Md5> md5;
  std::optional<std::string> text;
  while (!lexer().at_end()) {
    if (!lexer().is(TokenKind::identifier)) return error("unexpected token in '.file' directive");
    const std::string_view word = token().text;
    lexer().advance();
    if (word == "md5") {
      md5 = parse_md5(token().text);
      if (!md5) return error("a checksum of 32 hexadecimal digits is expected");
      lexer().advance();
    } else if (word == "source") {
      text = quoted();
      if (!text) return false;
    } else {
      return error("unexpected token in '.file' directive");
    }
  }
  if (!lines_.set_file(static_cast<uint32_t>(*number), directory, file_name, md5, text)) {
    return error(number_place, "file number already allocated");
  }
  return true;
}

/// .line [number], which has no effect
bool Parser::directive_line(std::string_view, Place) {
  if (!lexer().at_end() && !absolute()) return false;
  return expect_end();
}

/// .loc file line [column] [basic_block] [prologue_end] [epilogue_begin] [is_stmt n] [isa n] [discriminator n]
bool Parser::directive_loc(std::string_view, Place) {
  line_row();  // of one that no code has followed
  SourceLine line{.is_statement = line_.is_statement};
  const Place file_place = lexer().place();
  const auto file = absolute();
  if (!file) return false;
  if (*file < 0 || !lines_.has_file(static_cast<uint32_t>(*file))) {
    return error(file_place, "unassigned file number in '.loc' directive");
  }
  line.file = static_cast<uint32_t>(*file);
  for (uint32_t* part : {&line.line, &line.column}) {
    if (!lexer().is(TokenKind::integer)) break;
    const Place at = lexer().place();
    const auto number = absolute();
    if (!number) return false;
    if (*number < 0) return error(at, "line and column are not negative");
    *part = static_cast<uint32_t>(*number);
  }
  while (!lexer().at_end()) {
    const Place at = lexer().place();
    if (!lexer().is(TokenKind::identifier)) return error("unexpected token in '.loc' directive");
    const std::string_view word = token().text;
    lexer().advance();
    if (word == "basic_block") {
      line.basic_block = true;
    } else if (word == "prologue_end") {
      line.prologue_end = true;
    } else if (word == "epilogue_begin") {
      line.epilogue_begin = true;
    } else if (word == "is_stmt" || word == "isa" || word == "discriminator") {
      const Place value_place = lexer().place();
      const auto value = absolute();
      if (!value) return false;
      if (word == "is_stmt" && *value != 0 && *value != 1) return error(value_place, "is_stmt value not 0 or 1");
      if (*value < 0) return error(value_place, "a number that is not negative is expected");
      if (word == "is_stmt") {
        line.is_statement = *value == 1;
      } else {
        (word == "isa" ? line.isa : line.discriminator) = static_cast<uint32_t>(*value);
      }
    } else {
      return error(at, "unknown sub-directive in '.loc' directive");
    }
  }
  line_ = line;
  line_pending_ = true;
  unit_.before_content([this] { line_row(); });
  return true;
}

/// The line of the last .loc begins here.
void Parser::line_row() {
  if (!line_pending_) return;
  line_pending_ = false;
  lines_.add_row(unit_.current_whole(), unit_.here(), line_);
}

/// Writes the sections of what these directives have said, when the text is at its end.
void Parser::emit_debug_sections() {
  if (!open_frames_.empty()) {
    source_.error({}, "a .cfi_startproc has no .cfi_endproc");
    return;
  }
  unit_.before_content({});
  unit_.join_subsections();
  unit_.settle_branches();
  if (!frames_.empty() && unwind_frames_wanted_) emit_unwind_frames(unit_, frames_);
  if (!frames_.empty() && debug_frames_wanted_) emit_debug_frames(unit_, frames_);
  if (!lines_.is_empty()) lines_.emit(unit_);
}

}  // namespace Atoll::assembler

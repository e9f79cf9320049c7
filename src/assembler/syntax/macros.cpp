// assembler: macros, repetitions, conditions and other texts (parser.h).
//
// An expansion is a text of its own, read by a lexer of its own before the text that it stands in goes on.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"
#include "support/mapped_file.h"

namespace Atoll::assembler {

namespace {

/// Expansions within expansions; a macro that calls itself for ever is stopped here.
constexpr size_t deepest_expansion = 200;
/// Bytes that all expansions within expansions may have: what doubles need not go deep to be long.
constexpr size_t largest_nested = size_t{1} << 25;
/// Bytes that all expansions of a text may have.
constexpr size_t largest_expansion = size_t{1} << 28;

/// What joins the words of a macro's argument. '%' does not: it evaluates one.
bool joins_argument(TokenKind kind) {
  if (kind == TokenKind::percent) return false;
  return is_binary_operator(kind) || kind == TokenKind::tilde || kind == TokenKind::equal;
}

bool in_parameter_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

}  // namespace

// --- Texts ----------------------------------------------------------------------------------------------------------

/// Checks that the expansion limit allows that many more bytes, before they are generated: a few lines can expand to
/// more than the available memory. Otherwise reports an error and stops reading.
bool Parser::has_room(uint64_t bytes, Place place) {
  const bool nested = levels_.size() > 1;
  const bool too_much = bytes + expanded_bytes_ > largest_expansion;
  if (!too_much && !(nested && bytes + nested_bytes_ > largest_nested)) return true;
  ended_ = true;
  return error(place, too_much ? fmt::format("macros and repetitions expand to more than {} bytes", largest_expansion)
                               : fmt::format("macros within macros expand to more than {} bytes", largest_nested));
}

/// Continues in another text. The statement that includes it must be complete.
void Parser::enter(Buffer buffer) {
  lexer().accept(TokenKind::end_of_statement);
  if (levels_.size() > deepest_expansion) {
    error(buffer.from, fmt::format("macros cannot be nested more than {} levels deep", deepest_expansion));
    return;
  }
  if (!buffer.is_file) expanded_bytes_ += buffer.text.size();
  if (levels_.size() > 1) nested_bytes_ += buffer.text.size();
  if (!has_room(0, buffer.from)) return;
  buffer.conditions = static_cast<unsigned>(conditions_.size());
  levels_.push_back({Lexer(source_.add(std::move(buffer)))});
}

bool Parser::directive_include(std::string_view, Place place) {
  const auto path = quoted();
  if (!path || !expect_end()) return false;
  std::vector<std::string> candidates{*path};
  for (const std::string& directory : options_.include_directories) candidates.push_back(directory + "/" + *path);
  for (const std::string& candidate : candidates) {
    const auto file = support::MappedFile::open(candidate);
    if (!file) continue;
    const auto bytes = file->bytes();
    enter({.name = candidate, .text = {bytes.begin(), bytes.end()}, .from = place, .is_file = true});
    return true;
  }
  return error(place, fmt::format("Could not find include file '{}'", *path));
}

bool Parser::directive_incbin(std::string_view, Place place) {
  const auto path = quoted();
  if (!path) return false;
  std::optional<int64_t> skip, count;
  if (lexer().accept(TokenKind::comma)) {
    if (!lexer().is(TokenKind::comma) && !(skip = absolute())) return false;
    if (lexer().accept(TokenKind::comma) && !(count = absolute())) return false;
  }
  if (!expect_end()) return false;
  if (skip.value_or(0) < 0) return error(place, "skip is negative");
  if (count.value_or(0) < 0) return error(place, "negative count has no effect");
  std::vector<std::string> candidates{*path};
  for (const std::string& directory : options_.include_directories) candidates.push_back(directory + "/" + *path);
  for (const std::string& candidate : candidates) {
    const auto file = support::MappedFile::open(candidate, largest_content);
    if (!file && file.error().kind == support::ErrorKind::out_of_resources) return error(place, file.error().message);
    if (!file) continue;
    auto bytes = file->bytes();
    bytes = bytes.subspan(std::min<size_t>(bytes.size(), static_cast<size_t>(skip.value_or(0))));
    if (count) bytes = bytes.first(std::min<size_t>(bytes.size(), static_cast<size_t>(*count)));
    unit_.emit(bytes);
    return true;
  }
  return error(place, fmt::format("Could not find incbin file '{}'", *path));
}

// --- Macros ---------------------------------------------------------------------------------------------------------

/// The text up to the directive that ends a macro or a repetition, which is read as well, with its statement.
std::optional<std::string> Parser::body_until(Place place, bool is_macro) {
  const auto opens = [&](std::string_view word) {
    return is_macro ? word == ".macro" : word == ".rept" || word == ".rep" || word == ".irp" || word == ".irpc";
  };
  const auto closes = [&](std::string_view word) {
    return is_macro ? word == ".endm" || word == ".endmacro" : word == ".endr";
  };
  lexer().accept(TokenKind::end_of_statement);
  const size_t begin = lexer().start();
  for (unsigned depth = 1;;) {
    if (lexer().is(TokenKind::end_of_file)) {
      error(place, fmt::format("no matching '{}' in definition", is_macro ? ".endm" : ".endr"));
      return std::nullopt;
    }
    const size_t start = lexer().start();
    if (lexer().is(TokenKind::identifier)) {
      const std::string_view word = token().text;
      if (opens(word)) ++depth;
      if (closes(word) && --depth == 0) {
        lexer().advance();
        if (!expect_end()) return std::nullopt;
        return lexer().buffer().text.substr(begin, start - begin);
      }
    }
    while (!lexer().at_end()) lexer().advance();
    lexer().accept(TokenKind::end_of_statement);
  }
}

/// One argument of a macro, as text. Space ends it unless an operator stands before or after.
std::optional<std::string> Parser::macro_argument(bool rest) {
  if (rest) return std::string(lexer().rest_of_statement());
  if (alternate_macros_ && lexer().is(TokenKind::less)) {
    // "<text>": what is between the brackets; '!' before a character takes it as it is.
    const std::string& text = lexer().buffer().text;
    std::string out;
    for (size_t p = lexer().start() + 1; p < text.size() && text[p] != '\n'; ++p) {
      if (text[p] == '!' && p + 1 < text.size()) {
        out += text[++p];
      } else if (text[p] == '>') {
        lexer().jump(p + 1);
        return out;
      } else {
        out += text[p];
      }
    }
  }
  if (alternate_macros_ && lexer().is(TokenKind::percent)) {
    lexer().advance();
    const auto value = absolute();
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  std::string out;
  unsigned parentheses = 0;
  size_t end = lexer().start();
  bool after_operator = true;
  while (!lexer().at_end()) {
    if (lexer().is(TokenKind::error)) {
      error(lexer().problem());
      return std::nullopt;
    }
    if (parentheses == 0 && lexer().is(TokenKind::comma)) break;
    const bool op = joins_argument(token().kind);
    const bool space = lexer().start() > end;
    if (parentheses == 0 && space && !op && !after_operator) break;
    if (lexer().is(TokenKind::left_paren)) ++parentheses;
    if (lexer().is(TokenKind::right_paren) && parentheses > 0) --parentheses;
    if (parentheses > 0 && space && !op && !after_operator) out += ' ';
    if (lexer().is(TokenKind::string)) {
      out += token().text.substr(1, token().text.size() - 2);
    } else {
      out += token().text;
    }
    after_operator = op;
    end = lexer().start() + token().text.size();
    lexer().advance();
  }
  if (parentheses != 0) {
    error("unbalanced parentheses in macro argument");
    return std::nullopt;
  }
  return out;
}

bool Parser::directive_macro(std::string_view, Place place) {
  const auto macro_name = name();
  if (!macro_name) return false;
  Macro macro;
  lexer().accept(TokenKind::comma);
  while (!lexer().at_end()) {
    if (!macro.parameters.empty() && macro.parameters.back().rest) {
      return error(fmt::format("vararg parameter '{}' should be the last parameter", macro.parameters.back().name));
    }
    MacroParameter parameter;
    if (!lexer().is(TokenKind::identifier)) return error("expected identifier in 'macro' directive");
    parameter.name = token().text;
    if (std::ranges::find(macro.parameters, parameter.name, &MacroParameter::name) != std::end(macro.parameters)) {
      return error(fmt::format("macro '{}' has multiple parameters named '{}'", *macro_name, parameter.name));
    }
    lexer().advance();
    if (lexer().accept(TokenKind::colon)) {
      if (lexer().is(TokenKind::identifier) && token().text == "req") {
        parameter.required = true;
      } else if (lexer().is(TokenKind::identifier) && token().text == "vararg") {
        parameter.rest = true;
      } else {
        return error(fmt::format("'{}' is not a valid parameter qualifier for '{}' in macro '{}'", token().text,
                                 parameter.name, *macro_name));
      }
      lexer().advance();
    }
    if (lexer().accept(TokenKind::equal)) {
      auto fallback = macro_argument(false);
      if (!fallback) return false;
      parameter.fallback = std::move(*fallback);
    }
    macro.parameters.push_back(std::move(parameter));
    lexer().accept(TokenKind::comma);
  }
  auto body = body_until(place, true);
  if (!body) return false;
  macro.body = std::move(*body);
  if (macros_.contains(*macro_name)) return error(place, fmt::format("macro '{}' is already defined", *macro_name));
  macros_.emplace(*macro_name, std::move(macro));
  return true;
}

bool Parser::directive_endm(std::string_view word, Place place) {
  return error(place, fmt::format("unexpected '{}' in file, no current macro definition", word));
}

bool Parser::directive_purgem(std::string_view, Place place) {
  const auto macro_name = name();
  if (!macro_name || !expect_end()) return false;
  if (macros_.erase(*macro_name) == 0) return error(place, fmt::format("macro '{}' is not defined", *macro_name));
  return true;
}

bool Parser::directive_exitm(std::string_view word, Place place) {
  if (!expect_end()) return false;
  if (levels_.size() == 1 || lexer().buffer().is_file) {
    return error(place, fmt::format("unexpected '{}' in file, no current macro definition", word));
  }
  conditions_.resize(lexer().buffer().conditions);
  levels_.pop_back();
  return true;
}

bool Parser::directive_macros_on(std::string_view directive, Place) {
  if (!expect_end()) return false;
  macros_on_ = directive == ".macros_on";
  return true;
}

bool Parser::directive_altmacro(std::string_view word, Place) {
  alternate_macros_ = word == ".altmacro";
  return expect_end();
}

/// Puts the body after `out`, with the arguments for the parameters.
bool Parser::expand(std::string_view body, const std::vector<MacroParameter>& parameters,
                    const std::vector<std::string>& arguments, std::string& out, Place place) {
  const auto find = [&](std::string_view word) -> const std::string* {
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name == word) return &arguments[i];
    }
    return nullptr;
  };
  constexpr size_t stretch = 4096;  // of the body, after which the room is looked at; an argument may be long
  size_t looked_at = 0;
  for (size_t i = 0; i < body.size();) {
    if (out.size() - looked_at > stretch) {
      looked_at = out.size();
      if (!has_room(looked_at, place)) return false;
    }
    const char c = body[i];
    if (c == '\\' && i + 1 < body.size()) {
      if (body[i + 1] == '@') {
        out += std::to_string(expansions_);
        i += 2;
        continue;
      }
      if (body[i + 1] == '(' && i + 2 < body.size() && body[i + 2] == ')') {
        i += 3;
        continue;
      }
      size_t end = i + 1;
      while (end < body.size() && in_parameter_name(body[end])) ++end;
      if (const std::string* argument = find(body.substr(i + 1, end - i - 1))) {
        out += *argument;
        i = end;
        if (alternate_macros_ && i < body.size() && body[i] == '&') ++i;
        continue;
      }
      out += c;
      ++i;
      continue;
    }
    if (alternate_macros_ && in_parameter_name(c)) {
      size_t end = i;
      while (end < body.size() && in_parameter_name(body[end])) ++end;
      const std::string_view word = body.substr(i, end - i);
      const std::string* argument = find(word);
      out += argument != nullptr ? std::string_view(*argument) : word;
      i = end;
      if (argument != nullptr && i < body.size() && body[i] == '&') ++i;
      continue;
    }
    out += c;
    ++i;
  }
  return has_room(out.size(), place);
}

bool Parser::invoke(const std::string& macro_name, const Macro& macro, Place place) {
  std::vector<std::optional<std::string>> given(macro.parameters.size());
  size_t next = 0;
  bool named_one = false;
  while (!lexer().at_end()) {
    size_t index = next;
    const size_t start = lexer().start();
    bool is_named = false;
    if (lexer().is(TokenKind::identifier)) {
      const std::string word(token().text);
      const Place word_place = lexer().place();
      lexer().advance();
      if (lexer().is(TokenKind::equal)) {
        const auto parameter = std::ranges::find(macro.parameters, word, &MacroParameter::name);
        if (parameter == macro.parameters.end()) {
          return error(word_place, fmt::format("parameter named '{}' does not exist for macro '{}'", word, macro_name));
        }
        lexer().advance();
        index = static_cast<size_t>(parameter - macro.parameters.begin());
        is_named = named_one = true;
      } else {
        lexer().jump(start);
      }
    }
    if (!is_named && named_one) return error("cannot mix positional and keyword arguments");
    if (index >= macro.parameters.size()) return error("too many positional arguments");
    auto argument = macro_argument(macro.parameters[index].rest);
    if (!argument) return false;
    if (!argument->empty()) given[index] = std::move(*argument);
    if (!is_named) ++next;
    lexer().accept(TokenKind::comma);
  }
  std::vector<std::string> arguments;
  for (size_t i = 0; i < given.size(); ++i) {
    const MacroParameter& parameter = macro.parameters[i];
    if (!given[i] && parameter.required) {
      return error(place,
                   fmt::format("missing value for required parameter '{}' in macro '{}'", parameter.name, macro_name));
    }
    arguments.push_back(given[i].value_or(parameter.fallback));
  }
  std::string text;
  if (!expand(macro.body, macro.parameters, arguments, text, place)) return false;
  ++expansions_;
  enter({.name = "<instantiation>", .text = std::move(text), .from = place, .is_file = false});
  return true;
}

// --- Repetitions ----------------------------------------------------------------------------------------------------

bool Parser::directive_rept(std::string_view, Place place) {
  const Place count_place = lexer().place();
  const auto count = absolute();
  if (!count || !expect_end()) return false;
  if (*count < 0) return error(count_place, "Count is negative");
  const auto body = body_until(place, false);
  if (!body) return false;
  const auto times = static_cast<uint64_t>(*count);
  if (!body->empty() && times > largest_expansion / body->size()) {
    return error(count_place, "the repetition is too long");
  }
  std::string text;
  for (uint64_t i = 0; i < times && !body->empty(); ++i) {
    if (!expand(*body, {}, {}, text, place)) return false;
  }
  enter({.name = "<instantiation>", .text = std::move(text), .from = place, .is_file = false});
  return true;
}

bool Parser::directive_irp(std::string_view word, Place place) {
  if (!lexer().is(TokenKind::identifier)) return error(fmt::format("expected identifier in '{}' directive", word));
  const std::vector<MacroParameter> parameters{{.name = std::string(token().text), .fallback = {}}};
  lexer().advance();
  if (!expect_comma()) return false;
  std::vector<std::string> values;
  while (!lexer().at_end()) {
    auto argument = macro_argument(false);
    if (!argument) return false;
    values.push_back(std::move(*argument));
    lexer().accept(TokenKind::comma);
  }
  if (values.empty()) values.emplace_back();
  const auto body = body_until(place, false);
  if (!body) return false;
  std::string text;
  for (const std::string& value : values) {
    if (!expand(*body, parameters, {value}, text, place)) return false;
  }
  enter({.name = "<instantiation>", .text = std::move(text), .from = place, .is_file = false});
  return true;
}

bool Parser::directive_irpc(std::string_view word, Place place) {
  if (!lexer().is(TokenKind::identifier)) return error(fmt::format("expected identifier in '{}' directive", word));
  const std::vector<MacroParameter> parameters{{.name = std::string(token().text), .fallback = {}}};
  lexer().advance();
  if (!expect_comma()) return false;
  const auto characters = macro_argument(false);
  if (!characters || !expect_end()) return false;
  const auto body = body_until(place, false);
  if (!body) return false;
  std::string text;
  for (const char c : *characters) {
    if (!expand(*body, parameters, {std::string(1, c)}, text, place)) return false;
  }
  enter({.name = "<instantiation>", .text = std::move(text), .from = place, .is_file = false});
  return true;
}

bool Parser::directive_endr(std::string_view word, Place place) {
  return error(place, fmt::format("unmatched '{}' directive", word));
}

// --- Messages, the end ----------------------------------------------------------------------------------------------

bool Parser::directive_error(std::string_view word, Place place) {
  if (lexer().at_end()) return error(place, fmt::format("{} directive invoked in source file", word));
  const auto text = quoted();
  return text && error(place, *text);
}

bool Parser::directive_warning(std::string_view, Place place) {
  if (lexer().at_end()) {
    source_.warning(place, ".warning directive invoked in source file");
    return true;
  }
  const auto text = quoted();
  if (!text || !expect_end()) return false;
  source_.warning(place, *text);
  return true;
}

bool Parser::directive_print(std::string_view, Place) {
  // .print writes to the terminal during assembly. It is ignored.
  return quoted() && expect_end();
}

bool Parser::directive_end(std::string_view, Place) {
  ended_ = expect_end();
  return ended_;
}

// --- Conditions -----------------------------------------------------------------------------------------------------

bool Parser::is_condition(std::string_view name) {
  static constexpr std::string_view names[] = {".if",     ".ifeq",     ".ifge",   ".ifgt", ".ifle",  ".iflt",  ".ifne",
                                               ".ifb",    ".ifnb",     ".ifc",    ".ifnc", ".ifeqs", ".ifnes", ".ifdef",
                                               ".ifndef", ".ifnotdef", ".elseif", ".else", ".endif"};
  return name.starts_with(".e") || name.starts_with(".i") ? std::ranges::find(names, name) != std::end(names) : false;
}

bool Parser::open_condition(bool met, Place place) {
  const bool outer = skipping();
  conditions_.push_back({.skips = outer || !met, .met = met, .outer_skips = outer, .seen_else = false, .place = place});
  return true;
}

bool Parser::condition_directive(std::string_view name, Place place) {
  const auto opened_here = [&] {
    return !conditions_.empty() && conditions_.size() > (levels_.size() > 1 ? lexer().buffer().conditions : 0);
  };
  if (name == ".endif") {
    if (!opened_here()) return error(place, "Encountered a .endif that doesn't follow an .if or .else");
    conditions_.pop_back();
    return expect_end();
  }
  if (name == ".else" || name == ".elseif") {
    if (!opened_here() || conditions_.back().seen_else) {
      return error(place, fmt::format("Encountered a {} that doesn't follow an .if or an .elseif", name));
    }
    Condition& condition = conditions_.back();
    if (name == ".else") {
      condition.seen_else = true;
      condition.skips = condition.outer_skips || condition.met;
      condition.met = true;
      return expect_end();
    }
    if (condition.outer_skips || condition.met) {
      condition.skips = true;
      return true;
    }
    condition.skips = false;
    const auto value = absolute();
    if (!value) return false;
    condition.met = *value != 0;
    condition.skips = !condition.met;
    return expect_end();
  }
  // Within what is skipped, only the nesting counts.
  if (skipping()) return open_condition(false, place);

  bool met = false;
  if (name == ".ifdef" || name == ".ifndef" || name == ".ifnotdef") {
    const auto symbol_name = this->name();
    if (!symbol_name || !expect_end()) return open_condition(false, place);
    const Symbol* symbol = unit_.find_symbol(*symbol_name);
    met = (symbol != nullptr && symbol->is_defined()) == (name == ".ifdef");
  } else if (name == ".ifb" || name == ".ifnb") {
    met = lexer().rest_of_statement().empty() == (name == ".ifb");
  } else if (name == ".ifc" || name == ".ifnc") {
    const std::string_view rest = lexer().rest_of_statement();
    const size_t comma = rest.find(',');
    if (comma == std::string_view::npos) {
      error(place, "expected comma");
      return open_condition(false, place);
    }
    met = (trimmed(rest.substr(0, comma)) == trimmed(rest.substr(comma + 1))) == (name == ".ifc");
  } else if (name == ".ifeqs" || name == ".ifnes") {
    const auto a = quoted();
    const auto b = a && expect_comma() ? quoted() : std::nullopt;
    if (!b) return open_condition(false, place);
    met = (*a == *b) == (name == ".ifeqs");
  } else {
    const auto value = absolute();
    if (!value || !expect_end()) return open_condition(false, place);
    met = name == ".ifeq"   ? *value == 0
          : name == ".ifge" ? *value >= 0
          : name == ".ifgt" ? *value > 0
          : name == ".ifle" ? *value <= 0
          : name == ".iflt" ? *value < 0
                            : *value != 0;
  }
  return open_condition(met, place);
}

}  // namespace Atoll::assembler

// assembler: directives that make bytes (parser.h).
#include <bit>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"
#include "object/relocation_type.h"

namespace Atoll::assembler {

namespace {

/// Bytes of an element of the directive.
unsigned element_size(std::string_view directive) {
  struct Size {
    std::string_view name;
    unsigned bytes;
  };
  static constexpr Size sizes[] = {
      {".byte", 1},  {".dc.b", 1},   {".dcb.b", 1}, {".ds.b", 1},   {".short", 2}, {".value", 2}, {".2byte", 2},
      {".dc", 2},    {".dc.w", 2},   {".dcb", 2},   {".dcb.w", 2},  {".ds", 2},    {".ds.w", 2},  {".long", 4},
      {".int", 4},   {".4byte", 4},  {".dc.l", 4},  {".dcb.l", 4},  {".ds.l", 4},  {".ds.s", 4},  {".quad", 8},
      {".8byte", 8}, {".dc.a", 8},   {".ds.d", 8},  {".dcb.s", 4},  {".dcb.d", 8}, {".ds.p", 12}, {".ds.x", 12},
      {".float", 4}, {".single", 4}, {".dc.s", 4},  {".double", 8}, {".dc.d", 8},
  };
  for (const Size& size : sizes) {
    if (size.name == directive) return size.bytes;
  }
  return 1;
}

/// RFC 4648, with padding.
std::optional<std::vector<uint8_t>> decode_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    const std::string_view quad = text.substr(i, 4);
    const size_t used = std::min(quad.find('='), quad.size());
    const bool is_last = i + 4 == text.size();
    if (used < 2 || (used < 4 && !is_last) || quad.substr(used).find_first_not_of('=') != std::string_view::npos)
      return std::nullopt;
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) {
      const size_t digit = k < used ? digits.find(quad[k]) : 0;
      if (digit == std::string_view::npos) return std::nullopt;
      bits = bits << 6 | static_cast<uint32_t>(digit);
    }
    for (size_t k = 1; k < used; ++k) bytes.push_back(static_cast<uint8_t>(bits >> (24 - 8 * k)));
  }
  return bytes;
}

/// Returns the number of a relocation by its name, or by a generic name that assemblers accept.
std::optional<uint32_t> relocation_type(std::string_view name) {
  if (name == "BFD_RELOC_NONE") return object::R_AMDGPU_NONE;
  if (name == "BFD_RELOC_32") return object::R_AMDGPU_ABS32;
  if (name == "BFD_RELOC_64") return object::R_AMDGPU_ABS64;
  for (uint32_t type = 0; type <= object::R_AMDGPU_REL16; ++type) {
    if (!name.empty() && object::relocation_name(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace

bool Parser::directive_integers(std::string_view directive, Place) {
  const unsigned size = element_size(directive);
  if (lexer().at_end()) return true;
  do {
    const Place place = lexer().place();
    const Expression* value = expression();
    if (value == nullptr) return false;
    unit_.emit_value(*value, size, place);
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_octa(std::string_view, Place) {
  if (lexer().at_end()) return true;
  do {
    if (!lexer().is(TokenKind::integer) && !lexer().is(TokenKind::big_integer)) {
      return error("unknown token in expression");
    }
    unsigned __int128 value = 0;
    std::string_view digits = token().text;
    unsigned base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    }
    for (const char c : digits) {
      const unsigned digit = c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>((c | 0x20) - 'a') + 10;
      if (digit >= base) return error("invalid number");
      const unsigned __int128 next = value * base + digit;
      if (next / base != value) return error("out of range literal value");
      value = next;
    }
    unit_.emit_integer(static_cast<uint64_t>(value), 8);
    unit_.emit_integer(static_cast<uint64_t>(value >> 64), 8);
    lexer().advance();
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_reals(std::string_view directive, Place) {
  const unsigned size = element_size(directive);
  if (lexer().at_end()) return true;
  do {
    const auto bits = real_bits(size);
    if (!bits) return false;
    unit_.emit_integer(*bits, size);
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_strings(std::string_view directive, Place) {
  if (lexer().at_end()) return true;
  do {
    // Without an end of their own, strings may stand side by side.
    do {
      const auto text = quoted();
      if (!text) return false;
      unit_.emit({reinterpret_cast<const uint8_t*>(text->data()), text->size()});
    } while (directive == ".ascii" && lexer().is(TokenKind::string));
    if (directive != ".ascii") unit_.emit_integer(0, 1);
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_base64(std::string_view, Place) {
  if (lexer().at_end()) return error("expected string");
  do {
    const Place place = lexer().place();
    const auto text = quoted();
    if (!text) return false;
    const auto bytes = decode_base64(*text);
    if (!bytes) return error(place, "failed to base64 decode string data");
    unit_.emit(*bytes);
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_leb128(std::string_view directive, Place) {
  do {
    const Place place = lexer().place();
    const Expression* value = expression();
    if (value == nullptr) return false;
    unit_.emit_tail(
        {.kind = Tail::Kind::leb, .is_signed = directive == ".sleb128", .expression = value, .place = place});
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_align(std::string_view directive, Place place) {
  const bool power = directive.starts_with(".p2");
  const Place alignment_place = lexer().place();
  if (power && lexer().at_end()) {
    source_.warning(place, "p2align directive with no operand(s) is ignored");
    return true;
  }
  const auto alignment = absolute();
  if (!alignment) return false;
  std::optional<int64_t> fill, most;
  if (lexer().accept(TokenKind::comma)) {
    if (!lexer().is(TokenKind::comma)) {
      fill = absolute();
      if (!fill) return false;
    }
    if (lexer().accept(TokenKind::comma)) {
      most = absolute();
      if (!most) return false;
    }
  }
  if (!expect_end()) return false;
  uint64_t bytes = static_cast<uint64_t>(*alignment);
  if (power) {
    if (*alignment < 0 || *alignment >= 32) return error(alignment_place, "invalid alignment value");
    bytes = uint64_t{1} << *alignment;
  } else if (bytes == 0) {
    bytes = 1;
  } else if (!std::has_single_bit(bytes)) {
    return error(alignment_place, "alignment must be a power of 2");
  } else if (bytes > uint64_t{1} << 31) {
    return error(alignment_place, "alignment must be smaller than 2**32");
  }
  if (most && *most < 1)
    return error("alignment directive can never be satisfied in this many bytes, ignoring maximum bytes expression");
  const unsigned fill_size = directive.ends_with("alignl") ? 4 : directive.ends_with("alignw") ? 2 : 1;
  Tail tail{.kind = Tail::Kind::align, .alignment = bytes, .place = place};
  tail.max_bytes = most && static_cast<uint64_t>(*most) < bytes ? static_cast<uint64_t>(*most) : 0;
  tail.fill = static_cast<uint64_t>(fill.value_or(0));
  tail.fill_size = fill_size;
  tail.nops = unit_.current().is_code() && !fill && fill_size == 1;
  unit_.emit_tail(tail);
  return true;
}

bool Parser::directive_fill(std::string_view, Place place) {
  const Expression* count = expression();
  if (count == nullptr) return false;
  int64_t size = 1, value = 0;
  if (lexer().accept(TokenKind::comma)) {
    const Place size_place = lexer().place();
    const auto given = absolute();
    if (!given) return false;
    size = *given;
    if (size < 0) {
      source_.warning(size_place, "'.fill' directive with negative size has no effect");
      size = 0;
    }
    if (size > 8) {
      source_.warning(size_place, "'.fill' directive with size greater than 8 has been truncated to 8");
      size = 8;
    }
    if (lexer().accept(TokenKind::comma)) {
      const auto given_value = absolute();
      if (!given_value) return false;
      value = *given_value;
    }
  }
  if (!expect_end()) return false;
  if (size == 0) return true;
  // At most four bytes of the value are used, and the others are 0.
  Tail tail{.kind = Tail::Kind::fill, .expression = count, .place = place};
  tail.fill = size > 4 ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
  tail.fill_size = static_cast<unsigned>(size);
  unit_.emit_tail(tail);
  return true;
}

bool Parser::directive_space(std::string_view, Place place) {
  const Expression* count = expression();
  if (count == nullptr) return false;
  int64_t value = 0;
  if (lexer().accept(TokenKind::comma)) {
    const auto given = absolute();
    if (!given) return false;
    value = *given;
  }
  if (!expect_end()) return false;
  unit_.emit_tail(
      {.kind = Tail::Kind::fill, .fill = static_cast<uint64_t>(value & 0xFF), .expression = count, .place = place});
  return true;
}

bool Parser::directive_org(std::string_view, Place place) {
  const Expression* to = expression();
  if (to == nullptr) return false;
  int64_t fill = 0;
  if (lexer().accept(TokenKind::comma)) {
    const auto given = absolute();
    if (!given) return false;
    fill = *given;
  }
  if (!expect_end()) return false;
  unit_.emit_tail(
      {.kind = Tail::Kind::org, .fill = static_cast<uint64_t>(fill & 0xFF), .expression = to, .place = place});
  return true;
}

/// .dcb repeats a value; .ds reserves space for elements.
bool Parser::directive_repeated(std::string_view directive, Place place) {
  const unsigned size = element_size(directive);
  const auto count = absolute();
  if (!count) return false;
  if (*count < 0) {
    source_.warning(place, fmt::format("'{}' directive with negative repeat count has no effect", directive));
    while (!lexer().at_end()) lexer().advance();
    return true;
  }
  const Expression* value = &unit_.constant(0);
  const bool is_real = directive == ".dcb.s" || directive == ".dcb.d";
  if (is_real) {
    if (!expect_comma()) return false;
    const auto bits = real_bits(size);
    if (!bits) return false;
    value = &unit_.constant(static_cast<int64_t>(*bits));
  } else if (directive.starts_with(".dcb")) {
    if (!expect_comma()) return false;
    value = expression();
    if (value == nullptr) return false;
  }
  if (!expect_end()) return false;
  if (static_cast<uint64_t>(*count) > largest_content / size)
    return error(place, fmt::format("the repetition has more than {} MiB", largest_content >> 20));
  if (const auto known = unit_.absolute(*value)) {
    if (*count > 0 && !fits_integer(*known, size)) source_.error(place, "out of range literal value");
    for (int64_t i = 0; i < *count; ++i) unit_.emit_integer(static_cast<uint64_t>(*known), size);
    return true;
  }
  constexpr int64_t max_to_fill_in = int64_t{1} << 20;  // each of these is a place of its own to fill in
  if (*count > max_to_fill_in) return error(place, "the repetition of a value that comes later is too long");
  for (int64_t i = 0; i < *count; ++i) unit_.emit_value(*value, size, place);
  return true;
}

/// .reloc offset, relocation[, value]
bool Parser::directive_reloc(std::string_view, Place place) {
  const Expression* offset = expression();
  if (offset == nullptr || !expect_comma()) return false;
  const Place name_place = lexer().place();
  if (!lexer().is(TokenKind::identifier)) return error("expected relocation name");
  const std::string_view type_name = token().text;
  lexer().advance();
  const auto type = relocation_type(type_name);
  if (!type) return error(name_place, "unknown relocation name");
  const Expression* value = nullptr;
  if (lexer().accept(TokenKind::comma)) {
    value = expression();
    if (value == nullptr) return false;
    unit_.keep_symbols_of(*value);
  }
  if (!expect_end()) return false;
  unit_.current().explicit_relocations.push_back({.offset = offset, .type = *type, .value = value, .place = place});
  return true;
}

}  // namespace Atoll::assembler

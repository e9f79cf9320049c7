// assembler: AMDGPU's own directives, as of code object V3 (parser.h), but for kernel descriptors, which are in
// descriptor_directives.cpp. Those of V2 are in kernel_code_directives.cpp.
// Source: user guide, "Assembler", "Code Object V3 Assembler Directives".
#include <elf.h>

#include <algorithm>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"
#include "object/elf.h"
#include "object/metadata_writer.h"

namespace Atoll::assembler {

bool Parser::directive_amdgcn_target(std::string_view, Place) {
  const Place place = lexer().place();
  const auto text = quoted();
  if (!text || !expect_end()) return false;
  auto parsed = target::parse_target_id(*text);
  if (!parsed) return error(place, parsed.error().message);
  // In V2 and V3 what is not named is off, where a processor's name stands alone, too.
  if (code_object_version_ <= 3 && text->find_first_of(":+") == std::string::npos) {
    for (target::Setting* setting : {&parsed->xnack, &parsed->sramecc})
      if (*setting == target::Setting::any) *setting = target::Setting::off;
  }
  // V2 and V3 cannot leave a setting open, so theirs may close one that the command line leaves open.
  const auto fits = [&](target::Setting said, target::Setting chosen) {
    return said == chosen || (code_object_version_ <= 3 && chosen == target::Setting::any);
  };
  if (parsed->processor != target_.processor || !fits(parsed->xnack, target_.xnack) ||
      !fits(parsed->sramecc, target_.sramecc)) {
    return error(place,
                 fmt::format("the code is for {}, but is assembled for {}", parsed->to_string(), target_.to_string()));
  }
  target_.xnack = parsed->xnack;
  target_.sramecc = parsed->sramecc;
  return true;
}

bool Parser::directive_code_object_version(std::string_view, Place) {
  const Place place = lexer().place();
  const auto version = absolute();
  if (!version || !expect_end()) return false;
  if (*version < 3 || *version > 6) return error(place, fmt::format("unsupported code object version {}", *version));
  code_object_version_ = static_cast<uint32_t>(*version);
  return true;
}

/// The text from the next line up to a line that holds nothing but `end`, which is read as well.
std::optional<std::string> Parser::text_until(std::string_view end, Place place) {
  const std::string& text = lexer().buffer().text;
  // The current token is the end of the directive's own line.
  size_t at = std::min(text.size(), lexer().start() + 1);
  const size_t begin = at;
  while (at < text.size()) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, line_end - at);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    if (line == end) {
      lexer().jump(line_end);
      return text.substr(begin, at - begin);
    }
    at = line_end + 1;
  }
  lexer().jump(text.size());
  error(place, fmt::format("expected directive {} not found", end));
  return std::nullopt;
}

void Parser::emit_note(std::string_view owner, uint32_t type, std::span<const uint8_t> content, bool allocated) {
  unit_.push_section();
  unit_.switch_to(unit_.section({.name = ".note", .group = {}}, SHT_NOTE,
                                allocated && options_.os_abi == object::elf::osabi_amdgpu_hsa ? SHF_ALLOC : 0));
  const auto align = [&] { unit_.emit_tail({.kind = Tail::Kind::align, .alignment = 4, .place = {}}); };
  align();
  unit_.emit_integer(owner.size() + 1, 4);
  unit_.emit_integer(content.size(), 4);
  unit_.emit_integer(type, 4);
  unit_.emit({reinterpret_cast<const uint8_t*>(owner.data()), owner.size()});
  unit_.emit_integer(0, 1);
  align();
  unit_.emit(content);
  align();
  unit_.pop_section();
}

bool Parser::directive_metadata(std::string_view, Place place) {
  if (!expect_end()) return false;
  const auto text = text_until(".end_amdgpu_metadata", place);
  if (!text) return false;
  const auto note = object::metadata_from_yaml(*text);
  if (!note) return error(place, "invalid metadata: " + note.error().message);
  emit_note("AMDGPU", object::elf::nt_amdgpu_metadata, *note, true);
  return true;
}

bool Parser::directive_pal_metadata(std::string_view directive, Place place) {
  if (directive == ".amdgpu_pal_metadata") {
    if (!expect_end()) return false;
    const auto text = text_until(".end_amdgpu_pal_metadata", place);
    if (!text) return false;
    const auto note = object::pal_metadata_from_yaml(*text);
    if (!note) return error(place, "invalid PAL metadata: " + note.error().message);
    emit_note("AMDGPU", object::elf::nt_amdgpu_metadata, *note, true);
    return true;
  }
  // The older form: pairs of keys and values.
  std::vector<uint8_t> content;
  size_t numbers = 0;
  do {
    const auto value = absolute();
    if (!value) return false;
    for (unsigned i = 0; i < 4; ++i) content.push_back(static_cast<uint8_t>(*value >> (8 * i)));
    ++numbers;
  } while (lexer().accept(TokenKind::comma));
  if (numbers % 2 != 0) return error(place, fmt::format("expected an even number of values in {}", directive));
  if (!expect_end()) return false;
  constexpr uint32_t nt_amd_pal_metadata = 12;
  emit_note("AMD", nt_amd_pal_metadata, content, true);
  return true;
}

/// .amdgpu_lds name, size[, alignment]
bool Parser::directive_lds(std::string_view, Place) {
  const Place place = lexer().place();
  const auto symbol_name = name();
  if (!symbol_name || !expect_comma()) return false;
  const Place size_place = lexer().place();
  const auto size = absolute();
  if (!size) return false;
  if (*size < 0) return error(size_place, "size must be non-negative");
  if (*size > target_.processor->lds_bytes) return error(size_place, "size is too large");
  int64_t alignment = 4;
  if (lexer().accept(TokenKind::comma)) {
    const Place alignment_place = lexer().place();
    const auto value = absolute();
    if (!value) return false;
    if (*value <= 0 || (*value & (*value - 1)) != 0) return error(alignment_place, "alignment must be a power of two");
    if (*value >= int64_t{1} << 31) return error(alignment_place, "alignment is too large");
    alignment = *value;
  }
  if (!expect_end()) return false;
  Symbol& symbol = unit_.symbol(*symbol_name);
  if (symbol.is_defined()) return error(place, "invalid symbol redefinition");
  symbol.redefinable = false;
  symbol.type = STT_OBJECT;
  if (!symbol.binding_set) symbol.binding = STB_GLOBAL;
  symbol.binding_set = true;
  symbol.common_size = static_cast<uint64_t>(*size);
  symbol.offset = static_cast<uint64_t>(alignment);
  symbol.special_section = object::elf::shn_amdgpu_lds;
  symbol.size = &unit_.constant(*size);
  return true;
}

}  // namespace Atoll::assembler

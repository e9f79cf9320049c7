// assembler: directives about symbols and sections (parser.h).
#include <elf.h>

#include <algorithm>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"
#include "object/elf.h"

namespace Atoll::assembler {

namespace {

struct KnownSection {
  std::string_view name;  ///< or the part of it before a '.'
  uint32_t type;
  uint64_t flags;
};
// What a section is that says no more than its name.
constexpr KnownSection known_sections[] = {
    {".rodata", SHT_PROGBITS, SHF_ALLOC},
    {".rodata1", SHT_PROGBITS, SHF_ALLOC},
    {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    {".init", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    {".fini", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
    {".data1", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
    {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE},
    {".tdata", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS},
    {".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS},
    {".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE},
    {".fini_array", SHT_FINI_ARRAY, SHF_ALLOC | SHF_WRITE},
    {".preinit_array", SHT_PREINIT_ARRAY, SHF_ALLOC | SHF_WRITE},
    {".eh_frame", SHT_PROGBITS, SHF_ALLOC},
    {".note", SHT_NOTE, 0},
};

KnownSection known_section(std::string_view name) {
  for (const KnownSection& known : known_sections) {
    const bool part = name.starts_with(known.name) && name[known.name.size()] == '.';
    if (name == known.name || (name.size() > known.name.size() && part)) return known;
  }
  return {name, SHT_PROGBITS, 0};
}

struct NamedType {
  std::string_view name;
  uint32_t type;
};
constexpr NamedType section_types[] = {
    {"progbits", SHT_PROGBITS},
    {"nobits", SHT_NOBITS},
    {"note", SHT_NOTE},
    {"init_array", SHT_INIT_ARRAY},
    {"fini_array", SHT_FINI_ARRAY},
    {"preinit_array", SHT_PREINIT_ARRAY},
    {"unwind", 0x70000001},  // SHT_X86_64_UNWIND, whatever the machine
    {"llvm_odrtab", 0x6fff4c00},
    {"llvm_linker_options", 0x6fff4c01},
    {"llvm_addrsig", object::elf::sht_llvm_addrsig},
    {"llvm_dependent_libraries", 0x6fff4c04},
    {"llvm_sympart", 0x6fff4c05},
    {"llvm_bb_addr_map", 0x6fff4c0a},
    {"llvm_offloading", 0x6fff4c0b},
    {"llvm_lto", 0x6fff4c0c},
    {"llvm_jt_sizes", 0x6fff4c0d},
};
constexpr NamedType symbol_types[] = {
    {"function", STT_FUNC},
    {"STT_FUNC", STT_FUNC},
    {"object", STT_OBJECT},
    {"STT_OBJECT", STT_OBJECT},
    {"tls_object", STT_TLS},
    {"STT_TLS", STT_TLS},
    {"common", STT_COMMON},
    {"STT_COMMON", STT_COMMON},
    {"notype", STT_NOTYPE},
    {"STT_NOTYPE", STT_NOTYPE},
    {"gnu_unique_object", STT_OBJECT},
    {"gnu_indirect_function", STT_GNU_IFUNC},
    {"STT_GNU_IFUNC", STT_GNU_IFUNC},
};

}  // namespace

// --- Sections -------------------------------------------------------------------------------------------------------

/// A number, or letters; `in_last_group`: '?', in the group of the section before.
bool Parser::parse_section_flags(std::string_view text, uint64_t& flags, bool& in_last_group, Place place) {
  const std::string number(text);
  char* end = nullptr;
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    flags |= std::strtoull(number.c_str(), &end, 0);
    return *end == '\0' || error(place, "unknown flag");
  }
  for (const char c : text) {
    switch (c) {
      case 'a':
        flags |= SHF_ALLOC;
        break;
      case 'e':
        flags |= SHF_EXCLUDE;
        break;
      case 'x':
        flags |= SHF_EXECINSTR;
        break;
      case 'w':
        flags |= SHF_WRITE;
        break;
      case 'o':
        flags |= SHF_LINK_ORDER;
        break;
      case 'M':
        flags |= SHF_MERGE;
        break;
      case 'S':
        flags |= SHF_STRINGS;
        break;
      case 'T':
        flags |= SHF_TLS;
        break;
      case 'G':
        flags |= SHF_GROUP;
        break;
      case 'R':
        flags |= 0x200000;  // SHF_GNU_RETAIN
        break;
      case '?':
        in_last_group = true;
        break;
      default:
        return error(place, "unknown flag");
    }
  }
  return true;
}

/// #alloc, #write, ...
bool Parser::named_section_flags(uint64_t& flags) {
  constexpr std::pair<std::string_view, uint64_t> names[] = {
      {"alloc", SHF_ALLOC}, {"execinstr", SHF_EXECINSTR}, {"write", SHF_WRITE}, {"tls", SHF_TLS}};
  flags = 0;
  while (lexer().accept(TokenKind::hash)) {
    const auto* found = std::ranges::find(names, token().text, &std::pair<std::string_view, uint64_t>::first);
    if (!lexer().is(TokenKind::identifier) || found == std::end(names)) return error("unknown flag");
    flags |= found->second;
    lexer().advance();
    if (!lexer().accept(TokenKind::comma)) break;
  }
  return true;
}

/// A section's name, which may hold characters that are operators elsewhere (".note.GNU-stack").
std::optional<std::string> Parser::section_name() {
  if (lexer().is(TokenKind::string)) return quoted();
  const size_t begin = lexer().start();
  size_t end = begin;
  while (!lexer().at_end() && !lexer().is(TokenKind::comma) && !lexer().is(TokenKind::string) &&
         (end == begin || lexer().start() == end)) {
    end = lexer().start() + token().text.size();
    lexer().advance();
  }
  if (end == begin) {
    error("expected identifier");
    return std::nullopt;
  }
  return std::string(lexer().buffer().text.substr(begin, end - begin));
}

/// What a .section says after the name.
struct Parser::SectionAttributes {
  SectionKey key;
  uint64_t flags = 0, entry_size = 0;
  uint32_t type = 0;
  uint32_t subsection = 0;
  std::string linked_to;
  bool flags_given = false, comdat = false;
  bool in_last_group = false;  ///< of the section before
};

/// .section name[, "flags"[, @type[, entry size][, group, comdat][, linked-to][, unique, number]]]
bool Parser::parse_section(bool push) {
  SectionAttributes given;
  auto section_name = this->section_name();
  if (!section_name) return false;
  given.key.name = *std::move(section_name);
  const KnownSection known = known_section(given.key.name);
  given.flags = known.flags;
  given.type = known.type;
  const Section& before = unit_.current_whole();
  if (push) unit_.push_section();
  if (!section_attributes(given, before, push) || !expect_end()) {
    if (push) unit_.pop_section();
    return false;
  }
  if (const Section* there = unit_.find_section(given.key); there != nullptr && given.flags_given) {
    if (there->type != given.type) {
      error(fmt::format("changed section type for {}, expected: {:#x}", given.key.name, there->type));
    } else if (there->flags != given.flags) {
      error(fmt::format("changed section flags for {}, expected: {:#x}", given.key.name, there->flags));
    }
  }
  Section& section = unit_.section(given.key, given.type, given.flags, given.entry_size);
  if (section.linked_to.empty()) section.linked_to = given.linked_to;
  section.comdat |= given.comdat;
  unit_.switch_to(section, given.subsection);
  return true;
}

/// From the comma after the name on. Only .pushsection takes a subsection there.
bool Parser::section_attributes(SectionAttributes& given, const Section& before, bool has_subsection) {
  if (!lexer().accept(TokenKind::comma)) return true;
  if (has_subsection && !lexer().is(TokenKind::string) && !lexer().is(TokenKind::hash)) {
    const auto number = subsection();
    if (!number) return false;
    given.subsection = *number;
    if (!lexer().accept(TokenKind::comma)) return true;
  }
  given.flags_given = true;
  if (lexer().is(TokenKind::hash)) return named_section_flags(given.flags);

  const Place place = lexer().place();
  const auto text = quoted();
  if (!text) return false;
  given.flags = 0;
  if (!parse_section_flags(*text, given.flags, given.in_last_group, place)) return false;
  if (given.in_last_group && !before.key.group.empty()) {
    given.key.group = before.key.group;
    given.comdat = before.comdat;
    given.flags |= SHF_GROUP;
  }
  if (lexer().accept(TokenKind::comma)) return section_type(given) && section_type_arguments(given);
  return (given.flags & SHF_MERGE) == 0 || error("Mergeable section must specify the type");
}

/// @type, %type, "type", or its number
bool Parser::section_type(SectionAttributes& given) {
  const Place place = lexer().place();
  std::string word;
  if (lexer().is(TokenKind::string)) {
    const auto text = quoted();
    if (!text) return false;
    word = *text;
  } else {
    if (lexer().is(TokenKind::at) || lexer().is(TokenKind::percent)) lexer().advance();
    word = token().text;
    if (word.empty()) return error("expected identifier");
    lexer().advance();
  }
  const auto* found = std::ranges::find(section_types, word, &NamedType::name);
  if (found != std::end(section_types)) {
    given.type = found->type;
  } else if (word.starts_with("0x")) {
    given.type = static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 16));
  } else {
    return error(place, "unknown section type");
  }
  return true;
}

/// Parses the arguments after the type, as required by the flags, and then the unique ID of the section.
bool Parser::section_type_arguments(SectionAttributes& given) {
  if ((given.flags & SHF_MERGE) != 0) {
    if (!expect_comma()) return false;
    const auto size = absolute();
    if (!size) return false;
    if (*size <= 0) return error("entry size must be positive");
    given.entry_size = static_cast<uint64_t>(*size);
  }
  if ((given.flags & SHF_GROUP) != 0 && !given.in_last_group) {
    if (!expect_comma()) return false;
    const auto group = name();
    if (!group) return false;
    given.key.group = *group;
    if (lexer().accept(TokenKind::comma)) {
      const auto linkage = name();
      if (!linkage) return false;
      if (*linkage != "comdat") return error("Linkage must be 'comdat'");
      given.comdat = true;
    }
  }
  if ((given.flags & SHF_LINK_ORDER) != 0) {
    if (!expect_comma()) return false;
    const auto symbol_name = name();
    if (!symbol_name) return false;
    given.linked_to = *symbol_name;
  }
  if (!lexer().accept(TokenKind::comma)) return true;
  if (!lexer().is(TokenKind::identifier) || token().text != "unique") return error("expected 'unique'");
  lexer().advance();
  if (!expect_comma()) return false;
  const auto number = absolute();
  if (!number) return false;
  given.key.unique = static_cast<uint32_t>(*number) + 1;
  return true;
}

bool Parser::directive_section(std::string_view, Place) { return parse_section(false); }

bool Parser::directive_named_section(std::string_view name, Place) {
  const bool has_subsections = name == ".text" || name == ".data" || name == ".bss";
  if (!lexer().at_end() && !has_subsections) return expect_end();
  const auto subsection = lexer().at_end() ? std::optional(uint32_t{0}) : this->subsection();
  if (!subsection || !expect_end()) return false;
  const KnownSection known = known_section(name);
  unit_.switch_to(unit_.section({.name = std::string(name), .group = {}}, known.type, known.flags), *subsection);
  return true;
}

/// .subsection [number]
bool Parser::directive_subsection(std::string_view, Place) {
  const auto number = lexer().at_end() ? std::optional(uint32_t{0}) : subsection();
  if (!number || !expect_end()) return false;
  unit_.switch_to(unit_.current_whole(), *number);
  return true;
}

std::optional<uint32_t> Parser::subsection() {
  const Place place = lexer().place();
  const auto number = absolute();
  if (number && *number >= 0 && *number <= INT32_MAX) return static_cast<uint32_t>(*number);
  if (number) error(place, "subsection number must be within [0,2147483648)");
  return std::nullopt;
}

bool Parser::directive_section_stack(std::string_view directive, Place place) {
  if (directive == ".pushsection") return parse_section(true);
  if (!expect_end()) return false;
  if (directive == ".popsection" && !unit_.pop_section()) {
    return error(place, ".popsection without corresponding .pushsection");
  }
  if (directive == ".previous" && !unit_.previous_section())
    return error(place, ".previous without corresponding .section");
  return true;
}

// --- Symbols --------------------------------------------------------------------------------------------------------

bool Parser::directive_set(std::string_view directive, Place) {
  const Place place = lexer().place();
  const auto symbol_name = name();
  if (!symbol_name || !expect_comma()) return false;
  return assignment(*symbol_name, place, directive != ".equiv") && expect_end();
}

bool Parser::directive_attribute(std::string_view directive, Place) {
  if (lexer().at_end()) return true;
  do {
    const Place place = lexer().place();
    const auto symbol_name = name();
    if (!symbol_name) return false;
    if (directive == ".extern") continue;
    Symbol& symbol = unit_.symbol(*symbol_name);
    if (symbol.temporary) return error(place, "non-local symbol required");
    const auto bind = [&](uint8_t binding, const char* word) {
      if (symbol.binding_set && symbol.binding != binding && !(binding == STB_WEAK || symbol.binding == STB_WEAK)) {
        return error(place, fmt::format("{} changed binding to {}", symbol.name, word));
      }
      if (binding == STB_GLOBAL && symbol.binding_set && symbol.binding == STB_WEAK) {
        return error(place, fmt::format("{} changed binding to {}", symbol.name, word));
      }
      symbol.binding = binding;
      symbol.binding_set = true;
      return true;
    };
    unit_.keep(symbol);
    if (directive == ".globl" || directive == ".global") {
      if (!bind(STB_GLOBAL, "STB_GLOBAL")) return false;
    } else if (directive == ".weak") {
      if (!bind(STB_WEAK, "STB_WEAK")) return false;
    } else if (directive == ".local") {
      if (!bind(STB_LOCAL, "STB_LOCAL")) return false;
    } else if (directive == ".no_dead_strip" || directive == ".memtag") {
      symbol.retained = true;
    } else {
      symbol.visibility = directive == ".hidden"      ? STV_HIDDEN
                          : directive == ".protected" ? STV_PROTECTED
                                                      : STV_INTERNAL;
    }
  } while (lexer().accept(TokenKind::comma));
  return expect_end();
}

bool Parser::directive_type(std::string_view, Place) {
  const auto symbol_name = name();
  if (!symbol_name) return false;
  std::string text = *symbol_name;
  // "name@type" is one word to the lexer.
  std::string word;
  if (const size_t at = text.find('@'); at != std::string::npos && at != 0) {
    word = text.substr(at + 1);
    text.resize(at);
  } else {
    lexer().accept(TokenKind::comma);
    if (lexer().is(TokenKind::at) || lexer().is(TokenKind::percent) || lexer().is(TokenKind::hash)) lexer().advance();
    const auto type_name = name();
    if (!type_name) return error("expected STT_<TYPE_IN_UPPER_CASE>, '#<type>', '@<type>', '%<type>' or \"<type>\"");
    word = *type_name;
    if (word.starts_with("@")) word.erase(0, 1);
  }
  const auto* found = std::ranges::find(symbol_types, word, &NamedType::name);
  if (found == std::end(symbol_types)) return error("unsupported attribute");
  if (!expect_end()) return false;
  Symbol& symbol = unit_.symbol(text);
  symbol.type = static_cast<uint8_t>(found->type);
  if (word == "gnu_unique_object") {
    symbol.binding = STB_GNU_UNIQUE;
    symbol.binding_set = true;
  }
  unit_.keep(symbol);
  return true;
}

bool Parser::directive_size(std::string_view, Place) {
  const auto symbol_name = name();
  if (!symbol_name || !expect_comma()) return false;
  const Expression* size = expression();
  if (size == nullptr || !expect_end()) return false;
  unit_.symbol(*symbol_name).size = size;
  return true;
}

/// .comm name, size[, power of 2 of the alignment]
bool Parser::directive_common(std::string_view directive, Place) {
  const Place place = lexer().place();
  const auto symbol_name = name();
  if (!symbol_name || !expect_comma()) return false;
  const Place size_place = lexer().place();
  const auto size = absolute();
  if (!size) return false;
  std::optional<int64_t> alignment;
  if (lexer().accept(TokenKind::comma)) {
    const Place alignment_place = lexer().place();
    alignment = absolute();
    if (!alignment) return false;
    // In .comm it is the exponent.
    if (*alignment < 0 || *alignment > 31)
      return error(alignment_place, "invalid '.comm' alignment, can't be that large");
    alignment = int64_t{1} << *alignment;
  }
  if (!expect_end()) return false;
  if (*size < 0) return error(size_place, "size must be non-negative");
  Symbol& symbol = unit_.symbol(*symbol_name);
  if (symbol.is_defined()) return error(place, "invalid symbol redefinition");
  symbol.type = STT_OBJECT;
  unit_.keep(symbol);
  if (directive == ".lcomm" || (symbol.binding_set && symbol.binding == STB_LOCAL)) {
    // A local one is room in .bss.
    unit_.push_section();
    unit_.switch_to(unit_.section({.name = ".bss", .group = {}}, SHT_NOBITS, SHF_ALLOC | SHF_WRITE));
    unit_.emit_tail(
        {.kind = Tail::Kind::align, .alignment = static_cast<uint64_t>(alignment.value_or(1)), .place = place});
    unit_.define(symbol, place);
    unit_.emit_tail({.kind = Tail::Kind::fill, .expression = &unit_.constant(*size), .place = place});
    unit_.pop_section();
  } else {
    symbol.common_size = static_cast<uint64_t>(*size);
    symbol.offset = static_cast<uint64_t>(alignment.value_or(1));
    symbol.special_section = SHN_COMMON;
    if (!symbol.binding_set) symbol.binding = STB_GLOBAL;
    symbol.binding_set = true;
  }
  symbol.size = &unit_.constant(*size);
  return true;
}

bool Parser::directive_ident(std::string_view, Place) {
  const auto text = quoted();
  if (!text || !expect_end()) return false;
  unit_.push_section();
  const bool first = unit_.find_section({.name = ".comment", .group = {}}) == nullptr;
  unit_.switch_to(unit_.section({.name = ".comment", .group = {}}, SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 1));
  if (first) unit_.emit_integer(0, 1);
  unit_.emit({reinterpret_cast<const uint8_t*>(text->c_str()), text->size() + 1});
  unit_.pop_section();
  return true;
}

bool Parser::directive_address_significance(std::string_view directive, Place) {
  if (directive == ".addrsig") {
    if (!expect_end()) return false;
    unit_.want_address_significance();
    return true;
  }
  const auto symbol_name = name();
  if (!symbol_name || !expect_end()) return false;
  Symbol& symbol = unit_.symbol(*symbol_name);
  unit_.keep(symbol);
  unit_.address_significant(symbol);
  return true;
}

/// .weakref alias, symbol
bool Parser::directive_weak_reference(std::string_view, Place) {
  const Place place = lexer().place();
  const auto alias = name();
  if (!alias || !expect_comma()) return false;
  const auto symbol_name = name();
  if (!symbol_name || !expect_end()) return false;
  Symbol& symbol = unit_.symbol(*alias);
  if (symbol.is_defined()) return error(place, fmt::format("symbol '{}' is already defined", symbol.name));
  Symbol& target = unit_.symbol(*symbol_name);
  if (&target == &symbol || target.weakly_names != nullptr)
    return error(place, fmt::format("Recursive use of '{}'", symbol.name));
  target.weakly_named |= symbol.named;
  symbol.weakly_names = &target;
  return true;
}

bool Parser::directive_version(std::string_view, Place) {
  const auto text = quoted();
  if (!text || !expect_end()) return false;
  emit_note(*text, 1, {}, false);
  return true;
}

}  // namespace Atoll::assembler

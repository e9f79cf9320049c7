// assembler: from a finished Unit to an object (assembler.h).
#include "assembler/assembler.h"

#include <elf.h>

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "assembler/syntax/parser.h"
#include "object/elf.h"

namespace Atoll::assembler {

namespace {

/// Whether a symbol is in the object's symbol table.
bool is_kept(const Symbol& symbol) {
  if (symbol.is_section || symbol.in_relocation) return symbol.in_relocation;
  if (symbol.temporary) return false;
  return symbol.is_defined() || symbol.binding_set || symbol.retained;
}

object::RelocatableSymbol describe(Unit& unit, Symbol& symbol,
                                   const std::unordered_map<const Section*, uint32_t>& sections) {
  object::RelocatableSymbol result;
  result.name = symbol.name;
  result.type = symbol.type;
  result.visibility = symbol.visibility;
  const uint8_t undefined = symbol.weakly_named && !symbol.named ? STB_WEAK : STB_GLOBAL;
  result.binding = symbol.binding_set || symbol.is_defined() ? symbol.binding : undefined;
  const auto at_label = [&](const Symbol& label, int64_t offset) {
    const uint64_t address = label.section->addresses[label.fragment] + label.offset;
    result.section = sections.at(label.section);
    result.value = address + static_cast<uint64_t>(offset);
  };
  const Expression* size = symbol.size;
  if (symbol.common_size) {
    result.special_section = symbol.special_section;
    result.value = symbol.offset;
  } else if (symbol.is_label()) {
    at_label(symbol, 0);
  } else if (symbol.is_variable()) {
    const auto value = unit.evaluate(*symbol.value);
    if (!value || value->minus != nullptr || (value->plus != nullptr && !value->plus->is_label())) {
      unit.source().error(symbol.value->place, fmt::format("'{}' has no value that a symbol can have", symbol.name));
      return result;
    }
    if (value->plus != nullptr) {
      // A symbol that is set to a place in another's has what it is and how large.
      at_label(*value->plus, value->constant);
      if (result.type == STT_NOTYPE) result.type = value->plus->type;
      if (size == nullptr) size = value->plus->size;
    } else {
      result.special_section = SHN_ABS;
      result.value = static_cast<uint64_t>(value->constant);
    }
  }
  if (size != nullptr) {
    const auto bytes = unit.absolute(*size);
    if (!bytes) {
      unit.source().error(size->place, fmt::format("the size of '{}' must be absolute", symbol.name));
    } else {
      result.size = static_cast<uint64_t>(*bytes);
    }
  }
  return result;
}

void append_uleb128(std::vector<uint8_t>& bytes, uint64_t value) {
  do {
    bytes.push_back(static_cast<uint8_t>((value & 0x7F) | (value > 0x7F ? 0x80 : 0)));
    value >>= 7;
  } while (value != 0);
}

/// ELFABIVERSION_AMDGPU_HSA_V*.
uint8_t abi_version(uint8_t os_abi, uint32_t code_object_version) {
  return os_abi == object::elf::osabi_amdgpu_hsa ? static_cast<uint8_t>(code_object_version - 2) : 0;
}

object::Relocatable make_object(Unit& unit, const Parser& parser, const Options& options) {
  object::Relocatable result;
  result.os_abi = options.os_abi;
  result.abi_version = abi_version(options.os_abi, parser.code_object_version());
  result.flags = target::flags_of_target_id(
      parser.target(), options.os_abi == object::elf::osabi_amdgpu_hsa ? result.abi_version : uint8_t{1});
  std::unordered_map<const Section*, uint32_t> numbers;
  std::vector<const Symbol*> groups;
  const auto group_of = [&](const Section& section) -> uint32_t {
    if (section.key.group.empty()) return 0;
    const Symbol* name = unit.find_symbol(section.key.group);
    const auto found = std::ranges::find(groups, name);
    const auto index = static_cast<uint32_t>(found - groups.begin());
    if (found == groups.end()) {
      groups.push_back(name);
      result.groups.push_back({.comdat = section.comdat});
    }
    return index + 1;
  };
  for (const Section& section : unit.sections()) {
    numbers.emplace(&section, static_cast<uint32_t>(result.sections.size() + 1));
    result.sections.push_back({.name = section.key.name,
                               .type = section.type,
                               .flags = section.flags,
                               .entry_size = section.entry_size,
                               .alignment = section.alignment,
                               .bytes = section.bytes,
                               .size = section.size,
                               .link = 0,
                               .info = 0,
                               .link_to_symbols = false,
                               .group = group_of(section),
                               .relocations = {}});
  }
  result.symbols.emplace_back();
  std::unordered_map<const Symbol*, uint32_t> indices;
  for (const bool locals : {true, false}) {
    for (Symbol* symbol : unit.kept()) {
      if (symbol == nullptr) continue;
      const bool names_group = std::ranges::find(groups, symbol) != groups.end();
      if (!is_kept(*symbol) && !names_group) continue;
      object::RelocatableSymbol described = describe(unit, *symbol, numbers);
      if (names_group && !symbol->is_defined() && !symbol->in_relocation && !symbol->binding_set) {
        described.binding = STB_LOCAL;  // nothing but the group's name
        described.group = static_cast<uint32_t>(std::ranges::find(groups, symbol) - groups.begin() + 1);
      }
      if ((described.binding == STB_LOCAL) != locals) continue;
      indices.emplace(symbol, static_cast<uint32_t>(result.symbols.size()));
      result.symbols.push_back(std::move(described));
    }
  }
  for (size_t i = 0; i < groups.size(); ++i) result.groups[i].symbol = indices.at(groups[i]);
  size_t index = 0;
  for (const Section& section : unit.sections()) {
    object::RelocatableSection& to = result.sections[index++];
    for (const Relocation& relocation : section.relocations) {
      to.relocations.push_back({.offset = relocation.offset,
                                .symbol = relocation.symbol == nullptr ? 0 : indices.at(relocation.symbol),
                                .type = relocation.type,
                                .addend = relocation.addend});
    }
    if (!section.linked_to.empty()) {
      const Symbol* symbol = unit.find_symbol(section.linked_to);
      if (symbol == nullptr || !symbol->is_label()) {
        unit.source().error({}, fmt::format("section '{}' is linked to '{}', which is in no section", section.key.name,
                                            section.linked_to));
      } else {
        to.link = numbers.at(symbol->section);
      }
    }
  }
  if (unit.wants_address_significance()) {
    object::RelocatableSection table{.name = ".llvm_addrsig",
                                     .type = object::elf::sht_llvm_addrsig,
                                     .flags = SHF_EXCLUDE,
                                     .bytes = {},
                                     .link_to_symbols = true,
                                     .relocations = {}};
    for (const Symbol* symbol : unit.address_significant_symbols()) {
      if (const auto found = indices.find(symbol); found != indices.end()) append_uleb128(table.bytes, found->second);
    }
    table.size = table.bytes.size();
    result.sections.push_back(std::move(table));
  }
  return result;
}

}  // namespace

Assembled assemble(std::string name, std::string text, const Options& options) {
  Source source;
  Unit unit(source, *options.target.processor);
  unit.switch_to(unit.section({.name = ".text", .group = {}}, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR));
  unit.current().alignment = 4;
  Parser parser(source, unit, options);
  const Buffer& buffer = source.add({.name = std::move(name), .text = std::move(text), .from = {}});
  parser.run(buffer);
  Assembled result;
  if (!source.failed()) unit.finish();
  if (!source.failed()) {
    object::Relocatable object = make_object(unit, parser, options);
    if (!source.failed()) result.object = std::move(object);
  }
  result.messages = source.render();
  return result;
}

}  // namespace Atoll::assembler

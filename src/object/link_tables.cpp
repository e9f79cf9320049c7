// object: the linker: the tables of symbols, and what the dynamic linker reads (linker.h).
#include <algorithm>
#include <cstring>

#include "object/linker.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::align_up;
using support::append;

/// A symbol of one of the output's tables, with its name at `name` of the table's strings.
Elf64_Sym Linker::symbol_entry(const GlobalSymbol& symbol, uint32_t name) const {
  Elf64_Sym entry{
      .st_name = name, .st_info = 0, .st_other = symbol.visibility, .st_shndx = SHN_UNDEF, .st_value = 0, .st_size = 0};
  uint8_t binding = symbol.weak_only ? STB_WEAK : STB_GLOBAL, type = STT_NOTYPE;
  if (symbol.defined()) {
    const RelocatableSymbol& definition = *symbol.definition;
    binding = definition.binding;
    type = definition.type;
    entry.st_size = symbol.is_common ? symbol.common_size : definition.size;
    entry.st_value = address_of(symbol);
    entry.st_shndx = SHN_ABS;
    if (definition.section != 0) {
      const OutputSection* section = placements_[symbol.input][definition.section - 1].section;
      entry.st_shndx = section == nullptr ? SHN_ABS : section->number;
    } else if (definition.special_section == SHN_COMMON) {
      for (const OutputSection& section : sections_) {
        if (section.name == ".bss") entry.st_shndx = section.number;
      }
    }
  }
  entry.st_info = static_cast<uint8_t>(binding << 4 | type);
  return entry;
}

void Linker::fill_dynamic_tables() {
  append(dynamic_symbols_->bytes, Elf64_Sym{});
  for (const GlobalSymbol* symbol : dynamic_order_) {
    append(dynamic_symbols_->bytes, symbol_entry(*symbol, dynamic_names_.offset(symbol->name)));
  }
  if (dynamic_relocations_ != nullptr) {
    for (const auto& entry : relative_) append(dynamic_relocations_->bytes, entry);
    for (const auto& entry : symbolic_) append(dynamic_relocations_->bytes, entry);
  }
  const auto tag = [&](int64_t name, uint64_t value) {
    append(dynamic_->bytes, Elf64_Dyn{.d_tag = name, .d_un = {.d_val = value}});
  };
  if (dynamic_relocations_ != nullptr) {
    tag(DT_RELA, dynamic_relocations_->address);
    tag(DT_RELASZ, dynamic_relocations_->size);
    tag(DT_RELAENT, sizeof(Elf64_Rela));
    tag(DT_RELACOUNT, relative_.size());
  }
  tag(DT_SYMTAB, dynamic_symbols_->address);
  tag(DT_SYMENT, sizeof(Elf64_Sym));
  tag(DT_STRTAB, dynamic_strings_->address);
  tag(DT_STRSZ, dynamic_strings_->size);
  tag(DT_GNU_HASH, gnu_hash_->address);
  tag(DT_HASH, sysv_hash_->address);
  tag(DT_NULL, 0);
}

/// Local symbols of the inputs, and the linker's own.
std::vector<Linker::NamedSymbol> Linker::local_symbols() const {
  std::vector<NamedSymbol> locals;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const RelocatableSymbol& symbol : inputs_[i].object.symbols) {
      if (symbol.binding != STB_LOCAL || symbol.type == STT_SECTION || symbol.name.empty()) continue;
      uint16_t section = symbol.special_section;
      if (symbol.section != 0) {
        const Placement& at = placements_[i][symbol.section - 1];
        if (at.section == nullptr) continue;
        section = at.section->number;
      }
      locals.emplace_back(symbol.name, Elf64_Sym{.st_name = 0,
                                                 .st_info = static_cast<uint8_t>(STB_LOCAL << 4 | symbol.type),
                                                 .st_other = symbol.visibility,
                                                 .st_shndx = section,
                                                 .st_value = address_of(i, symbol),
                                                 .st_size = symbol.size});
    }
  }
  locals.emplace_back("_DYNAMIC", Elf64_Sym{.st_name = 0,
                                            .st_info = STB_LOCAL << 4 | STT_NOTYPE,
                                            .st_other = STV_HIDDEN,
                                            .st_shndx = dynamic_->number,
                                            .st_value = dynamic_->address,
                                            .st_size = 0});
  return locals;
}

/// The full symbol table: what is local to its input, or to the code object, first.
void Linker::make_symbol_table() {
  std::vector<NamedSymbol> locals = local_symbols(), others;
  for (const GlobalSymbol& symbol : globals_) {
    Elf64_Sym entry = symbol_entry(symbol, 0);
    if (!symbol.exported()) {
      entry.st_info = static_cast<uint8_t>(STB_LOCAL << 4 | (entry.st_info & 0xF));
      locals.emplace_back(symbol.name, entry);
    } else {
      others.emplace_back(symbol.name, entry);
    }
  }
  StringTable names;
  for (const auto& [name, entry] : locals) names.add(name);
  for (const auto& [name, entry] : others) names.add(name);
  const std::string& strings = names.finish();
  std::vector<uint8_t> table;
  append(table, Elf64_Sym{});
  for (auto* list : {&locals, &others}) {
    for (auto& [name, entry] : *list) {
      entry.st_name = names.offset(name);
      append(table, entry);
    }
  }
  OutputSection& symbols = make_section(".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym));
  symbols.bytes = std::move(table);
  symbols.info = static_cast<uint32_t>(locals.size() + 1);
  OutputSection& string_section = make_section(".strtab", SHT_STRTAB, 0, 1);
  string_section.bytes.assign(strings.begin(), strings.end());
  put_last({&symbols, &string_section});
  symbols.link = string_section.number;
}

/// Puts sections that are not loaded after all others.
void Linker::put_last(std::initializer_list<OutputSection*> sections) {
  uint64_t offset = 0;
  for (const OutputSection* section : order_) {
    offset = std::max(offset, section->file_offset + (section->type == SHT_NOBITS ? 0 : section->size));
  }
  auto number = static_cast<uint16_t>(order_.size() + 1);
  for (OutputSection* section : sections) {
    section->size = section->bytes.size();
    section->file_offset = align_up(offset, section->alignment);
    offset = section->file_offset + section->size;
    section->number = number++;
    order_.push_back(section);
  }
}

}  // namespace Atoll::object

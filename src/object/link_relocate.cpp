// object: the linker: relocated bytes and filled tables (linker.h).
#include <algorithm>
#include <cstring>
#include <optional>

#include "object/linker.h"
#include "object/relocation_type.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::align_up;
using support::append;

namespace {

/// What debug information says of code that has been discarded: 0, but something else where that means another thing.
std::optional<uint64_t> address_of_discarded(std::string_view section) {
  if (!section.starts_with(".debug_")) return std::nullopt;
  if (section == ".debug_loc" || section == ".debug_ranges") return 1;
  return section == ".debug_names" ? UINT64_MAX : 0;
}

}  // namespace

void Linker::relocate() {
  const auto to_loader = [&](uint64_t at, const GlobalSymbol* symbol, uint64_t value, int64_t addend) {
    if (symbol != nullptr && symbol->preemptible() && symbol->exported()) {
      symbolic_.push_back({.r_offset = at,
                           .r_info = ELF64_R_INFO(uint64_t{symbol->dynamic_index}, R_AMDGPU_ABS64),
                           .r_addend = addend});
    } else {
      relative_.push_back(
          {.r_offset = at, .r_info = R_AMDGPU_RELATIVE64, .r_addend = static_cast<int64_t>(value) + addend});
    }
  };
  const auto slot = [&](uint64_t offset, const GlobalSymbol* symbol, uint64_t value) {
    if (symbol != nullptr && is_constant(*symbol)) {
      std::memcpy(got_->bytes.data() + offset, &value, sizeof value);
    } else {
      to_loader(got_->address + offset, symbol, value, 0);
    }
  };
  for (const auto& [symbol, offset] : global_slots_) slot(offset, symbol, address_of(*symbol));
  for (const auto& [symbol, offset] : local_slots_) {
    slot(offset, nullptr, address_of(symbol.first, inputs_[symbol.first].object.symbols[symbol.second]));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Relocatable& object = inputs_[i].object;
    for (size_t s = 0; s < object.sections.size(); ++s) {
      const Placement& at = placements_[i][s];
      if (at.section == nullptr) continue;
      for (const RelocatableRelocation& relocation : object.sections[s].relocations) {
        const uint64_t offset = at.offset + relocation.offset, p = at.section->address + offset;
        const GlobalSymbol* symbol = relocation.symbol == 0 ? nullptr : global(i, relocation.symbol);
        const uint64_t address =
            symbol != nullptr ? address_of(*symbol) : address_of(i, object.symbols[relocation.symbol]);
        const auto addend = static_cast<uint64_t>(relocation.addend);
        const bool discarded = symbol == nullptr && is_discarded(i, object.symbols[relocation.symbol]);
        if (const auto nowhere = address_of_discarded(at.section->name); discarded && nowhere) {
          std::memcpy(at.section->bytes.data() + offset, &*nowhere, relocated_bytes(relocation.type));
          continue;
        }
        uint64_t value = address + addend;
        switch (relocation.type) {
          case R_AMDGPU_NONE:
            continue;
          case R_AMDGPU_ABS64:
            if (at.section->allocated() && !(symbol != nullptr && is_constant(*symbol))) {
              to_loader(p, symbol, address, relocation.addend);
              continue;
            }
            break;
          case R_AMDGPU_GOTPCREL:
          case R_AMDGPU_GOTPCREL32_LO:
          case R_AMDGPU_GOTPCREL32_HI:
            value = got_->address +
                    (symbol != nullptr ? global_slots_.at(symbol) : local_slots_.at({i, relocation.symbol})) + addend -
                    p;
            break;
          case R_AMDGPU_REL32:
          case R_AMDGPU_REL64:
          case R_AMDGPU_REL32_LO:
          case R_AMDGPU_REL32_HI:
            value -= p;
            break;
          case R_AMDGPU_REL16: {
            const int64_t words = static_cast<int64_t>(value - p - 4) / 4;
            if (words != static_cast<int16_t>(words)) {
              problem(fmt::format("{}: the branch is too far", place(i, object.sections[s], relocation.offset)));
            }
            value = static_cast<uint64_t>(words);
            break;
          }
          default:
            break;
        }
        const bool high = relocation.type == R_AMDGPU_ABS32_HI || relocation.type == R_AMDGPU_REL32_HI ||
                          relocation.type == R_AMDGPU_GOTPCREL32_HI;
        if (high) value >>= 32;
        std::memcpy(at.section->bytes.data() + offset, &value, relocated_bytes(relocation.type));
      }
    }
  }

  // What the linker made itself.
  const auto describe = [&](const GlobalSymbol& symbol, uint32_t name) {
    Elf64_Sym entry{.st_name = name,
                    .st_info = 0,
                    .st_other = symbol.visibility,
                    .st_shndx = SHN_UNDEF,
                    .st_value = 0,
                    .st_size = 0};
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
  };
  append(dynamic_symbols_->bytes, Elf64_Sym{});
  for (const GlobalSymbol* symbol : dynamic_order_) {
    append(dynamic_symbols_->bytes, describe(*symbol, dynamic_names_.offset(symbol->name)));
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

  // The full symbol table: what is local to its input, or to the code object, first.
  StringTable names;
  std::vector<std::pair<std::string, Elf64_Sym>> locals, others;
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
  for (const GlobalSymbol& symbol : globals_) {
    Elf64_Sym entry = describe(symbol, 0);
    if (!symbol.exported()) {
      entry.st_info = static_cast<uint8_t>(STB_LOCAL << 4 | (entry.st_info & 0xF));
      locals.emplace_back(symbol.name, entry);
    } else {
      others.emplace_back(symbol.name, entry);
    }
  }
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
  uint64_t offset = 0;
  for (const OutputSection* section : order_) {
    offset = std::max(offset, section->file_offset + (section->type == SHT_NOBITS ? 0 : section->size));
  }
  auto number = static_cast<uint16_t>(order_.size() + 1);
  for (OutputSection* section : {&symbols, &string_section}) {
    section->size = section->bytes.size();
    section->file_offset = align_up(offset, section->alignment);
    offset = section->file_offset + section->size;
    section->number = number++;
    order_.push_back(section);
  }
  symbols.link = string_section.number;
}

}  // namespace Atoll::object

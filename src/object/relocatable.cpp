// object: relocatable objects (relocatable.h).
#include "object/relocatable.h"

#include <cstring>
#include <optional>

#include "object/elf.h"
#include "object/string_table.h"
#include "support/bytes.h"

namespace Atoll::object {

namespace {

using support::ErrorKind;
using support::fail;

void align(std::vector<uint8_t>& file, uint64_t alignment) {
  file.resize(support::align_up(file.size(), alignment == 0 ? 1 : alignment));
}

}  // namespace

std::vector<uint8_t> write_relocatable(const Relocatable& object) {
  StringTable names;
  names.add(".strtab");
  names.add(".symtab");
  if (!object.groups.empty()) names.add(".group");
  for (const RelocatableSection& section : object.sections) {
    names.add(section.name);
    if (!section.relocations.empty()) names.add(".rela" + section.name);
  }
  for (const RelocatableSymbol& symbol : object.symbols) {
    if (symbol.type != STT_SECTION) names.add(symbol.name);
  }
  const std::string& strings = names.finish();

  // Numbers: 0, the names, then each section with its relocations after it and its group before the group's first, and
  // the symbols last.
  std::vector<uint16_t> number(object.sections.size() + 1), group_number(object.groups.size() + 1);
  std::vector<std::vector<uint32_t>> members(object.groups.size() + 1);
  uint16_t next = 2;
  for (size_t i = 0; i < object.sections.size(); ++i) {
    const uint32_t group = object.sections[i].group;
    if (group != 0 && group_number[group] == 0) group_number[group] = next++;
    members[group].push_back(next);
    number[i + 1] = next++;
    if (object.sections[i].relocations.empty()) continue;
    members[group].push_back(next++);
  }
  const uint16_t symbols_number = next++;

  std::vector<Elf64_Shdr> headers(next);
  std::vector<uint8_t> file(sizeof(Elf64_Ehdr));
  for (size_t i = 0; i < object.sections.size(); ++i) {
    const RelocatableSection& section = object.sections[i];
    Elf64_Shdr& header = headers[number[i + 1]];
    header = {.sh_name = names.offset(section.name),
              .sh_type = section.type,
              .sh_flags = section.flags,
              .sh_addr = 0,
              .sh_offset = 0,
              .sh_size = section.size,
              .sh_link = number[section.link],
              .sh_info = section.info,
              .sh_addralign = section.alignment,
              .sh_entsize = section.entry_size};
    if (section.link_to_symbols) {
      header.sh_link = symbols_number;
      continue;  // after the relocations
    }
    align(file, section.alignment);
    header.sh_offset = file.size();
    file.insert(file.end(), section.bytes.begin(), section.bytes.end());
  }

  for (size_t i = 0; i < object.groups.size(); ++i) {
    if (group_number[i + 1] == 0) continue;
    align(file, 4);
    headers[group_number[i + 1]] = {.sh_name = names.offset(".group"),
                                    .sh_type = SHT_GROUP,
                                    .sh_flags = 0,
                                    .sh_addr = 0,
                                    .sh_offset = file.size(),
                                    .sh_size = 4 * (members[i + 1].size() + 1),
                                    .sh_link = symbols_number,
                                    .sh_info = object.groups[i].symbol,
                                    .sh_addralign = 4,
                                    .sh_entsize = 4};
    support::append(file, uint32_t{object.groups[i].comdat ? GRP_COMDAT : 0u});
    for (const uint32_t member : members[i + 1]) support::append(file, member);
  }

  align(file, 8);
  uint32_t locals = 0;
  const uint64_t symbols_offset = file.size();
  for (const RelocatableSymbol& symbol : object.symbols) {
    const uint16_t section = symbol.special_section != 0 ? symbol.special_section
                             : symbol.group != 0         ? group_number[symbol.group]
                                                         : number[symbol.section];
    support::append(file, Elf64_Sym{.st_name = symbol.type == STT_SECTION ? 0 : names.offset(symbol.name),
                                    .st_info = static_cast<uint8_t>(symbol.binding << 4 | symbol.type),
                                    .st_other = symbol.visibility,
                                    .st_shndx = section,
                                    .st_value = symbol.value,
                                    .st_size = symbol.size});
    locals += symbol.binding == STB_LOCAL;
  }
  headers[symbols_number] = {.sh_name = names.offset(".symtab"),
                             .sh_type = SHT_SYMTAB,
                             .sh_flags = 0,
                             .sh_addr = 0,
                             .sh_offset = symbols_offset,
                             .sh_size = file.size() - symbols_offset,
                             .sh_link = 1,
                             .sh_info = locals,
                             .sh_addralign = 8,
                             .sh_entsize = sizeof(Elf64_Sym)};

  for (size_t i = 0; i < object.sections.size(); ++i) {
    const RelocatableSection& section = object.sections[i];
    if (section.relocations.empty()) continue;
    align(file, 8);
    const uint64_t offset = file.size();
    for (const RelocatableRelocation& relocation : section.relocations) {
      support::append(file, Elf64_Rela{.r_offset = relocation.offset,
                                       .r_info = ELF64_R_INFO(uint64_t{relocation.symbol}, relocation.type),
                                       .r_addend = relocation.addend});
    }
    headers[number[i + 1] + 1u] = {.sh_name = names.offset(".rela" + section.name),
                                   .sh_type = SHT_RELA,
                                   .sh_flags = static_cast<uint64_t>(section.group != 0 ? SHF_GROUP : SHF_INFO_LINK),
                                   .sh_addr = 0,
                                   .sh_offset = offset,
                                   .sh_size = file.size() - offset,
                                   .sh_link = symbols_number,
                                   .sh_info = number[i + 1],
                                   .sh_addralign = 8,
                                   .sh_entsize = sizeof(Elf64_Rela)};
  }
  for (size_t i = 0; i < object.sections.size(); ++i) {
    if (!object.sections[i].link_to_symbols) continue;
    headers[number[i + 1]].sh_offset = file.size();
    file.insert(file.end(), object.sections[i].bytes.begin(), object.sections[i].bytes.end());
  }
  headers[1] = {.sh_name = names.offset(".strtab"),
                .sh_type = SHT_STRTAB,
                .sh_flags = 0,
                .sh_addr = 0,
                .sh_offset = file.size(),
                .sh_size = strings.size(),
                .sh_link = 0,
                .sh_info = 0,
                .sh_addralign = 1,
                .sh_entsize = 0};
  file.insert(file.end(), strings.begin(), strings.end());

  align(file, 8);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = object.os_abi;
  header.e_ident[EI_ABIVERSION] = object.abi_version;
  header.e_type = ET_REL;
  header.e_machine = elf::em_amdgpu;
  header.e_version = EV_CURRENT;
  header.e_shoff = file.size();
  header.e_flags = object.flags;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = next;
  header.e_shstrndx = 1;
  std::memcpy(file.data(), &header, sizeof header);
  for (const Elf64_Shdr& section : headers) support::append(file, section);
  return file;
}

support::Result<Relocatable> read_relocatable(std::span<const uint8_t> file) {
  const auto header = support::read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return fail(ErrorKind::invalid_file, "not an ELF file");
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != elf::em_amdgpu) {
    return fail(ErrorKind::incompatible, "not an AMDGPU object of 64 bits");
  }
  if (header->e_type != ET_REL) return fail(ErrorKind::invalid_file, "not a relocatable object");
  if (header->e_shentsize != sizeof(Elf64_Shdr)) {
    return fail(ErrorKind::invalid_file, "section headers of {} bytes instead of {}", header->e_shentsize,
                sizeof(Elf64_Shdr));
  }
  std::vector<Elf64_Shdr> headers;
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = support::read<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return fail(ErrorKind::invalid_file, "section header {} is past the end of the file", i);
    headers.push_back(*section);
  }
  const auto content = [&](const Elf64_Shdr& section) {
    return section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL
               ? std::optional(std::span<const uint8_t>())
               : support::slice(file, section.sh_offset, section.sh_size);
  };
  if (header->e_shstrndx >= headers.size()) return fail(ErrorKind::invalid_file, "the sections have no names");
  const auto section_names = content(headers[header->e_shstrndx]);
  if (!section_names) return fail(ErrorKind::invalid_file, "the sections' names are past the end of the file");

  Relocatable object;
  object.os_abi = header->e_ident[EI_OSABI];
  object.abi_version = header->e_ident[EI_ABIVERSION];
  object.flags = header->e_flags;
  std::vector<uint32_t> index(headers.size()), group_index(headers.size());  // in the result, counted from 1
  const Elf64_Shdr* symbol_header = nullptr;
  for (size_t i = 1; i < headers.size(); ++i) {
    const Elf64_Shdr& from = headers[i];
    if (from.sh_type == SHT_SYMTAB) symbol_header = &from;
    if (from.sh_type == SHT_SYMTAB || from.sh_type == SHT_STRTAB || from.sh_type == SHT_RELA) continue;
    if (from.sh_type == SHT_REL) return fail(ErrorKind::unsupported, "relocations without addends");
    if (from.sh_type == SHT_GROUP) {
      object.groups.push_back({.symbol = from.sh_info});
      group_index[i] = static_cast<uint32_t>(object.groups.size());
      continue;
    }
    const auto name = support::read_text(*section_names, from.sh_name);
    const auto bytes = content(from);
    if (!name || !bytes) return fail(ErrorKind::invalid_file, "section {} is not all in the file", i);
    if ((from.sh_addralign & (from.sh_addralign - 1)) != 0) {
      return fail(ErrorKind::invalid_file, "section '{}': its alignment {} is no power of two", *name,
                  from.sh_addralign);
    }
    // Writers put sections at multiples of their alignments.
    if (from.sh_addralign > file.size()) {
      return fail(ErrorKind::invalid_file, "section '{}': its alignment {} is more than the file has bytes", *name,
                  from.sh_addralign);
    }
    object.sections.push_back({.name = std::string(*name),
                               .type = from.sh_type,
                               .flags = from.sh_flags,
                               .entry_size = from.sh_entsize,
                               .alignment = from.sh_addralign,
                               .bytes = {bytes->begin(), bytes->end()},
                               .size = from.sh_size,
                               .link = from.sh_link,
                               .info = from.sh_info,
                               .link_to_symbols = false,
                               .relocations = {}});
    index[i] = static_cast<uint32_t>(object.sections.size());
  }
  for (RelocatableSection& section : object.sections) {
    if (section.link < headers.size() && &headers[section.link] == symbol_header && symbol_header != nullptr) {
      section.link_to_symbols = true;
      section.link = 0;
    } else {
      section.link = section.link < index.size() ? index[section.link] : 0;
    }
  }

  for (size_t i = 1; i < headers.size(); ++i) {
    if (group_index[i] == 0) continue;
    const auto bytes = content(headers[i]);
    const auto kind = bytes ? support::read<uint32_t>(*bytes, 0) : std::nullopt;
    if (!kind) return fail(ErrorKind::invalid_file, "section group {} is not all in the file", i);
    object.groups[group_index[i] - 1].comdat = (*kind & GRP_COMDAT) != 0;
    for (uint64_t at = 4; at + 4 <= bytes->size(); at += 4) {
      const uint32_t member = *support::read<uint32_t>(*bytes, at);
      if (member >= index.size()) {
        return fail(ErrorKind::invalid_file, "section group {} has section {}, which there is not", i, member);
      }
      if (index[member] != 0) object.sections[index[member] - 1].group = group_index[i];  // else relocations
    }
  }

  if (symbol_header == nullptr) {
    if (!object.groups.empty()) return fail(ErrorKind::invalid_file, "section groups without names");
    object.symbols.emplace_back();
    return object;
  }
  const auto symbols = content(*symbol_header);
  const auto names = symbol_header->sh_link < headers.size() ? content(headers[symbol_header->sh_link]) : std::nullopt;
  if (!symbols || !names) return fail(ErrorKind::invalid_file, "the symbols are not all in the file");
  for (uint64_t i = 0; i < symbols->size() / sizeof(Elf64_Sym); ++i) {
    const auto from = *support::read<Elf64_Sym>(*symbols, i * sizeof(Elf64_Sym));
    const auto name = support::read_text(*names, from.st_name);
    if (!name) return fail(ErrorKind::invalid_file, "the name of symbol {} is not in the file", i);
    RelocatableSymbol symbol{.name = std::string(*name),
                             .value = from.st_value,
                             .size = from.st_size,
                             .type = elf::symbol_type(from),
                             .binding = elf::symbol_binding(from),
                             .visibility = elf::symbol_visibility(from)};
    if (from.st_shndx >= SHN_LORESERVE) {
      symbol.special_section = from.st_shndx;
    } else if (from.st_shndx >= headers.size()) {
      return fail(ErrorKind::invalid_file, "symbol '{}' is in section {}, which there is not", *name, from.st_shndx);
    } else {
      symbol.section = index[from.st_shndx];
      symbol.group = group_index[from.st_shndx];
    }
    object.symbols.push_back(std::move(symbol));
  }
  for (const RelocatableGroup& group : object.groups) {
    if (group.symbol >= object.symbols.size()) {
      return fail(ErrorKind::invalid_file, "a section group is named by symbol {}, which there is not", group.symbol);
    }
  }
  for (const Elf64_Shdr& from : headers) {
    if (from.sh_type != SHT_RELA) continue;
    const auto bytes = content(from);
    if (!bytes || from.sh_info >= index.size() || index[from.sh_info] == 0) {
      return fail(ErrorKind::invalid_file, "relocations that are not all in the file, or for no section");
    }
    RelocatableSection& section = object.sections[index[from.sh_info] - 1];
    for (uint64_t i = 0; i < bytes->size() / sizeof(Elf64_Rela); ++i) {
      const auto relocation = *support::read<Elf64_Rela>(*bytes, i * sizeof(Elf64_Rela));
      const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info));
      if (symbol >= object.symbols.size()) {
        return fail(ErrorKind::invalid_file, "section '{}': a relocation by symbol {}, which there is not",
                    section.name, symbol);
      }
      section.relocations.push_back({.offset = relocation.r_offset,
                                     .symbol = symbol,
                                     .type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info)),
                                     .addend = relocation.r_addend});
    }
  }
  return object;
}

}  // namespace Atoll::object

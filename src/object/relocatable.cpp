// object: relocatable objects read from files (relocatable.h).
#include "object/relocatable.h"

#include "object/elf.h"
#include "object/elf_file.h"
#include "object/relocation_type.h"
#include "support/bytes.h"

namespace Atoll::object {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

/// Section for section, then what refers to sections: groups, symbols, relocations.
class RelocatableReader {
 public:
  explicit RelocatableReader(const ElfFile& file)
      : file_(file), index_(file.sections.size()), group_index_(file.sections.size()) {}

  Result<Relocatable> read() {
    object_.os_abi = file_.header.e_ident[EI_OSABI];
    object_.abi_version = file_.header.e_ident[EI_ABIVERSION];
    object_.flags = file_.header.e_flags;
    for (auto step : {&RelocatableReader::read_sections, &RelocatableReader::read_groups,
                      &RelocatableReader::read_symbols, &RelocatableReader::read_relocations}) {
      if (auto ok = (this->*step)(); !ok) return std::unexpected(ok.error());
    }
    return std::move(object_);
  }

 private:
  Result<void> read_section(size_t number) {
    const ElfSection& from = file_.sections[number];
    const Elf64_Shdr& header = from.header;
    if ((header.sh_addralign & (header.sh_addralign - 1)) != 0) {
      return fail(ErrorKind::invalid_file, "section '{}': alignment {} is not a power of two", from.name,
                  header.sh_addralign);
    }
    // Writers put sections at multiples of their alignments.
    if (header.sh_addralign > file_.bytes.size()) {
      return fail(ErrorKind::invalid_file, "section '{}': its alignment {} is more than the file has bytes", from.name,
                  header.sh_addralign);
    }
    object_.sections.push_back({.name = std::string(from.name),
                                .type = header.sh_type,
                                .flags = header.sh_flags,
                                .entry_size = header.sh_entsize,
                                .alignment = header.sh_addralign,
                                .bytes = {from.bytes.begin(), from.bytes.end()},
                                .size = header.sh_size,
                                .link = header.sh_link,
                                .info = header.sh_info,
                                .link_to_symbols = false,
                                .relocations = {}});
    index_[number] = static_cast<uint32_t>(object_.sections.size());
    return {};
  }

  Result<void> read_sections() {
    for (size_t i = 1; i < file_.sections.size(); ++i) {
      const Elf64_Shdr& header = file_.sections[i].header;
      switch (header.sh_type) {
        case SHT_SYMTAB:
          symbol_table_ = static_cast<uint32_t>(i);
          break;
        case SHT_STRTAB:
        case SHT_RELA:
        case SHT_REL:
          break;
        case SHT_GROUP:
          object_.groups.push_back({.symbol = header.sh_info});
          group_index_[i] = static_cast<uint32_t>(object_.groups.size());
          break;
        default:
          if (auto ok = read_section(i); !ok) return ok;
      }
    }
    for (RelocatableSection& section : object_.sections) {
      section.link_to_symbols = symbol_table_ != 0 && section.link == symbol_table_;
      section.link = section.link < index_.size() ? index_[section.link] : 0;
    }
    return {};
  }

  Result<void> read_groups() {
    for (size_t i = 1; i < file_.sections.size(); ++i) {
      if (group_index_[i] == 0) continue;
      const auto bytes = file_.sections[i].bytes;
      const auto kind = support::read<uint32_t>(bytes, 0);
      if (!kind) return fail(ErrorKind::invalid_file, "section group {} is not all in the file", i);
      object_.groups[group_index_[i] - 1].comdat = (*kind & GRP_COMDAT) != 0;
      for (uint64_t at = 4; at + 4 <= bytes.size(); at += 4) {
        const uint32_t member = *support::read<uint32_t>(bytes, at);
        if (member >= index_.size()) {
          return fail(ErrorKind::invalid_file, "section group {} refers to section {}, which does not exist", i,
                      member);
        }
        if (index_[member] != 0) object_.sections[index_[member] - 1].group = group_index_[i];  // else relocations
      }
    }
    return {};
  }

  Result<void> read_symbols() {
    if (symbol_table_ == 0) {
      if (!object_.groups.empty()) return fail(ErrorKind::invalid_file, "section groups without names");
      object_.symbols.emplace_back();
      return {};
    }
    const auto symbols = object::read_symbols(file_, file_.sections[symbol_table_]);
    if (!symbols) return std::unexpected(symbols.error());
    for (const ElfSymbol& from : *symbols) {
      RelocatableSymbol symbol{.name = std::string(from.name),
                               .value = from.raw.st_value,
                               .size = from.raw.st_size,
                               .type = elf::symbol_type(from.raw),
                               .binding = elf::symbol_binding(from.raw),
                               .visibility = elf::symbol_visibility(from.raw)};
      const uint16_t section = from.raw.st_shndx;
      if (section >= SHN_LORESERVE) {
        symbol.special_section = section;
      } else if (section >= index_.size()) {
        return fail(ErrorKind::invalid_file, "symbol '{}' is in section {}, which does not exist", from.name, section);
      } else {
        symbol.section = index_[section];
        symbol.group = group_index_[section];
      }
      object_.symbols.push_back(std::move(symbol));
    }
    for (const RelocatableGroup& group : object_.groups) {
      if (group.symbol >= object_.symbols.size()) {
        return fail(ErrorKind::invalid_file, "a section group is named by symbol {}, which does not exist",
                    group.symbol);
      }
    }
    return {};
  }

  /// Returns the addend that the bytes to relocate hold, as PAL and Mesa3D objects have it (Elf64_Rel).
  static int64_t addend_in(const RelocatableSection& section, const Elf64_Rela& relocation) {
    switch (relocated_bytes(static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info)))) {
      case 2:
        return support::read<int16_t>(section.bytes, relocation.r_offset).value_or(0);
      case 4:
        return support::read<int32_t>(section.bytes, relocation.r_offset).value_or(0);
      case 8:
        return support::read<int64_t>(section.bytes, relocation.r_offset).value_or(0);
      default:
        return 0;
    }
  }

  Result<void> read_relocations() {
    if (symbol_table_ == 0) return {};
    for (const ElfSection& from : file_.sections) {
      if (from.header.sh_type != SHT_RELA && from.header.sh_type != SHT_REL) continue;
      const uint32_t of = from.header.sh_info;
      if (of >= index_.size() || index_[of] == 0) {
        return fail(ErrorKind::invalid_file, "relocations for section {}, which does not exist", of);
      }
      RelocatableSection& section = object_.sections[index_[of] - 1];
      for (const Elf64_Rela& relocation : object::read_relocations(from)) {
        const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info));
        if (symbol >= object_.symbols.size()) {
          return fail(ErrorKind::invalid_file, "section '{}': a relocation by symbol {}, which does not exist",
                      section.name, symbol);
        }
        section.relocations.push_back(
            {.offset = relocation.r_offset,
             .symbol = symbol,
             .type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info)),
             .addend = from.header.sh_type == SHT_REL ? addend_in(section, relocation) : relocation.r_addend});
      }
    }
    return {};
  }

  const ElfFile& file_;
  Relocatable object_;
  std::vector<uint32_t> index_, group_index_;  ///< by number in the file: sections and groups of the result, from 1
  uint32_t symbol_table_ = 0;                  ///< number in the file; 0: none
};

}  // namespace

Result<Relocatable> read_relocatable(std::span<const uint8_t> bytes) {
  const auto file = read_elf_file(bytes);
  if (!file) return std::unexpected(file.error());
  if (file->header.e_machine != elf::em_amdgpu) return fail(ErrorKind::incompatible, "not an object for AMD GPUs");
  if (file->header.e_type != ET_REL) return fail(ErrorKind::invalid_file, "not a relocatable object");
  return RelocatableReader(*file).read();
}

}  // namespace Atoll::object

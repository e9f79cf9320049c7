// object: relocatable objects as files (relocatable.h).
#include "object/relocatable.h"

#include <cstring>

#include "object/elf.h"
#include "object/relocation_type.h"
#include "object/string_table.h"
#include "support/bytes.h"

namespace Atoll::object {

namespace {

using support::append;

/// Puts the file together: each function appends a part to it and writes that part's section headers.
class RelocatableWriter {
 public:
  explicit RelocatableWriter(const Relocatable& object) : object_(object) {
    gather_names();
    number_sections();
  }

  std::vector<uint8_t> write() {
    file_.resize(sizeof(Elf64_Ehdr));
    write_sections();
    write_groups();
    write_symbols();
    write_relocations();
    write_sections_of_symbols();
    write_names();
    write_headers();
    return std::move(file_);
  }

 private:
  void gather_names() {
    names_.add(".strtab");
    names_.add(".symtab");
    if (!object_.groups.empty()) names_.add(".group");
    for (const RelocatableSection& section : object_.sections) {
      names_.add(section.name);
      if (!section.relocations.empty()) names_.add(relocation_prefix() + section.name);
    }
    for (const RelocatableSymbol& symbol : object_.symbols) {
      if (symbol.type != STT_SECTION) names_.add(symbol.name);
    }
    strings_ = &names_.finish();
  }

  /// 0, the names, then each section with its relocations after it and its group before the group's first, and the
  /// symbols last.
  void number_sections() {
    number_.resize(object_.sections.size() + 1);
    group_number_.resize(object_.groups.size() + 1);
    members_.resize(object_.groups.size() + 1);
    uint16_t next = names_number + 1;
    for (size_t i = 0; i < object_.sections.size(); ++i) {
      const uint32_t group = object_.sections[i].group;
      if (group != 0 && group_number_[group] == 0) group_number_[group] = next++;
      members_[group].push_back(next);
      number_[i + 1] = next++;
      if (object_.sections[i].relocations.empty()) continue;
      members_[group].push_back(next++);
    }
    symbols_number_ = next++;
    headers_.resize(next);
  }

  /// Only HSA's objects keep addends in their relocations (Elf64_Rela).
  bool has_addends() const { return object_.os_abi == elf::osabi_amdgpu_hsa; }
  std::string relocation_prefix() const { return has_addends() ? ".rela" : ".rel"; }

  /// Writes the addend of an Elf64_Rel into the bytes that it relocates. `begin` is where the section's bytes are.
  void write_addend(const RelocatableSection& section, uint64_t begin, const RelocatableRelocation& relocation) {
    const unsigned width = relocated_bytes(relocation.type);
    if (relocation.offset > section.bytes.size() || section.bytes.size() - relocation.offset < width) return;
    for (unsigned i = 0; i < width; ++i)
      file_[begin + relocation.offset + i] = static_cast<uint8_t>(static_cast<uint64_t>(relocation.addend) >> (8 * i));
  }

  void align(uint64_t alignment) { file_.resize(support::align_up(file_.size(), alignment == 0 ? 1 : alignment)); }

  void write_sections() {
    for (size_t i = 0; i < object_.sections.size(); ++i) {
      const RelocatableSection& section = object_.sections[i];
      Elf64_Shdr& header = headers_[number_[i + 1]];
      header = {.sh_name = names_.offset(section.name),
                .sh_type = section.type,
                .sh_flags = section.flags,
                .sh_addr = 0,
                .sh_offset = 0,
                .sh_size = section.size,
                .sh_link = number_[section.link],
                .sh_info = section.info,
                .sh_addralign = section.alignment,
                .sh_entsize = section.entry_size};
      if (section.link_to_symbols) {
        header.sh_link = symbols_number_;
        continue;  // write_sections_of_symbols()
      }
      align(section.alignment);
      header.sh_offset = file_.size();
      file_.insert(file_.end(), section.bytes.begin(), section.bytes.end());
    }
  }

  void write_groups() {
    for (size_t i = 0; i < object_.groups.size(); ++i) {
      if (group_number_[i + 1] == 0) continue;
      align(4);
      headers_[group_number_[i + 1]] = {.sh_name = names_.offset(".group"),
                                        .sh_type = SHT_GROUP,
                                        .sh_flags = 0,
                                        .sh_addr = 0,
                                        .sh_offset = file_.size(),
                                        .sh_size = 4 * (members_[i + 1].size() + 1),
                                        .sh_link = symbols_number_,
                                        .sh_info = object_.groups[i].symbol,
                                        .sh_addralign = 4,
                                        .sh_entsize = 4};
      append(file_, uint32_t{object_.groups[i].comdat ? GRP_COMDAT : 0u});
      for (const uint32_t member : members_[i + 1]) append(file_, member);
    }
  }

  void write_symbols() {
    align(8);
    uint32_t locals = 0;
    const uint64_t offset = file_.size();
    for (const RelocatableSymbol& symbol : object_.symbols) {
      const uint16_t section = symbol.special_section != 0 ? symbol.special_section
                               : symbol.group != 0         ? group_number_[symbol.group]
                                                           : number_[symbol.section];
      append(file_, Elf64_Sym{.st_name = symbol.type == STT_SECTION ? 0 : names_.offset(symbol.name),
                              .st_info = static_cast<uint8_t>(symbol.binding << 4 | symbol.type),
                              .st_other = symbol.visibility,
                              .st_shndx = section,
                              .st_value = symbol.value,
                              .st_size = symbol.size});
      locals += symbol.binding == STB_LOCAL;
    }
    headers_[symbols_number_] = {.sh_name = names_.offset(".symtab"),
                                 .sh_type = SHT_SYMTAB,
                                 .sh_flags = 0,
                                 .sh_addr = 0,
                                 .sh_offset = offset,
                                 .sh_size = file_.size() - offset,
                                 .sh_link = names_number,
                                 .sh_info = locals,
                                 .sh_addralign = 8,
                                 .sh_entsize = sizeof(Elf64_Sym)};
  }

  void write_relocations() {
    for (size_t i = 0; i < object_.sections.size(); ++i) {
      const RelocatableSection& section = object_.sections[i];
      if (section.relocations.empty()) continue;
      align(8);
      const uint64_t offset = file_.size();
      for (const RelocatableRelocation& relocation : section.relocations) {
        if (!has_addends()) {
          write_addend(section, headers_[number_[i + 1]].sh_offset, relocation);
          append(file_, Elf64_Rel{.r_offset = relocation.offset,
                                  .r_info = ELF64_R_INFO(uint64_t{relocation.symbol}, relocation.type)});
          continue;
        }
        append(file_, Elf64_Rela{.r_offset = relocation.offset,
                                 .r_info = ELF64_R_INFO(uint64_t{relocation.symbol}, relocation.type),
                                 .r_addend = relocation.addend});
      }
      headers_[number_[i + 1] + 1u] = {
          .sh_name = names_.offset(relocation_prefix() + section.name),
          .sh_type = has_addends() ? uint32_t{SHT_RELA} : uint32_t{SHT_REL},
          .sh_flags = static_cast<uint64_t>(section.group != 0 ? SHF_GROUP : SHF_INFO_LINK),
          .sh_addr = 0,
          .sh_offset = offset,
          .sh_size = file_.size() - offset,
          .sh_link = symbols_number_,
          .sh_info = number_[i + 1],
          .sh_addralign = 8,
          .sh_entsize = has_addends() ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel)};
    }
  }

  /// The sections that link to the symbol table, which LLVM puts after the relocations.
  void write_sections_of_symbols() {
    for (size_t i = 0; i < object_.sections.size(); ++i) {
      if (!object_.sections[i].link_to_symbols) continue;
      headers_[number_[i + 1]].sh_offset = file_.size();
      file_.insert(file_.end(), object_.sections[i].bytes.begin(), object_.sections[i].bytes.end());
    }
  }

  void write_names() {
    headers_[names_number] = {.sh_name = names_.offset(".strtab"),
                              .sh_type = SHT_STRTAB,
                              .sh_flags = 0,
                              .sh_addr = 0,
                              .sh_offset = file_.size(),
                              .sh_size = strings_->size(),
                              .sh_link = 0,
                              .sh_info = 0,
                              .sh_addralign = 1,
                              .sh_entsize = 0};
    file_.insert(file_.end(), strings_->begin(), strings_->end());
  }

  void write_headers() {
    align(8);
    Elf64_Ehdr header = elf::header_of(ET_REL, object_.os_abi, object_.abi_version, object_.flags);
    header.e_shoff = file_.size();
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = names_number;
    std::memcpy(file_.data(), &header, sizeof header);
    for (const Elf64_Shdr& section : headers_) append(file_, section);
  }

  static constexpr uint16_t names_number = 1;

  const Relocatable& object_;
  StringTable names_;
  const std::string* strings_ = nullptr;
  std::vector<uint16_t> number_, group_number_;  ///< in the file, of sections and groups that are counted from 1
  std::vector<std::vector<uint32_t>> members_;   ///< of groups, by their sections' numbers in the file
  uint16_t symbols_number_ = 0;
  std::vector<Elf64_Shdr> headers_;
  std::vector<uint8_t> file_;
};

}  // namespace

std::vector<uint8_t> write_relocatable(const Relocatable& object) { return RelocatableWriter(object).write(); }

}  // namespace Atoll::object

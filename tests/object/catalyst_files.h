// Catalyst's containers, built byte by byte for tests. The layout is that of public drivers' binaries.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/bytes.h"

namespace Atoll::test {

using Bytes = std::vector<uint8_t>;

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

inline Bytes words(std::initializer_list<uint32_t> values) {
  Bytes bytes;
  for (const uint32_t value : values) support::append(bytes, value);
  return bytes;
}

inline Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct Elf32Types {
  using Ehdr = Elf32_Ehdr;
  using Shdr = Elf32_Shdr;
  using Sym = Elf32_Sym;
  static constexpr uint8_t elf_class = ELFCLASS32;
};
struct Elf64Types {
  using Ehdr = Elf64_Ehdr;
  using Shdr = Elf64_Shdr;
  using Sym = Elf64_Sym;
  static constexpr uint8_t elf_class = ELFCLASS64;
};

struct TestSection {
  std::string name;
  uint32_t type = SHT_PROGBITS;
  Bytes bytes;
};

struct TestSymbol {
  std::string name, section;
  uint64_t value = 0, size = 0;
  uint8_t type = STT_OBJECT;
};

/// An ELF file with these sections and symbols.
template <typename Types>
Bytes elf_file(uint16_t machine, std::vector<TestSection> sections, const std::vector<TestSymbol>& symbols,
               uint32_t flags = 0, uint8_t os_abi = 0) {
  std::string names(1, '\0'), strings(1, '\0');
  Bytes table(sizeof(typename Types::Sym));
  for (const TestSymbol& symbol : symbols) {
    typename Types::Sym raw{};
    raw.st_name = static_cast<uint32_t>(strings.size());
    raw.st_value = static_cast<decltype(raw.st_value)>(symbol.value);
    raw.st_size = static_cast<decltype(raw.st_size)>(symbol.size);
    raw.st_info = static_cast<uint8_t>(STB_GLOBAL << 4 | symbol.type);
    for (size_t i = 0; i < sections.size(); ++i)
      if (sections[i].name == symbol.section) raw.st_shndx = static_cast<uint16_t>(i + 1);
    support::append(table, raw);
    strings += symbol.name + '\0';
  }
  sections.push_back({".symtab", SHT_SYMTAB, table});
  sections.push_back({".strtab", SHT_STRTAB, bytes_of(strings)});
  sections.push_back({".shstrtab", SHT_STRTAB, {}});
  for (const TestSection& section : sections) names += section.name + '\0';
  sections.back().bytes = bytes_of(names);

  typename Types::Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Types::elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = os_abi;
  header.e_machine = machine;
  header.e_flags = flags;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(typename Types::Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size() + 1);
  header.e_shstrndx = static_cast<uint16_t>(sections.size());
  Bytes file(sizeof header);
  std::vector<typename Types::Shdr> headers(1);
  size_t name = 1;
  for (const TestSection& section : sections) {
    typename Types::Shdr raw{};
    raw.sh_name = static_cast<uint32_t>(name);
    name += section.name.size() + 1;
    raw.sh_type = section.type;
    raw.sh_offset = static_cast<decltype(raw.sh_offset)>(file.size());
    raw.sh_size = static_cast<decltype(raw.sh_size)>(section.bytes.size());
    if (section.type == SHT_SYMTAB) raw.sh_link = static_cast<uint32_t>(sections.size() - 1);
    headers.push_back(raw);
    file.insert(file.end(), section.bytes.begin(), section.bytes.end());
  }
  header.e_shoff = static_cast<decltype(header.e_shoff)>(file.size());
  for (const auto& raw : headers) support::append(file, raw);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

inline Bytes cal_note(uint32_t type, const Bytes& description) {
  return joined({words({8, static_cast<uint32_t>(description.size()), type}),
                 bytes_of(std::string_view("ATI CAL\0", 8)), description});
}

struct TestEncoding {
  uint32_t machine = 0x1A;
  Bytes notes, text, data;
};

/// The inner file of a kernel: an encoding dictionary, then each encoding's notes, text and data.
inline Bytes cal_image(const std::vector<TestEncoding>& encodings) {
  const std::string_view names("\0.shstrtab\0.text\0.data\0", 23);
  std::vector<Elf32_Phdr> segments(1);
  std::vector<Elf32_Shdr> sections(2);
  const size_t dictionary_at = sizeof(Elf32_Ehdr) + (1 + 2 * encodings.size()) * sizeof(Elf32_Phdr);
  const size_t names_at = dictionary_at + 20 * encodings.size();
  const size_t sections_at = names_at + names.size();
  size_t at = sections_at + (2 + 2 * encodings.size()) * sizeof(Elf32_Shdr);
  Bytes dictionary, content;
  segments[0] = {.p_type = 0x70000002,
                 .p_offset = static_cast<uint32_t>(dictionary_at),
                 .p_vaddr = 0,
                 .p_paddr = 0,
                 .p_filesz = static_cast<uint32_t>(20 * encodings.size()),
                 .p_memsz = 0,
                 .p_flags = 0,
                 .p_align = 0};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = static_cast<uint32_t>(names_at);
  sections[1].sh_size = static_cast<uint32_t>(names.size());
  for (const TestEncoding& each : encodings) {
    const Bytes all = joined({each.notes, each.text, each.data});
    const auto start = static_cast<uint32_t>(at);
    const auto notes = static_cast<uint32_t>(each.notes.size()), text = static_cast<uint32_t>(each.text.size()),
               data = static_cast<uint32_t>(each.data.size());
    for (const uint32_t word : {each.machine, 4u, start, static_cast<uint32_t>(all.size()), 0u})
      support::append(dictionary, word);
    Elf32_Phdr note{}, load{};
    note.p_type = PT_NOTE;
    note.p_offset = start;
    note.p_filesz = notes;
    load.p_type = PT_LOAD;
    load.p_offset = start + notes;
    load.p_filesz = load.p_memsz = text + data;
    segments.push_back(note);
    segments.push_back(load);
    Elf32_Shdr text_header{}, data_header{};
    text_header.sh_name = 11;
    text_header.sh_type = data_header.sh_type = SHT_PROGBITS;
    text_header.sh_offset = start + notes;
    text_header.sh_size = text;
    data_header.sh_name = 17;
    data_header.sh_offset = start + notes + text;
    data_header.sh_size = data;
    sections.push_back(text_header);
    sections.push_back(data_header);
    content.insert(content.end(), all.begin(), all.end());
    at += all.size();
  }
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = 100;
  header.e_type = ET_EXEC;
  header.e_machine = 0x7D;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = static_cast<uint16_t>(segments.size());
  header.e_shoff = static_cast<uint32_t>(sections_at);
  header.e_shentsize = sizeof(Elf32_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = 1;
  Bytes file;
  support::append(file, header);
  for (const Elf32_Phdr& each : segments) support::append(file, each);
  file.insert(file.end(), dictionary.begin(), dictionary.end());
  file.insert(file.end(), names.begin(), names.end());
  for (const Elf32_Shdr& each : sections) support::append(file, each);
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

/// A container of OpenCL 1.x with one kernel, "k".
template <typename Types>
Bytes cal_container(uint16_t machine, std::string_view metadata, const Bytes& image) {
  const Bytes header(32, 7), global = {1, 2, 3, 4};
  return elf_file<Types>(machine,
                         {{".comment", SHT_PROGBITS, bytes_of("-DX=1driver 923.1")},
                          {".rodata", SHT_PROGBITS, joined({bytes_of(metadata), header, global})},
                          {".text", SHT_PROGBITS, image}},
                         {{"__OpenCL_compile_options", ".comment", 0, 5},
                          {"__OpenCL_k_metadata", ".rodata", 0, metadata.size()},
                          {"__OpenCL_k_kernel", ".text", 0, image.size(), STT_FUNC},
                          {"__OpenCL_k_header", ".rodata", metadata.size(), 32},
                          {"__OpenCL_2_global", ".rodata", metadata.size() + 32, 4}});
}

}  // namespace Atoll::test

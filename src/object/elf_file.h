// object: the raw contents of an ELF file, for tools that print or rewrite it, loadable or not: headers, sections
// by name, symbol tables, relocations. code_object.h and relocatable.h interpret them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "object/elf.h"
#include "support/error.h"

namespace Atoll::object {

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header;
  std::span<const uint8_t> bytes;  ///< empty where the file holds nothing of it (SHT_NOBITS)
};

/// All that the headers say. It refers to the file's bytes.
struct ElfFile {
  std::span<const uint8_t> bytes;
  Elf64_Ehdr header;
  std::vector<Elf64_Phdr> segments;
  std::vector<ElfSection> sections;  ///< index 0 is the null section

  const ElfSection* find_section(std::string_view name) const;
  const ElfSection* find_section(uint32_t type) const;  ///< the first of that SHT_* type
};

struct ElfSymbol {
  std::string_view name;
  Elf64_Sym raw;
};

/// Reads any 64-bit little-endian ELF file. Sections and segments that are not all in the file are errors.
support::Result<ElfFile> read_elf_file(std::span<const uint8_t> file);

/// Reads a little-endian ELF file of either class. The headers of a 32-bit file are widened to their 64-bit form,
/// except that `header.e_ident` keeps ELFCLASS32. Catalyst's containers use both classes; the code objects of HSA do
/// not.
support::Result<ElfFile> read_elf_file_of_either_class(std::span<const uint8_t> file);

/// The symbols of a section of type SHT_SYMTAB or SHT_DYNSYM; index 0 is the null symbol.
support::Result<std::vector<ElfSymbol>> read_symbols(const ElfFile& file, const ElfSection& table);

/// The relocations of a section of type SHT_RELA.
std::vector<Elf64_Rela> read_relocations(const ElfSection& table);

struct ElfNote {
  std::string_view owner;
  uint32_t type;
  std::span<const uint8_t> description;
};

/// The notes in a section or segment of that alignment, up to the first that is not all there.
std::vector<ElfNote> read_notes(std::span<const uint8_t> bytes, uint64_t alignment);

/// All notes: of the segments that have some, or of the sections where there is no such segment (relocatables).
std::vector<ElfNote> read_notes(const ElfFile& file);

}  // namespace Atoll::object

// object: ELF files as they stand (elf_file.h).
#include "object/elf_file.h"

#include <algorithm>

#include "support/bytes.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::read;
using support::Result;
using support::slice;

const ElfSection* ElfFile::find_section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::find_section(uint32_t type) const {
  const auto found =
      std::ranges::find_if(sections, [&](const ElfSection& each) { return each.header.sh_type == type; });
  return found == sections.end() ? nullptr : &*found;
}

Result<ElfFile> read_elf_file(std::span<const uint8_t> bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!support::starts_with(bytes, ELFMAG)) return fail(ErrorKind::invalid_file, "not an ELF file");
  if (!header) return fail(ErrorKind::invalid_file, "the ELF header is not all there");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorKind::incompatible, "not a 64-bit little-endian ELF file");
  ElfFile file{.bytes = bytes, .header = *header, .segments = {}, .sections = {}};

  uint64_t note_bytes = 0;
  if (header->e_phnum != 0 && header->e_phentsize != sizeof(Elf64_Phdr))
    return fail(ErrorKind::invalid_file, "program headers of {} bytes instead of {}", header->e_phentsize,
                sizeof(Elf64_Phdr));
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = read<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || header->e_phoff > bytes.size())
      return fail(ErrorKind::invalid_file, "program header {} is past the end of the file", i);
    if (segment->p_type != PT_NULL && !slice(bytes, segment->p_offset, segment->p_filesz))
      return fail(ErrorKind::invalid_file,
                  "program header {} is for {} bytes from byte {} on, the file has {} bytes in all", i,
                  segment->p_filesz, segment->p_offset, bytes.size());
    if (segment->p_type == PT_NOTE) note_bytes += segment->p_filesz;
    file.segments.push_back(*segment);
  }
  if (note_bytes > bytes.size()) return fail(ErrorKind::invalid_file, "its segments of notes overlap");

  uint64_t section_bytes = 0;
  if (header->e_shnum != 0 && header->e_shentsize != sizeof(Elf64_Shdr))
    return fail(ErrorKind::invalid_file, "section headers of {} bytes instead of {}", header->e_shentsize,
                sizeof(Elf64_Shdr));
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || header->e_shoff > bytes.size())
      return fail(ErrorKind::invalid_file, "section header {} is past the end of the file", i);
    const bool empty = section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS;
    const auto content = empty ? slice(bytes, 0, 0) : slice(bytes, section->sh_offset, section->sh_size);
    if (!content)
      return fail(ErrorKind::invalid_file, "section {} is for {} bytes from byte {} on, the file has {} bytes in all",
                  i, section->sh_size, section->sh_offset, bytes.size());
    // Copies of a thousand sections that are the same bytes would take a thousand times the file's memory.
    section_bytes += content->size();
    if (section_bytes > bytes.size()) return fail(ErrorKind::invalid_file, "section {} overlaps others", i);
    file.sections.push_back({.name = {}, .header = *section, .bytes = *content});
  }
  if (file.sections.empty() || header->e_shstrndx == SHN_UNDEF) return file;
  if (header->e_shstrndx >= file.sections.size()) return fail(ErrorKind::invalid_file, "the sections have no names");
  const auto names = file.sections[header->e_shstrndx].bytes;
  for (size_t i = 0; i < file.sections.size(); ++i) {
    const auto name = support::read_text(names, file.sections[i].header.sh_name);
    if (!name) return fail(ErrorKind::invalid_file, "the name of section {} is not in the file", i);
    file.sections[i].name = *name;
  }
  return file;
}

Result<std::vector<ElfSymbol>> read_symbols(const ElfFile& file, const ElfSection& table) {
  std::vector<ElfSymbol> symbols;
  const uint32_t names = table.header.sh_link;
  if (names >= file.sections.size()) return fail(ErrorKind::invalid_file, "the symbols have no names");
  for (uint64_t offset = 0; const auto raw = read<Elf64_Sym>(table.bytes, offset); offset += sizeof *raw) {
    const auto name = support::read_text(file.sections[names].bytes, raw->st_name);
    if (!name)
      return fail(ErrorKind::invalid_file, "the name of symbol {} is not in the file", offset / sizeof(Elf64_Sym));
    symbols.push_back({.name = *name, .raw = *raw});
  }
  return symbols;
}

std::vector<Elf64_Rela> read_relocations(const ElfSection& table) {
  std::vector<Elf64_Rela> relocations;
  if (table.header.sh_type == SHT_REL) {
    for (uint64_t offset = 0; const auto raw = read<Elf64_Rel>(table.bytes, offset); offset += sizeof *raw)
      relocations.push_back({.r_offset = raw->r_offset, .r_info = raw->r_info, .r_addend = 0});
    return relocations;
  }
  for (uint64_t offset = 0; const auto raw = read<Elf64_Rela>(table.bytes, offset); offset += sizeof *raw)
    relocations.push_back(*raw);
  return relocations;
}

std::vector<ElfNote> read_notes(std::span<const uint8_t> bytes, uint64_t alignment) {
  std::vector<ElfNote> notes;
  const uint64_t padding = alignment == 8 ? 8 : 4;
  for (uint64_t offset = 0;;) {
    const auto note = read<Elf64_Nhdr>(bytes, offset);
    if (!note) return notes;
    const uint64_t text_offset = support::align_up(offset + sizeof *note + note->n_namesz, padding);
    const auto owner = slice(bytes, offset + sizeof *note, note->n_namesz);
    const auto description = slice(bytes, text_offset, note->n_descsz);
    if (!owner || !description) return notes;
    std::string_view text(reinterpret_cast<const char*>(owner->data()), owner->size());
    notes.push_back({.owner = text.substr(0, text.find('\0')), .type = note->n_type, .description = *description});
    offset = support::align_up(text_offset + note->n_descsz, padding);
  }
}

std::vector<ElfNote> read_notes(const ElfFile& file) {
  std::vector<ElfNote> notes;
  const auto add = [&](const std::vector<ElfNote>& more) { notes.insert(notes.end(), more.begin(), more.end()); };
  for (const Elf64_Phdr& segment : file.segments) {
    const auto bytes = slice(file.bytes, segment.p_offset, segment.p_filesz);
    if (segment.p_type == PT_NOTE && bytes) add(read_notes(*bytes, segment.p_align));
  }
  if (!file.segments.empty()) return notes;
  for (const ElfSection& section : file.sections) {
    if (section.header.sh_type == SHT_NOTE) add(read_notes(section.bytes, section.header.sh_addralign));
  }
  return notes;
}

}  // namespace Atoll::object

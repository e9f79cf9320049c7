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

namespace {

Elf64_Ehdr widen(const Elf32_Ehdr& from) {
  Elf64_Ehdr to{};
  std::memcpy(to.e_ident, from.e_ident, sizeof to.e_ident);
  to.e_type = from.e_type;
  to.e_machine = from.e_machine;
  to.e_version = from.e_version;
  to.e_entry = from.e_entry;
  to.e_phoff = from.e_phoff;
  to.e_shoff = from.e_shoff;
  to.e_flags = from.e_flags;
  to.e_ehsize = from.e_ehsize;
  to.e_phentsize = from.e_phentsize;
  to.e_phnum = from.e_phnum;
  to.e_shentsize = from.e_shentsize;
  to.e_shnum = from.e_shnum;
  to.e_shstrndx = from.e_shstrndx;
  return to;
}

Elf64_Phdr widen(const Elf32_Phdr& from) {
  return {.p_type = from.p_type,
          .p_flags = from.p_flags,
          .p_offset = from.p_offset,
          .p_vaddr = from.p_vaddr,
          .p_paddr = from.p_paddr,
          .p_filesz = from.p_filesz,
          .p_memsz = from.p_memsz,
          .p_align = from.p_align};
}

Elf64_Shdr widen(const Elf32_Shdr& from) {
  return {.sh_name = from.sh_name,
          .sh_type = from.sh_type,
          .sh_flags = from.sh_flags,
          .sh_addr = from.sh_addr,
          .sh_offset = from.sh_offset,
          .sh_size = from.sh_size,
          .sh_link = from.sh_link,
          .sh_info = from.sh_info,
          .sh_addralign = from.sh_addralign,
          .sh_entsize = from.sh_entsize};
}

Elf64_Sym widen(const Elf32_Sym& from) {
  return {.st_name = from.st_name,
          .st_info = from.st_info,
          .st_other = from.st_other,
          .st_shndx = from.st_shndx,
          .st_value = from.st_value,
          .st_size = from.st_size};
}

bool is_32_bit(const Elf64_Ehdr& header) { return header.e_ident[EI_CLASS] == ELFCLASS32; }

/// Reads a structure of the file's class as the 64-bit one.
template <typename Narrow, typename Wide>
std::optional<Wide> read_either(std::span<const uint8_t> bytes, uint64_t offset, bool narrow) {
  if (!narrow) return read<Wide>(bytes, offset);
  const auto from = read<Narrow>(bytes, offset);
  return from ? std::optional(widen(*from)) : std::nullopt;
}

}  // namespace

Result<ElfFile> read_elf_file(std::span<const uint8_t> bytes) {
  if (!support::starts_with(bytes, ELFMAG)) return fail(ErrorKind::invalid_file, "not an ELF file");
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!header) return fail(ErrorKind::invalid_file, "the ELF header is not all there");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorKind::incompatible, "not a 64-bit little-endian ELF file");
  return read_elf_file_of_either_class(bytes);
}

Result<ElfFile> read_elf_file_of_either_class(std::span<const uint8_t> bytes) {
  if (!support::starts_with(bytes, ELFMAG)) return fail(ErrorKind::invalid_file, "not an ELF file");
  const auto ident = slice(bytes, 0, EI_NIDENT);
  const bool narrow = ident && (*ident)[EI_CLASS] == ELFCLASS32;
  const auto header = read_either<Elf32_Ehdr, Elf64_Ehdr>(bytes, 0, narrow);
  if (!header) return fail(ErrorKind::invalid_file, "the ELF header is not all there");
  if ((!narrow && header->e_ident[EI_CLASS] != ELFCLASS64) || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorKind::incompatible, "not a little-endian ELF file of 32 or 64 bits");
  const size_t segment_size = narrow ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
  const size_t section_size = narrow ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
  ElfFile file{.bytes = bytes, .header = *header, .segments = {}, .sections = {}};

  uint64_t note_bytes = 0;
  if (header->e_phnum != 0 && header->e_phentsize != segment_size)
    return fail(ErrorKind::invalid_file, "program headers of {} bytes instead of {}", header->e_phentsize,
                segment_size);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_either<Elf32_Phdr, Elf64_Phdr>(bytes, header->e_phoff + i * segment_size, narrow);
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
  if (header->e_shnum != 0 && header->e_shentsize != section_size)
    return fail(ErrorKind::invalid_file, "section headers of {} bytes instead of {}", header->e_shentsize,
                section_size);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = read_either<Elf32_Shdr, Elf64_Shdr>(bytes, header->e_shoff + i * section_size, narrow);
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
  const bool narrow = is_32_bit(file.header);
  const size_t size = narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
  for (uint64_t offset = 0; const auto raw = read_either<Elf32_Sym, Elf64_Sym>(table.bytes, offset, narrow);
       offset += size) {
    const auto name = support::read_text(file.sections[names].bytes, raw->st_name);
    if (!name) return fail(ErrorKind::invalid_file, "the name of symbol {} is not in the file", offset / size);
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
  if (!notes.empty()) return notes;  // PAL's are not in a segment (ld.lld)
  for (const ElfSection& section : file.sections) {
    if (section.header.sh_type == SHT_NOTE) add(read_notes(section.bytes, section.header.sh_addralign));
  }
  return notes;
}

}  // namespace Atoll::object

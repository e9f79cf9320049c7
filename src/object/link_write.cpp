// object: the linker: segments, headers and the file (linker.h).
#include <algorithm>
#include <cstring>

#include "object/linker.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::align_up;
using support::append;

std::vector<Elf64_Phdr> Linker::make_segments() const {
  std::vector<Elf64_Phdr> segments;
  const auto add = [&](uint32_t type, uint32_t flags, uint64_t offset, uint64_t address, uint64_t file_size,
                       uint64_t memory_size, uint64_t alignment) {
    segments.push_back({.p_type = type,
                        .p_flags = flags,
                        .p_offset = offset,
                        .p_vaddr = address,
                        .p_paddr = address,
                        .p_filesz = file_size,
                        .p_memsz = memory_size,
                        .p_align = alignment});
  };
  // Loaded segments: runs of sections that may do the same. The headers belong to the first.
  add(PT_LOAD, PF_R, 0, 0, sizeof(Elf64_Ehdr) + max_program_headers * sizeof(Elf64_Phdr),
      sizeof(Elf64_Ehdr) + max_program_headers * sizeof(Elf64_Phdr), page);
  const OutputSection* before = nullptr;
  uint64_t relro_begin = 0, relro_end = 0, relro_offset = 0, notes_begin = 0, notes_end = 0, notes_offset = 0;
  for (const OutputSection* section : order_) {
    if (!section->allocated()) continue;
    const bool fits_before = before == nullptr ? segment_flags(*section) == PF_R
                                               : segment_flags(*before) == segment_flags(*section) &&
                                                     is_relro(*before) == is_relro(*section);
    if (!fits_before) {
      add(PT_LOAD, segment_flags(*section), section->file_offset, section->address, 0, 0, page);
    }
    Elf64_Phdr& segment = segments.back();
    segment.p_memsz = section->address + section->size - segment.p_vaddr;
    if (section->type != SHT_NOBITS) segment.p_filesz = section->file_offset + section->size - segment.p_offset;
    segment.p_align = std::max(segment.p_align, section->alignment);
    if (is_relro(*section)) {
      if (relro_end == 0) {
        relro_begin = section->address;
        relro_offset = section->file_offset;
      }
      relro_end = section->address + section->size;
    }
    if (section->type == SHT_NOTE) {
      if (notes_end == 0) {
        notes_begin = section->address;
        notes_offset = section->file_offset;
      }
      notes_end = section->address + section->size;
    }
    before = section;
  }
  add(PT_DYNAMIC, PF_R | PF_W, dynamic_->file_offset, dynamic_->address, dynamic_->size, dynamic_->size, 8);
  add(PT_GNU_RELRO, PF_R, relro_offset, relro_begin, relro_end - relro_begin, relro_end - relro_begin, 1);
  add(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0);
  if (notes_end != 0) {
    add(PT_NOTE, PF_R, notes_offset, notes_begin, notes_end - notes_begin, notes_end - notes_begin, 4);
  }
  return segments;
}

std::vector<uint8_t> Linker::write() {
  const std::vector<Elf64_Phdr> segments = make_segments();
  StringTable names;
  names.add(".shstrtab");
  for (const OutputSection* section : order_) names.add(section->name);
  const std::string& strings = names.finish();
  uint64_t end = 0;
  for (const OutputSection* section : order_) {
    end = std::max(end, section->file_offset + (section->type == SHT_NOBITS ? 0 : section->size));
  }
  std::vector<uint8_t> file(end);
  for (const OutputSection* section : order_) {
    if (section->type == SHT_NOBITS || section->bytes.empty()) continue;
    std::memcpy(file.data() + section->file_offset, section->bytes.data(), section->bytes.size());
  }
  const uint64_t names_offset = file.size();
  file.insert(file.end(), strings.begin(), strings.end());
  file.resize(align_up(file.size(), 8));

  const Relocatable& first = inputs_[0].object;
  Elf64_Ehdr header = elf::header_of(ET_DYN, first.os_abi, first.abi_version, flags_);
  header.e_phoff = sizeof header;
  header.e_shoff = file.size();
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<uint16_t>(segments.size());
  header.e_shnum = static_cast<uint16_t>(order_.size() + 2);
  header.e_shstrndx = static_cast<uint16_t>(order_.size() + 1);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, segments.data(), segments.size() * sizeof(Elf64_Phdr));
  append(file, Elf64_Shdr{});
  for (const OutputSection* section : order_) {
    append(file, Elf64_Shdr{.sh_name = names.offset(section->name),
                            .sh_type = section->type,
                            .sh_flags = section->flags,
                            .sh_addr = section->address,
                            .sh_offset = section->file_offset,
                            .sh_size = section->size,
                            .sh_link = section->link,
                            .sh_info = section->info,
                            .sh_addralign = section->alignment,
                            .sh_entsize = section->entry_size});
  }
  append(file, Elf64_Shdr{.sh_name = names.offset(".shstrtab"),
                          .sh_type = SHT_STRTAB,
                          .sh_flags = 0,
                          .sh_addr = 0,
                          .sh_offset = names_offset,
                          .sh_size = strings.size(),
                          .sh_link = 0,
                          .sh_info = 0,
                          .sh_addralign = 1,
                          .sh_entsize = 0});
  return file;
}

}  // namespace Atoll::object

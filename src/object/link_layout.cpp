// object: the linker: tables for the loader, and where everything lies (linker.h).
#include <algorithm>
#include <cstring>

#include "object/dynamic_tables.h"
#include "object/linker.h"
#include "support/bytes.h"

namespace Atoll::object {

using support::align_up;

namespace {

/// Addresses that a code object may have: no GPU has more memory.
constexpr uint64_t largest_image = uint64_t{1} << 40;

/// The place of a section in the file: notes, what the loader reads, constants, code, what is written to by the loader
/// alone, data, what has no bytes; then what is not loaded.
int rank(const OutputSection& section) {
  if (!section.allocated()) return 100;
  const bool writable = (section.flags & SHF_WRITE) != 0, code = (section.flags & SHF_EXECINSTR) != 0;
  if (!writable && !code) {
    switch (section.type) {
      case SHT_NOTE:
        return 0;
      case SHT_DYNSYM:
        return 1;
      case SHT_GNU_HASH:
        return 2;
      case SHT_HASH:
        return 3;
      case SHT_STRTAB:
        return 4;
      case SHT_RELA:
        return 5;
      default:
        return 6;
    }
  }
  if (code) return writable ? 11 : 10;
  if (section.type == SHT_DYNAMIC) return 20;
  if (section.name == ".got" || section.name == ".data.rel.ro") return 21;
  return section.type == SHT_NOBITS ? 31 : 30;
}

}  // namespace

uint32_t segment_flags(const OutputSection& section) {
  return PF_R | ((section.flags & SHF_WRITE) != 0 ? PF_W : 0u) | ((section.flags & SHF_EXECINSTR) != 0 ? PF_X : 0u);
}

bool is_relro(const OutputSection& section) { return rank(section) == 20 || rank(section) == 21; }

void Linker::make_tables() {
  std::vector<DynamicSymbolName> names;
  std::vector<GlobalSymbol*> symbols;
  for (GlobalSymbol& symbol : globals_) {
    if (!symbol.exported()) continue;
    names.push_back({symbol.name, symbol.defined()});
    symbols.push_back(&symbol);
    dynamic_names_.add(symbol.name);
  }
  const DynamicTables tables = make_dynamic_tables(names);
  for (const uint32_t index : tables.order) {
    symbols[index]->dynamic_index = static_cast<uint32_t>(dynamic_order_.size() + 1);
    dynamic_order_.push_back(symbols[index]);
  }
  const auto words = [](OutputSection& section, const std::vector<uint32_t>& content) {
    section.size = content.size() * 4;
    section.bytes.resize(section.size);
    std::memcpy(section.bytes.data(), content.data(), section.size);
  };
  dynamic_symbols_ = &make_section(".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, sizeof(Elf64_Sym));
  dynamic_symbols_->size = (dynamic_order_.size() + 1) * sizeof(Elf64_Sym);
  gnu_hash_ = &make_section(".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, 8);
  words(*gnu_hash_, tables.gnu);
  sysv_hash_ = &make_section(".hash", SHT_HASH, SHF_ALLOC, 4, 4);
  words(*sysv_hash_, tables.sysv);
  dynamic_strings_ = &make_section(".dynstr", SHT_STRTAB, SHF_ALLOC, 1);
  const std::string& strings = dynamic_names_.finish();
  dynamic_strings_->bytes.assign(strings.begin(), strings.end());
  dynamic_strings_->size = strings.size();
  if (dynamic_relocation_count_ != 0) {
    dynamic_relocations_ = &make_section(".rela.dyn", SHT_RELA, SHF_ALLOC, 8, sizeof(Elf64_Rela));
    dynamic_relocations_->size = dynamic_relocation_count_ * sizeof(Elf64_Rela);
  }
  dynamic_ = &make_section(".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, sizeof(Elf64_Dyn));
  dynamic_->size = (7 + (dynamic_relocations_ != nullptr ? 4u : 0u)) * sizeof(Elf64_Dyn);
}

void Linker::lay_out() {
  std::vector<std::pair<int, size_t>> places;
  for (size_t i = 0; i < sections_.size(); ++i) places.emplace_back(rank(sections_[i]), i);
  std::ranges::sort(places);
  for (const auto& [place, index] : places) order_.push_back(&sections_[index]);
  uint64_t address = sizeof(Elf64_Ehdr) + max_program_headers * sizeof(Elf64_Phdr), offset = address;
  const OutputSection* before = nullptr;
  uint16_t number = 1;
  for (OutputSection* section : order_) {
    section->number = number++;
    const uint64_t alignment = std::max<uint64_t>(section->alignment, 1);
    if (!section->allocated()) {
      offset = align_up(offset, alignment);
      section->file_offset = offset;
      offset += section->size;
      continue;
    }
    const bool new_segment = before != nullptr && (segment_flags(*before) != segment_flags(*section) ||
                                                   is_relro(*before) != is_relro(*section));
    if (new_segment) address += page;
    const uint64_t aligned = align_up(address, alignment);
    if (section->type != SHT_NOBITS) offset += aligned - address;
    address = aligned;
    // The file's pages are the memory's: an offset and its address agree within a page.
    if (section->type != SHT_NOBITS && offset % page != address % page) offset += (address - offset) % page;
    section->address = address;
    section->file_offset = offset;
    address += section->size;
    if (section->type != SHT_NOBITS) offset += section->size;
    before = section;
  }
  // Alignments and rooms that became bytes may make a file that is much larger than its inputs.
  uint64_t input_bytes = 0;
  for (const LinkInput& input : inputs_)
    for (const RelocatableSection& section : input.object.sections) input_bytes += section.bytes.size();
  if (offset > input_bytes + largest_content || address > largest_image)
    problem(fmt::format("alignments make the code object larger than its inputs by more than {} MiB",
                        largest_content >> 20));
  for (GlobalSymbol& symbol : globals_) {
    if (!symbol.is_common || symbol.definition->special_section != SHN_COMMON) continue;
    for (const OutputSection& section : sections_) {
      if (section.name == ".bss") symbol.address += section.address;
    }
  }
  dynamic_symbols_->link = dynamic_strings_->number;
  dynamic_symbols_->info = 1;
  gnu_hash_->link = sysv_hash_->link = dynamic_symbols_->number;
  if (dynamic_relocations_ != nullptr) dynamic_relocations_->link = dynamic_symbols_->number;
  dynamic_->link = dynamic_strings_->number;
}

}  // namespace Atoll::object

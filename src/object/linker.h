// object: the linker's state (link.h), for its own files: link.cpp resolves symbols and gathers sections,
// link_layout.cpp gives everything its address, link_relocate.cpp fills in the bytes, link_tables.cpp the tables, and
// link_write.cpp puts the file together.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "object/elf.h"
#include "object/link.h"
#include "object/relocatable.h"
#include "object/string_table.h"
#include "support/error.h"

namespace Atoll::object {

/// A section of the output: some of the linker's own, others gathered from the inputs.
struct OutputSection {
  std::string name;
  uint32_t type = 0;
  uint64_t flags = 0, entry_size = 0, alignment = 1;
  std::vector<uint8_t> bytes;
  uint64_t size = 0, address = 0, file_offset = 0;
  uint32_t link = 0, info = 0;
  uint16_t number = 0;
  bool allocated() const { return (flags & SHF_ALLOC) != 0; }
};

/// Where an input section went.
struct Placement {
  OutputSection* section = nullptr;  ///< null: nowhere
  uint64_t offset = 0;
};

struct GlobalSymbol {
  std::string name;
  const RelocatableSymbol* definition = nullptr;
  size_t input = 0;  ///< of the definition, or of the first mention
  uint8_t visibility = STV_DEFAULT;
  bool weak_only = true;  ///< every mention of it, as long as it is undefined
  bool is_common = false;
  uint64_t common_size = 0, common_alignment = 1, address = 0;
  uint32_t dynamic_index = 0;

  bool defined() const { return definition != nullptr; }
  /// True if the loader may bind the symbol to another module's definition.
  bool preemptible() const { return visibility == STV_DEFAULT; }
  bool exported() const { return visibility == STV_DEFAULT || visibility == STV_PROTECTED; }
};

class Linker {
 public:
  explicit Linker(std::span<const LinkInput> inputs) : inputs_(inputs) {}

  support::Result<std::vector<uint8_t>> run();

 private:
  void problem(const std::string& text) {
    if (!problems_.empty()) problems_ += '\n';
    problems_ += text;
  }

  OutputSection& make_section(std::string name, uint32_t type, uint64_t flags, uint64_t alignment,
                              uint64_t entry_size = 0) {
    OutputSection& made = sections_.emplace_back();
    made.name = std::move(name);
    made.type = type;
    made.flags = flags;
    made.alignment = alignment;
    made.entry_size = entry_size;
    return made;
  }

  void merge_targets();
  void choose_groups();
  void resolve_symbols();
  void gather_sections();
  void scan_relocations();
  void make_tables();
  void lay_out();
  void relocate();
  void fill_global_offset_table();
  std::optional<uint64_t> relocated_value(size_t input, const RelocatableSection& section, const Placement& at,
                                          const RelocatableRelocation& relocation);
  void leave_to_loader(uint64_t at, const GlobalSymbol* symbol, uint64_t value, int64_t addend);
  bool loader_fills_half(const GlobalSymbol& symbol) const;
  void fill_dynamic_tables();
  void make_symbol_table();
  Elf64_Sym symbol_entry(const GlobalSymbol& symbol, uint32_t name) const;
  using NamedSymbol = std::pair<std::string, Elf64_Sym>;
  std::vector<NamedSymbol> local_symbols() const;
  void put_last(std::initializer_list<OutputSection*> sections);
  std::vector<Elf64_Phdr> make_segments() const;
  std::vector<uint8_t> write();

  GlobalSymbol* global(size_t input, uint32_t index) {
    const RelocatableSymbol& symbol = inputs_[input].object.symbols[index];
    return symbol.binding == STB_LOCAL ? nullptr : globals_by_name_.at(symbol.name);
  }
  bool is_discarded(size_t input, const RelocatableSymbol& symbol) const {
    return symbol.section != 0 && discarded_[input][symbol.section - 1];
  }
  uint64_t address_of(size_t input, const RelocatableSymbol& symbol) const {
    if (symbol.special_section == SHN_ABS) return symbol.value;
    if (symbol.section == 0) return 0;
    const Placement& at = placements_[input][symbol.section - 1];
    return at.section == nullptr ? 0 : at.section->address + at.offset + symbol.value;
  }
  uint64_t address_of(const GlobalSymbol& symbol) const {
    if (!symbol.defined()) return 0;
    return symbol.is_common ? symbol.address : address_of(symbol.input, *symbol.definition);
  }
  bool is_absolute(const GlobalSymbol& symbol) const {
    return symbol.defined() && symbol.definition->special_section != 0 &&
           symbol.definition->special_section != SHN_COMMON;
  }
  /// Whether its value is known now: an absolute symbol's, or 0 for one that is nowhere and cannot come from elsewhere.
  bool is_constant(const GlobalSymbol& symbol) const {
    return !symbol.preemptible() && (is_absolute(symbol) || !symbol.defined());
  }
  std::string place(size_t input, const RelocatableSection& section, uint64_t offset) const {
    return fmt::format("{}:({}+{:#x})", inputs_[input].name, section.name, offset);
  }

  std::span<const LinkInput> inputs_;
  std::string problems_;
  uint32_t flags_ = 0;
  std::deque<GlobalSymbol> globals_;
  std::unordered_map<std::string_view, GlobalSymbol*> globals_by_name_;
  std::deque<OutputSection> sections_;
  std::vector<std::vector<Placement>> placements_;
  /// For each input, by section: true if it belongs to a comdat group that is discarded for another input's.
  std::vector<std::vector<bool>> discarded_;
  OutputSection *got_ = nullptr, *dynamic_ = nullptr, *dynamic_symbols_ = nullptr, *dynamic_relocations_ = nullptr,
                *gnu_hash_ = nullptr, *sysv_hash_ = nullptr, *dynamic_strings_ = nullptr;
  // Slots of the global offset table, by symbol: a global one, or a local one of an input.
  std::map<const GlobalSymbol*, uint64_t> global_slots_;
  std::map<std::pair<size_t, uint32_t>, uint64_t> local_slots_;
  uint64_t dynamic_relocation_count_ = 0;
  std::vector<Elf64_Rela> relative_, symbolic_;
  std::vector<const GlobalSymbol*> dynamic_order_;
  StringTable dynamic_names_;
  std::vector<OutputSection*> order_;  ///< as they lie in the file
};

constexpr uint64_t page = 4096;
constexpr uint64_t max_program_headers = 9;

/// Access rights of the section's segment: sections of different kinds lie on separate pages.
uint32_t segment_flags(const OutputSection& section);
/// Whether the loader protects the section once it has relocated it.
bool is_relro(const OutputSection& section);

}  // namespace Atoll::object

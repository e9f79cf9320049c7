// object: the linker (link.h): targets, symbols, sections, and what is left to the loader (linker.h).
#include "object/link.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "object/linker.h"
#include "object/relocation_type.h"
#include "support/bytes.h"
#include "target/target_id.h"

namespace Atoll::object {

using support::align_up;
using support::ErrorKind;
using support::fail;

namespace {

/// Size that a section without bytes in the file may have: no GPU has more memory.
constexpr uint64_t largest_without_bytes = uint64_t{1} << 40;

/// The name of the output section: ".text.foo" goes to ".text".
std::string output_name(std::string_view name) {
  for (const std::string_view prefix : {".data.rel.ro", ".bss.rel.ro", ".text", ".rodata", ".data", ".bss",
                                        ".init_array", ".fini_array", ".tdata", ".tbss"}) {
    if (name == prefix || (name.starts_with(prefix) && name[prefix.size()] == '.')) return std::string(prefix);
  }
  return std::string(name);
}

/// Returns "gfx90a:xnack-", for messages.
std::string target_of(const Relocatable& object) {
  const auto target = target::target_id_of_flags(object.flags, object.abi_version);
  return target ? target->to_string() : fmt::format("machine 0x{:x}", object.flags & 0xFF);
}

/// Returns "code object version 5", for messages.
std::string abi_of(const Relocatable& object) {
  if (object.os_abi != elf::osabi_amdgpu_hsa) return fmt::format("for OS ABI {}", object.os_abi);
  return fmt::format("code object version {}", object.abi_version + 2);
}

/// Most constraining of two visibilities.
uint8_t merge_visibility(uint8_t a, uint8_t b) {
  if (a == STV_DEFAULT) return b;
  if (b == STV_DEFAULT) return a;
  return std::min(a, b);
}

}  // namespace

support::Result<std::vector<uint8_t>> Linker::run() {
  if (inputs_.empty()) return fail(ErrorKind::invalid_argument, "nothing to link");
  merge_targets();
  choose_groups();
  resolve_symbols();
  gather_sections();
  scan_relocations();
  if (problems_.empty()) {
    make_tables();
    lay_out();
  }
  if (problems_.empty()) {
    relocate();
    fill_dynamic_tables();
    make_symbol_table();
  }
  if (!problems_.empty()) return fail(ErrorKind::invalid_file, "{}", problems_);
  return write();
}

// --- Targets --------------------------------------------------------------------------------------------------------

void Linker::merge_targets() {
  const Relocatable& first = inputs_[0].object;
  flags_ = first.flags;
  const auto setting = [](uint32_t flags, unsigned shift) { return flags >> shift & 3; };
  constexpr unsigned xnack_shift = 8, sramecc_shift = 10;
  for (const LinkInput& input : inputs_.subspan(1)) {
    const Relocatable& object = input.object;
    if (object.os_abi != first.os_abi || object.abi_version != first.abi_version) {
      problem(fmt::format("{} is {}, {} is {}", input.name, abi_of(object), inputs_[0].name, abi_of(first)));
    }
    if ((object.flags & 0xFF) != (flags_ & 0xFF)) {
      problem(
          fmt::format("{} is for {}, {} is for {}", input.name, target_of(object), inputs_[0].name, target_of(first)));
      continue;
    }
    for (const unsigned shift : {xnack_shift, sramecc_shift}) {
      const uint32_t ours = setting(flags_, shift), theirs = setting(object.flags, shift);
      if (ours == theirs) continue;
      constexpr auto any = static_cast<uint32_t>(target::Setting::any);
      if (ours != any && theirs != any) {
        problem(fmt::format("{} is for {}, {} is for {}: {} differs", input.name, target_of(object), inputs_[0].name,
                            target_of(first), shift == xnack_shift ? "xnack" : "sramecc"));
      } else if (ours == any) {
        flags_ = (flags_ & ~(3u << shift)) | theirs << shift;
      }
    }
    const uint32_t version = std::max(flags_ >> 24, object.flags >> 24);  // of a generic processor
    flags_ = (flags_ & 0x00FF'FFFF) | version << 24;
  }
}

// --- Groups ---------------------------------------------------------------------------------------------------------

/// Keeps the first of the comdat groups with the same name.
void Linker::choose_groups() {
  std::unordered_set<std::string_view> kept;
  for (const LinkInput& input : inputs_) {
    const Relocatable& object = input.object;
    std::vector<bool> repeated;
    for (const RelocatableGroup& group : object.groups)
      repeated.push_back(group.comdat && !kept.insert(object.symbols[group.symbol].name).second);
    std::vector<bool>& discarded = discarded_.emplace_back();
    for (const RelocatableSection& section : object.sections)
      discarded.push_back(section.group != 0 && repeated[section.group - 1]);
  }
}

// --- Symbols --------------------------------------------------------------------------------------------------------

void Linker::resolve_symbols() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const RelocatableSymbol& symbol : inputs_[i].object.symbols) {
      if (symbol.binding == STB_LOCAL) continue;
      GlobalSymbol*& known = globals_by_name_[symbol.name];
      if (known == nullptr) {
        known = &globals_.emplace_back();
        known->name = symbol.name;
        known->input = i;
      }
      known->visibility = merge_visibility(known->visibility, symbol.visibility);
      const bool lds = symbol.special_section == elf::shn_amdgpu_lds;
      const bool common = symbol.special_section == SHN_COMMON || lds;
      // A definition in a discarded group counts as a reference by name.
      if ((symbol.section == 0 && symbol.special_section == 0) || is_discarded(i, symbol)) {
        known->weak_only &= symbol.binding == STB_WEAK;
        continue;
      }
      if (common) {
        known->common_size = std::max(known->common_size, symbol.size);
        known->common_alignment = std::max(known->common_alignment, symbol.value);
      }
      const bool have_strong = known->defined() && known->definition->binding != STB_WEAK && !known->is_common;
      if (have_strong && symbol.binding != STB_WEAK && !common) {
        problem(fmt::format("duplicate symbol: {}, defined in {} and in {}", symbol.name, inputs_[known->input].name,
                            inputs_[i].name));
        continue;
      }
      const bool better = !known->defined() || (known->definition->binding == STB_WEAK && symbol.binding != STB_WEAK) ||
                          (known->is_common && !common);
      if (!better) continue;
      known->definition = &symbol;
      known->input = i;
      known->is_common = common;
    }
  }
}

// --- Sections -------------------------------------------------------------------------------------------------------

void Linker::gather_sections() {
  std::map<std::string, OutputSection*> by_name;
  placements_.resize(inputs_.size());
  const auto find = [&](const std::string& name, uint32_t type, uint64_t flags) -> OutputSection& {
    OutputSection*& known = by_name[name];
    if (known == nullptr) known = &make_section(name, type, 0, 1);
    if (known->type == SHT_NOBITS && type != SHT_NOBITS) {
      known->type = type;
      if (known->size <= largest_content) known->bytes.resize(known->size);  // else what comes next is refused
    }
    known->flags |= flags & ~uint64_t{SHF_GROUP | SHF_LINK_ORDER};
    return *known;
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const RelocatableSection& section : inputs_[i].object.sections) {
      Placement& placed = placements_[i].emplace_back();
      if (discarded_[i][placements_[i].size() - 1]) continue;
      const bool dropped = section.type == elf::sht_llvm_addrsig || section.type == SHT_GROUP ||
                           section.type == SHT_NULL || (section.flags & SHF_EXCLUDE) != 0 ||
                           section.name == ".note.GNU-stack";
      if (dropped) continue;
      OutputSection& to = find(output_name(section.name), section.type, section.flags);
      to.alignment = std::max(to.alignment, section.alignment);
      to.entry_size = section.entry_size;
      placed = {&to, align_up(to.size, std::max<uint64_t>(section.alignment, 1))};
      const uint64_t most = to.type == SHT_NOBITS ? largest_without_bytes : largest_content;
      if (placed.offset > most || section.size > most - placed.offset) {
        problem(fmt::format("{}: section {} would be larger than {} MiB", inputs_[i].name, section.name, most >> 20));
        continue;
      }
      to.size = placed.offset + section.size;
      if (to.type == SHT_NOBITS) continue;
      to.bytes.resize(placed.offset);
      to.bytes.insert(to.bytes.end(), section.bytes.begin(), section.bytes.end());
      to.bytes.resize(to.size);
    }
  }
  // Common symbols get room in .bss, LDS variables an offset in LDS.
  uint64_t lds = 0;
  for (GlobalSymbol& symbol : globals_) {
    if (!symbol.is_common) continue;
    if (symbol.definition->special_section == elf::shn_amdgpu_lds) {
      symbol.address = align_up(lds, symbol.common_alignment);
      lds = symbol.address + symbol.common_size;
      continue;
    }
    OutputSection& bss = find(".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
    bss.alignment = std::max(bss.alignment, symbol.common_alignment);
    symbol.address = align_up(bss.size, symbol.common_alignment);  // in the section, until it has its own address
    const uint64_t most = bss.type == SHT_NOBITS ? largest_without_bytes : largest_content;
    if (symbol.common_alignment > most || symbol.address > most || symbol.common_size > most - symbol.address) {
      problem(fmt::format("{}: common symbol {} makes .bss larger than {} MiB", inputs_[symbol.input].name, symbol.name,
                          most >> 20));
      continue;
    }
    bss.size = symbol.address + symbol.common_size;
    if (bss.type != SHT_NOBITS) bss.bytes.resize(bss.size);
  }
}

// --- What the loader has to do --------------------------------------------------------------------------------------

void Linker::scan_relocations() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Relocatable& object = inputs_[i].object;
    for (size_t s = 0; s < object.sections.size(); ++s) {
      const RelocatableSection& section = object.sections[s];
      if (placements_[i][s].section == nullptr) continue;
      const bool allocated = (section.flags & SHF_ALLOC) != 0;
      for (const RelocatableRelocation& relocation : section.relocations) {
        const std::string where = place(i, section, relocation.offset);
        const unsigned width = relocated_bytes(relocation.type);
        if (relocation_name(relocation.type).empty() || relocation.type == R_AMDGPU_RELATIVE64) {
          problem(fmt::format("{}: unknown relocation {}", where, relocation.type));
          continue;
        }
        if (section.type == SHT_NOBITS || relocation.offset > section.size ||
            section.size - relocation.offset < width) {
          problem(fmt::format("{}: the relocation is past the section's end", where));
          continue;
        }
        const GlobalSymbol* symbol = relocation.symbol == 0 ? nullptr : global(i, relocation.symbol);
        const std::string_view name = symbol != nullptr ? std::string_view(symbol->name) : "";
        if (const RelocatableSymbol& local = object.symbols[relocation.symbol];
            symbol == nullptr && is_discarded(i, local)) {
          if (allocated) {
            problem(fmt::format("{}: the relocation refers to section '{}', of which another input's is kept", where,
                                object.sections[local.section - 1].name));
          }
          continue;
        }
        // No other module can define a hidden symbol.
        if (symbol != nullptr && !symbol->defined() && !symbol->weak_only && !symbol->preemptible()) {
          problem(fmt::format("{}: undefined symbol: {}", where, name));
          continue;
        }
        switch (relocation.type) {
          case R_AMDGPU_GOTPCREL:
          case R_AMDGPU_GOTPCREL32_LO:
          case R_AMDGPU_GOTPCREL32_HI: {
            const bool added = symbol != nullptr ? global_slots_.try_emplace(symbol, 0).second
                                                 : local_slots_.try_emplace({i, relocation.symbol}, 0).second;
            dynamic_relocation_count_ += added && !(symbol != nullptr && is_constant(*symbol));
            break;
          }
          case R_AMDGPU_ABS64: {
            const bool constant = symbol != nullptr && is_constant(*symbol);
            dynamic_relocation_count_ += allocated && !constant;
            break;
          }
          case R_AMDGPU_ABS32:
          case R_AMDGPU_ABS32_LO:
          case R_AMDGPU_ABS32_HI: {
            const bool lds = symbol != nullptr && symbol->defined() && is_absolute(*symbol);
            const RelocatableSymbol& local = object.symbols[relocation.symbol];
            const bool local_constant = symbol == nullptr && local.special_section == SHN_ABS;
            if (allocated && symbol != nullptr && loader_fills_half(*symbol)) {
              ++dynamic_relocation_count_;
            } else if (allocated && !lds && !local_constant) {
              problem(
                  fmt::format("{}: {} cannot be used against '{}' in a loadable code object: its address is not "
                              "known before it is loaded",
                              where, relocation_name(relocation.type), symbol != nullptr ? symbol->name : local.name));
            }
            break;
          }
          default:
            if (symbol != nullptr && !symbol->defined() && !symbol->weak_only) {
              problem(fmt::format("{}: undefined symbol: {}", where, name));
            }
            break;
        }
      }
    }
  }
  if (!global_slots_.empty() || !local_slots_.empty()) {
    got_ = &make_section(".got", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, 8);
    uint64_t next = 0;
    for (auto& [symbol, slot] : global_slots_) slot = 8 * next++;
    for (auto& [symbol, slot] : local_slots_) slot = 8 * next++;
    got_->size = 8 * next;
    got_->bytes.resize(got_->size);
  }
}

support::Result<std::vector<uint8_t>> link(std::span<const LinkInput> inputs) { return Linker(inputs).run(); }

}  // namespace Atoll::object

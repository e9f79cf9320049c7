// assembler: disassembling (disassembly.h).
#include "assembler/disassembly/disassembly.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "assembler/unit/known_addresses.h"
#include "isa/decode.h"
#include "isa/opcode_map.h"
#include "isa/print.h"
#include "object/code_object_v2.h"
#include "object/elf_file.h"
#include "object/kernel_symbols.h"
#include "object/relocation_type.h"
#include "support/bytes.h"
#include "target/target_id.h"

namespace Atoll::assembler {

namespace {

using object::ElfFile;
using object::ElfSection;
using object::ElfSymbol;
using support::Result;

using Bytes = std::span<const uint8_t>;

/// A range of a section that is decoded as one wave size.
struct Range {
  uint64_t begin, end;  // offsets in the section
  unsigned wave_size;
  uint64_t description = 0;  // bytes at the beginning that are no code
  bool is_data = false;
};

/// Minimum run of zeros that is skipped; an instruction may begin with some zeros.
uint64_t zeros_to_skip(Bytes bytes) {
  uint64_t count = 0;
  while (count < bytes.size() && bytes[count] == 0) ++count;
  return count < 8 ? 0 : count & ~uint64_t{3};
}

/// Whether what stands after an instruction is not reached from there, or by way of a branch as well. LLVM does not
/// count the return from a trap handler among them.
bool ends_block(const isa::Instruction& in, const isa::InstructionRow& row) {
  using isa::Opcode;
  if (in.opcode == Opcode::s_code_end || row.has(isa::flag::ends)) return true;
  return row.has(isa::flag::branch) && in.destinations == 0 && in.opcode != Opcode::s_rfe_b64;
}

/// Decodes and prints ranges of one section.
class SectionDisassembler {
 public:
  SectionDisassembler(DisassembledSection& section, const target::Processor& processor,
                      KnownAddresses::Relocations code, KnownAddresses::Relocations data)
      : section_(section), processor_(processor), code_(std::move(code)), data_(std::move(data)) {}

  /// Reserves space for that many bytes of code.
  void expect(uint64_t bytes) {
    section_.lines.reserve(bytes / 5);
    section_.text.reserve(bytes * 6);
  }

  /// Decodes the requested ranges. s_set_vgpr_msb applies until a branch may enter from code with another setting. If
  /// there is such an instruction, everything is decoded again with those places known.
  void decode(std::span<const Range> ranges) {
    for (const Range& range : ranges) decode(range);
    targets_ = branch_targets();
    if (!has_banks_ || targets_.empty()) return;
    section_.text.clear();
    section_.lines.clear();
    section_.branches.clear();
    reached_.clear();
    for (const Range& range : ranges) decode(range);
  }

  /// Makes labels of the targets of branches, and gives branches their last operands.
  void make_labels() {
    std::vector<Heading> labels;
    for (const uint64_t target : targets_) {
      const bool has_symbol = std::ranges::binary_search(section_.headings, target, {}, &Heading::address);
      const bool is_line = std::ranges::binary_search(section_.lines, target, {}, &Line::address);
      if (has_symbol || !is_line) continue;
      labels.push_back({target, fmt::format("L{}", labels.size()), true, false});
    }
    std::vector<Heading> all;
    std::ranges::merge(section_.headings, labels, std::back_inserter(all), {}, &Heading::address, &Heading::address);
    section_.headings = std::move(all);
    for (Branch& branch : section_.branches) {
      const auto found = std::ranges::lower_bound(section_.headings, branch.target, {}, &Heading::address);
      if (found != section_.headings.end() && found->address == branch.target) branch.name = found->name;
    }
    // What was known at a label may be known on one of the ways there only.
    std::erase_if(reached_, [&](const ReachedAt& each) {
      const uint64_t here = section_.lines[each.line].address;
      const auto label = std::ranges::upper_bound(targets_, each.reached.since);
      return label != targets_.end() && *label <= here;
    });
  }

  struct ReachedAt {
    uint32_t line;
    Reached reached;
  };
  const std::vector<ReachedAt>& reached() const { return reached_; }

 private:
  void decode(const Range& range) {
    const isa::OpcodeMap& map = isa::opcode_map_of(processor_, range.wave_size);
    KnownAddresses known(code_, data_);
    uint8_t vgpr_banks = 0;  // as s_set_vgpr_msb set them
    uint64_t offset = range.begin;
    if (range.description != 0) {
      add(offset, range.description, Line::Kind::omitted);
      offset += range.description;
    }
    while (offset < range.end) {
      const Bytes rest = section_.bytes.subspan(offset, range.end - offset);
      if (rest[0] == 0) {
        if (const uint64_t zeros = zeros_to_skip(rest); zeros != 0) {
          add(offset, zeros, Line::Kind::omitted);
          offset += zeros;
          continue;
        }
      }
      const auto decoded = isa::decode(rest, processor_, range.wave_size);
      if (!decoded || range.is_data) {
        const uint64_t size = std::min<uint64_t>(rest.size(), 4);
        append_data(rest.first(size));
        add(offset, size, Line::Kind::unknown);
        offset += size;
        vgpr_banks = 0;
        continue;
      }
      const isa::InstructionRow& row = map.row(decoded->opcode);
      if (vgpr_banks != 0 && std::ranges::binary_search(targets_, section_.address + offset)) vgpr_banks = 0;
      isa::append(section_.text, *decoded, processor_, vgpr_banks);
      if (decoded->opcode == isa::Opcode::s_set_vgpr_msb) {
        vgpr_banks = static_cast<uint8_t>(decoded->immediate);
        has_banks_ = true;
      } else if (vgpr_banks != 0 && ends_block(*decoded, row)) {
        vgpr_banks = 0;
      }
      if (row.has(isa::flag::label)) add_branch(*decoded, offset);
      if (const auto reached = known.step(*decoded, row, section_.address + offset)) {
        reached_.push_back({static_cast<uint32_t>(section_.lines.size()), *reached});
      }
      add(offset, decoded->size, Line::Kind::instruction);
      offset += decoded->size;
    }
  }

  /// The places that branches lead to, by address.
  std::vector<uint64_t> branch_targets() const {
    std::vector<uint64_t> targets;
    for (const Branch& branch : section_.branches) targets.push_back(branch.target);
    std::ranges::sort(targets);
    targets.erase(std::ranges::unique(targets).begin(), targets.end());
    return targets;
  }

  void add(uint64_t offset, uint64_t size, Line::Kind kind) {
    section_.lines.push_back({.address = section_.address + offset,
                              .size = static_cast<uint32_t>(size),
                              .text_end = static_cast<uint32_t>(section_.text.size()),
                              .kind = kind});
  }

  void append_data(Bytes bytes) {
    if (const auto word = support::read<uint32_t>(bytes, 0)) {
      fmt::format_to(std::back_inserter(section_.text), ".long 0x{:08x}", *word);
      return;
    }
    section_.text += ".byte ";
    fmt::format_to(std::back_inserter(section_.text), "0x{:02x}", fmt::join(bytes, ", 0x"));
  }

  void add_branch(const isa::Instruction& branch, uint64_t offset) {
    const size_t last = section_.text.rfind(' ') + 1;
    const int64_t words = static_cast<int16_t>(branch.immediate);
    section_.branches.push_back({.line = static_cast<uint32_t>(section_.lines.size()),
                                 .target = section_.address + offset + branch.size + static_cast<uint64_t>(words * 4),
                                 .name = section_.text.substr(last)});
    section_.text.resize(last);
  }

  DisassembledSection& section_;
  const target::Processor& processor_;
  KnownAddresses::Relocations code_, data_;
  std::vector<ReachedAt> reached_;
  std::vector<uint64_t> targets_;  // of branches, by address
  bool has_banks_ = false;         // there is an s_set_vgpr_msb
};

/// Disassembles the sections of one file.
class FileDisassembler {
 public:
  FileDisassembler(const ElfFile& file, const target::Processor& processor) : file_(file), processor_(processor) {}

  Result<std::vector<DisassembledSection>> run(std::string_view only) {
    if (auto ok = read_tables(); !ok) return std::unexpected(ok.error());
    find_kernels();
    std::vector<DisassembledSection> sections;
    bool found = only.empty();
    for (size_t i = 0; i < file_.sections.size(); ++i) {
      const ElfSection& section = file_.sections[i];
      if ((section.header.sh_flags & SHF_EXECINSTR) == 0 || section.bytes.empty()) continue;
      auto result = disassemble_section(i, only);
      if (!only.empty() && result.lines.empty()) continue;
      found = true;
      sections.push_back(std::move(result));
    }
    if (!found) return support::fail(support::ErrorKind::not_found, "there is no code of the name {}", only);
    return sections;
  }

 private:
  Result<void> read_tables() {
    const ElfSection* table = file_.find_section(uint32_t{SHT_SYMTAB});
    const ElfSection* dynamic = file_.find_section(uint32_t{SHT_DYNSYM});
    if (table == nullptr) table = dynamic;
    if (table != nullptr) {
      auto symbols = object::read_symbols(file_, *table);
      if (!symbols) return std::unexpected(symbols.error());
      symbols_ = std::move(*symbols);
    }
    const bool relocatable = file_.header.e_type == ET_REL;
    if (!relocatable && dynamic != nullptr) {
      auto symbols = object::read_symbols(file_, *dynamic);
      if (!symbols) return std::unexpected(symbols.error());
      dynamic_symbols_ = std::move(*symbols);
    }
    for (const ElfSection& section : file_.sections) {
      if (section.header.sh_type != SHT_RELA && section.header.sh_type != SHT_REL) continue;
      auto& relocations = relocatable ? code_relocations_[section.header.sh_info] : data_relocations_;
      for (const Elf64_Rela& each : object::read_relocations(section)) {
        relocations[each.r_offset] = {.symbol = static_cast<uint32_t>(ELF64_R_SYM(each.r_info)),
                                      .type = static_cast<uint32_t>(ELF64_R_TYPE(each.r_info)),
                                      .addend = each.r_addend};
      }
    }
    return {};
  }

  /// Collects the wave sizes of kernels from their descriptors ("name.kd"), or in V2 from their headers.
  void find_kernels() {
    for (const object::KernelSymbol& kernel : object::read_kernel_symbols(file_, symbols_)) {
      const unsigned size = object::has_wave32(kernel.descriptor, processor_) ? 32 : 64;
      kernels_[kernel.name] = size;
      usual_wave_size_ = usual_wave_size_ == 0 ? size : std::min(usual_wave_size_, size);
    }
    for (const object::KernelCodeSymbol& kernel : object::read_kernel_codes(file_, symbols_))
      kernels_[kernel.name] = object::has_wave32(kernel.code) ? 32 : 64;
  }

  DisassembledSection disassemble_section(size_t index, std::string_view only) {
    const ElfSection& section = file_.sections[index];
    DisassembledSection result{.name = section.name,
                               .bytes = section.bytes,
                               .address = section.header.sh_addr,
                               .text = {},
                               .lines = {},
                               .headings = {},
                               .branches = {},
                               .remarks = {}};
    const std::vector<const ElfSymbol*> symbols = symbols_in(index);
    std::vector<Range> ranges{{0, section.bytes.size(), usual_wave_size_}};
    if (symbols.empty() || symbols[0]->raw.st_value != result.address)
      result.headings.push_back({result.address, std::string(section.name), false, false});
    for (const ElfSymbol* symbol : symbols) {
      const auto kernel = kernels_.find(symbol->name);
      result.headings.push_back({symbol->raw.st_value, std::string(symbol->name), false, kernel != kernels_.end()});
      const uint64_t begin = symbol->raw.st_value - section.header.sh_addr;
      ranges.back().end = begin;
      const bool old_kernel = object::elf::symbol_type(symbol->raw) == object::elf::stt_amdgpu_hsa_kernel;
      ranges.push_back({begin, section.bytes.size(), kernel == kernels_.end() ? usual_wave_size_ : kernel->second});
      ranges.back().is_data = object::elf::symbol_type(symbol->raw) == STT_OBJECT;
      if (old_kernel) ranges.back().description = std::min(sizeof(object::RawKernelCode), section.bytes.size() - begin);
    }
    SectionDisassembler disassembler(result, processor_, relocations_in(index), relocations_of_data());
    if (only.empty()) disassembler.expect(section.bytes.size());
    std::vector<Range> wanted;
    for (size_t i = 0; i < ranges.size(); ++i) {
      Range range = ranges[i];
      if (!only.empty()) {
        if (i == 0 || symbols[i - 1]->name != only) continue;
        // Without the padding after it.
        const uint64_t size = symbols[i - 1]->raw.st_size;
        if (size != 0) range.end = std::min(range.end, range.begin + std::min(size, section.bytes.size()));
      }
      if (range.begin < range.end) wanted.push_back(range);
    }
    disassembler.decode(wanted);
    disassembler.make_labels();
    add_remarks(result, index, disassembler.reached());
    return result;
  }

  /// The symbols in a section that are to be headings, by address.
  std::vector<const ElfSymbol*> symbols_in(size_t section) const {
    const uint64_t begin = file_.sections[section].header.sh_addr, end = begin + file_.sections[section].bytes.size();
    std::vector<const ElfSymbol*> found;
    for (const ElfSymbol& symbol : symbols_) {
      const uint8_t type = object::elf::symbol_type(symbol.raw);
      if (symbol.raw.st_shndx != section || type == STT_SECTION || type == STT_FILE || symbol.name.empty()) continue;
      if (symbol.raw.st_value >= begin && symbol.raw.st_value < end) found.push_back(&symbol);
    }
    // Of several at one address the best is the first.
    const auto order = [](const ElfSymbol* a, const ElfSymbol* b) {
      const auto rank = [](const ElfSymbol* symbol) { return object::elf::symbol_type(symbol->raw) == STT_NOTYPE; };
      return std::tuple(a->raw.st_value, rank(a), a->name) < std::tuple(b->raw.st_value, rank(b), b->name);
    };
    std::ranges::sort(found, order);
    found.erase(std::ranges::unique(found, {}, [](const ElfSymbol* symbol) { return symbol->raw.st_value; }).begin(),
                found.end());
    return found;
  }

  using RelocationMap = std::unordered_map<uint64_t, RelocatedWord>;

  static KnownAddresses::Relocations in(const RelocationMap& map, uint64_t base) {
    return [&map, base](uint64_t place) -> std::optional<RelocatedWord> {
      const auto found = map.find(place - base);
      return found == map.end() ? std::nullopt : std::optional(found->second);
    };
  }
  KnownAddresses::Relocations relocations_in(size_t section) {
    return in(code_relocations_[section], file_.sections[section].header.sh_addr);
  }
  KnownAddresses::Relocations relocations_of_data() const { return in(data_relocations_, 0); }

  void add_remarks(DisassembledSection& section, size_t index,
                   const std::vector<SectionDisassembler::ReachedAt>& reached) {
    std::vector<Remark> relocated, names;
    for (const auto& each : reached) {
      if (std::string name = name_of(each.reached, index); !name.empty()) names.push_back({each.line, name});
    }
    const RelocationMap& relocations = code_relocations_[index];
    for (uint32_t i = 0; i < section.lines.size() && !relocations.empty(); ++i) {
      const Line& line = section.lines[i];
      for (uint64_t at = 0; at < line.size; at += 4) {
        const auto found = relocations.find(line.address - section.address + at);
        if (found == relocations.end()) continue;
        const RelocatedWord& relocation = found->second;
        relocated.push_back({i, fmt::format("{} {}", object::relocation_name(relocation.type),
                                            symbol_and(relocation.symbol, relocation.addend, symbols_))});
      }
    }
    std::ranges::merge(relocated, names, std::back_inserter(section.remarks), {}, &Remark::line, &Remark::line);
  }

  /// "name+0x10"
  static std::string with_distance(std::string_view name, int64_t distance) {
    if (distance == 0) return std::string(name);
    return fmt::format("{}{}{:#x}", name, distance < 0 ? '-' : '+', distance < 0 ? -distance : distance);
  }

  std::string symbol_and(uint32_t index, int64_t distance, const std::vector<ElfSymbol>& table) const {
    if (index >= table.size()) return with_distance("", distance);
    const ElfSymbol& symbol = table[index];
    const bool section = object::elf::symbol_type(symbol.raw) == STT_SECTION;
    return with_distance(
        section && symbol.raw.st_shndx < file_.sections.size() ? file_.sections[symbol.raw.st_shndx].name : symbol.name,
        distance);
  }

  /// The name of what is reached, "<helper+0x10>"; empty if nothing is known there.
  std::string name_of(const Reached& reached, size_t section) const {
    const bool relocatable = file_.header.e_type == ET_REL;
    uint64_t address = reached.address;
    if (reached.symbol != 0) {
      const std::vector<ElfSymbol>& table = relocatable ? symbols_ : dynamic_symbols_;
      if (reached.symbol >= table.size()) return {};
      const ElfSymbol& symbol = table[reached.symbol];
      if (object::elf::symbol_type(symbol.raw) != STT_SECTION)
        return fmt::format("<{}>", with_distance(symbol.name, static_cast<int64_t>(reached.address)));
      section = symbol.raw.st_shndx;
      address += symbol.raw.st_value;
    }
    const ElfSymbol* best = nullptr;
    for (const ElfSymbol& symbol : symbols_) {
      const uint8_t type = object::elf::symbol_type(symbol.raw);
      if (type == STT_SECTION || type == STT_FILE || symbol.name.empty() || symbol.raw.st_shndx == SHN_UNDEF) continue;
      if (relocatable && symbol.raw.st_shndx != section) continue;
      const uint64_t distance = address - symbol.raw.st_value;
      if (distance != 0 && distance >= symbol.raw.st_size) continue;
      if (best == nullptr || symbol.raw.st_value > best->raw.st_value) best = &symbol;
    }
    if (best != nullptr)
      return fmt::format("<{}>", with_distance(best->name, static_cast<int64_t>(address - best->raw.st_value)));
    for (const ElfSection& each : file_.sections) {
      const bool here = (each.header.sh_flags & SHF_ALLOC) != 0 && address - each.header.sh_addr < each.header.sh_size;
      if (here && (!relocatable || &each == &file_.sections[section]))
        return fmt::format("<{}>", with_distance(each.name, static_cast<int64_t>(address - each.header.sh_addr)));
    }
    return {};
  }

  const ElfFile& file_;
  const target::Processor& processor_;
  std::vector<ElfSymbol> symbols_, dynamic_symbols_;
  std::unordered_map<uint64_t, RelocationMap> code_relocations_;  // by section
  RelocationMap data_relocations_;
  std::unordered_map<std::string_view, unsigned> kernels_;  // their wave sizes
  unsigned usual_wave_size_ = 0;
};

}  // namespace

Result<std::vector<DisassembledSection>> disassemble(Bytes code_object, std::string_view only) {
  const auto file = object::read_elf_file(code_object);
  if (!file) return std::unexpected(file.error());
  if (file->header.e_machine != object::elf::em_amdgpu)
    return support::fail(support::ErrorKind::incompatible, "not code of an AMD GPU");
  const auto target = object::read_target(*file);
  if (!target) return std::unexpected(target.error());
  return FileDisassembler(*file, *target->processor).run(only);
}

DisassembledSection disassemble(Bytes code, const target::Processor& processor, unsigned wave_size, uint64_t address) {
  DisassembledSection section{.name = {},
                              .bytes = code,
                              .address = address,
                              .text = {},
                              .lines = {},
                              .headings = {},
                              .branches = {},
                              .remarks = {}};
  const auto nothing = [](uint64_t) { return std::optional<RelocatedWord>(); };
  SectionDisassembler disassembler(section, processor, nothing, nothing);
  const Range all{0, code.size(), wave_size};
  disassembler.decode({&all, 1});
  disassembler.make_labels();
  return section;
}

}  // namespace Atoll::assembler

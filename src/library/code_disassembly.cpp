#include "library/code_disassembly.h"

#include <elf.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "debug_info/line_table.h"
#include "library/kernel_names.h"
#include "object/code_object.h"
#include "object/elf_file.h"

namespace Atoll::library {

using assembler::DisassembledSection;
using support::Result;

namespace {

/// What the metadata says of a kernel, in a line.
std::string describe(const object::KernelMetadata& kernel) {
  std::string text = fmt::format("kernel {}: {} VGPRs", demangled(kernel.name), kernel.vgpr_count);
  if (kernel.agpr_count != 0) text += fmt::format(" ({} of them AGPRs)", kernel.agpr_count);
  return text + fmt::format(", {} SGPRs, {} bytes of LDS, {} of scratch, wave{}", kernel.sgpr_count,
                            kernel.group_segment_fixed_size, kernel.private_segment_fixed_size, kernel.wavefront_size);
}

void add_remarks(DisassembledSection& section, const object::Metadata& metadata) {
  for (assembler::Heading& heading : section.headings) {
    if (heading.is_label) continue;
    const auto kernel = std::ranges::find(metadata.kernels, heading.name, &object::KernelMetadata::code_symbol);
    if (kernel != metadata.kernels.end()) {
      heading.remark = describe(*kernel);
    } else if (std::string readable = demangled(heading.name); readable != heading.name) {
      heading.remark = std::move(readable);
    }
  }
}

/// Prints source lines in front of the instructions that were made of them.
class SourceListing {
 public:
  explicit SourceListing(std::span<const uint8_t> code_object) {
    // The addresses of a relocatable's line table are not known before it is linked.
    const auto file = object::read_elf_file(code_object);
    if (file && file->header.e_type != ET_REL) ranges_ = debug_info::source_ranges(code_object);
  }

  void begin_section() { last_ = nullptr; }

  /// Appends "; file:line" and the line's text if the instruction is of another line than the one before it.
  void append(std::string& out, uint64_t address) {
    auto above = std::ranges::upper_bound(ranges_, address, {}, &debug_info::SourceRange::begin);
    if (above == ranges_.begin()) return;
    const debug_info::SourceRange& range = *--above;
    if (address >= range.end || (last_ != nullptr && last_->line == range.line && last_->file == range.file)) return;
    last_ = &range;
    out += fmt::format("; {}:{}\n", range.file, range.line);
    const std::vector<std::string>& lines = lines_of(range.file);
    if (range.line <= lines.size()) out += fmt::format("; {}\n", lines[range.line - 1]);
  }

 private:
  /// Returns the lines of a source file, or none if it cannot be read.
  const std::vector<std::string>& lines_of(const std::string& path) {
    const auto [known, is_new] = files_.try_emplace(path);
    if (!is_new) return known->second;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) known->second.push_back(std::move(line));
    return known->second;
  }

  std::vector<debug_info::SourceRange> ranges_;
  const debug_info::SourceRange* last_ = nullptr;
  std::unordered_map<std::string, std::vector<std::string>> files_;
};

}  // namespace

Result<DisassembledCode> disassemble(const object::FoundCodeObject& code, const std::string& kernel) {
  const auto file = object::read_elf_file(code.bytes);
  if (!file) return std::unexpected(file.error());
  auto metadata = object::read_metadata(*file);
  if (!metadata) return std::unexpected(metadata.error());
  std::string symbol;
  if (!kernel.empty()) {
    std::vector<std::string> names;
    for (const auto& each : metadata->kernels) names.emplace_back(each.code_symbol());
    const auto found = find_kernel(names, kernel, code.id);
    if (!found) return std::unexpected(found.error());
    symbol = *found;
  }
  auto sections = assembler::disassemble(code.bytes, symbol);
  if (!sections) return std::unexpected(sections.error());
  return DisassembledCode{std::move(*sections), std::move(*metadata)};
}

void append_text(std::string& out, DisassembledCode& code, const object::FoundCodeObject& from,
                 const ListingOptions& options, const std::function<void(std::string&)>& flush) {
  std::optional<SourceListing> source;
  if (options.source) source.emplace(from.bytes);
  const auto target = object::read_target(from.bytes);
  fmt::format_to(std::back_inserter(out), "; {}\n; {}\n", from.where, target ? target->to_string() : from.id);
  for (DisassembledSection& section : code.sections) {
    add_remarks(section, code.metadata);
    fmt::format_to(std::back_inserter(out), "\nDisassembly of section {}:\n", section.name);
    if (!source) {
      assembler::append_text(out, section, options.bytes, flush);
      continue;
    }
    source->begin_section();
    assembler::append_text(out, section, options.bytes, flush,
                           [&](std::string& text, uint64_t address) { source->append(text, address); });
  }
}

}  // namespace Atoll::library

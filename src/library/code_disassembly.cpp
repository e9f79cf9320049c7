#include "library/code_disassembly.h"

#include <algorithm>

#include <fmt/format.h>

#include "library/kernel_names.h"
#include "object/code_object.h"

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

void append_text(std::string& out, DisassembledCode& code, const object::FoundCodeObject& from, bool bytes,
                 const std::function<void(std::string&)>& flush) {
  const auto target = object::read_target(from.bytes);
  fmt::format_to(std::back_inserter(out), "; {}\n; {}\n", from.where, target ? target->to_string() : from.id);
  for (DisassembledSection& section : code.sections) {
    add_remarks(section, code.metadata);
    fmt::format_to(std::back_inserter(out), "\nDisassembly of section {}:\n", section.name);
    assembler::append_text(out, section, bytes, flush);
  }
}

}  // namespace Atoll::library

// object: kernels by their symbols (kernel_symbols.h).
#include "object/kernel_symbols.h"

#include "object/kernel_descriptor_fields.h"
#include "support/bytes.h"

namespace Atoll::object {

std::vector<KernelSymbol> read_kernel_symbols(const ElfFile& file, std::span<const ElfSymbol> symbols) {
  constexpr std::string_view suffix = ".kd";
  std::vector<KernelSymbol> kernels;
  for (const ElfSymbol& symbol : symbols) {
    if (!symbol.name.ends_with(suffix) || symbol.raw.st_shndx >= file.sections.size()) continue;
    const ElfSection& section = file.sections[symbol.raw.st_shndx];
    const uint64_t offset = symbol.raw.st_value - section.header.sh_addr;
    const auto descriptor = support::read<RawKernelDescriptor>(section.bytes, offset);
    if (!descriptor) continue;
    kernels.push_back({symbol.name.substr(0, symbol.name.size() - suffix.size()), *descriptor});
  }
  return kernels;
}

bool has_wave32(const RawKernelDescriptor& descriptor, const target::Processor& processor) {
  return descriptor_field::wavefront_size32.of(descriptor) != 0 || !processor.has_wave_size(64);
}

}  // namespace Atoll::object

// object: the kernel descriptors in a file, linked or not, by their symbols: "name.kd" is the descriptor of "name".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "object/elf_file.h"
#include "object/kernel_descriptor.h"

namespace Atoll::object {

struct KernelSymbol {
  std::string_view name;  ///< without ".kd"
  RawKernelDescriptor descriptor;
};

/// Returns the kernels among these symbols, in the same order. Kernels that are not completely in the file are
/// left out.
std::vector<KernelSymbol> read_kernel_symbols(const ElfFile& file, std::span<const ElfSymbol> symbols);

/// Whether a kernel's waves have 32 lanes.
bool has_wave32(const RawKernelDescriptor& descriptor, const target::Processor& processor);

}  // namespace Atoll::object

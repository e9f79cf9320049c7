// Atoll's C++ library: code objects written, read and taken apart, without a GPU: what `atoll asm`, `link`, `disasm`
// and `inspect` do. They know every processor from GFX6 to GFX12.5. atoll.h includes this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atoll/failure.h"

#define ATOLL_PUBLIC __attribute__((visibility("default")))

namespace Atoll {

struct AssembleOptions {
  std::string gpu{};                                       ///< processor or target ID: "gfx90a:xnack-"
  std::string name = "<text>";                             ///< what messages call the text
  bool relocatable = false;                                ///< an object for link(); otherwise one that can be loaded
  unsigned wave_size = 0;                                  ///< 32 or 64 where the processor has both; 0: 32 there
  uint32_t code_object_version = 6;                        ///< 3 to 6
  std::vector<std::string> include_directories{};          ///< for .include and .incbin
  std::vector<std::pair<std::string, int64_t>> symbols{};  ///< set before the first line
};

/// Assembly text in LLVM's syntax to a code object. The failure's message lists all mistakes, each with its line.
ATOLL_PUBLIC Expected<std::vector<std::byte>> assemble(std::string_view text, const AssembleOptions& options);

struct LinkInput {
  std::string name;  ///< what messages call it
  std::span<const std::byte> bytes;
};

/// Relocatable objects, of assemble() or clang -c, to a code object that can be loaded.
ATOLL_PUBLIC Expected<std::vector<std::byte>> link(std::span<const LinkInput> objects);

struct DisassembleOptions {
  std::string gpu{};     ///< of several code objects those for this processor or target ID; empty: all
  std::string kernel{};  ///< this one alone, by its name, mangled or not; empty: everything
  bool bytes = false;    ///< with address and bytes after each instruction
  bool source = false;   ///< with source lines before their instructions, where there is debug information
};

/// The text of all code objects in a file: one of its own, a bundle, a program or library with one, an archive.
ATOLL_PUBLIC Expected<std::string> disassemble(std::span<const std::byte> file, const DisassembleOptions& options = {});

/// One instruction of machine code.
struct DecodedInstruction {
  uint64_t offset = 0;  ///< in the bytes
  uint32_t size = 0;
  std::string text;  ///< empty when no instruction has these bytes
};

/// Instructions that stand alone, without a file around them, in waves of 32 or 64 lanes (0: what the processor has, 32
/// if both).
ATOLL_PUBLIC Expected<std::vector<DecodedInstruction>> decode(std::span<const std::byte> code, std::string_view gpu,
                                                              unsigned wave_size = 0);

struct InspectOptions {
  std::string gpu{}, kernel{};   ///< as in DisassembleOptions
  uint32_t work_group_size = 0;  ///< for which occupancy is given; 0: the largest that the kernel allows
};

/// What is in a file with code objects, as the JSON that `atoll inspect --json` prints: an array with headers, symbols,
/// relocations and, of each kernel, arguments, registers, occupancy and descriptor.
ATOLL_PUBLIC Expected<std::string> inspect(std::span<const std::byte> file, const InspectOptions& options = {});

/// Returns the GPUs that Gpu::create takes, as the JSON that `atoll gpus --json` prints: an array with the name, the
/// target ID and the properties of each product.
ATOLL_PUBLIC std::string gpus();

}  // namespace Atoll

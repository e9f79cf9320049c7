// Atoll's C++ library: assembles, links, disassembles and inspects code objects without a GPU, as `atoll asm`, `link`,
// `disasm` and `inspect`. Supports all processors from GFX6 to GFX12.5. Included by atoll.h.
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
  std::string name = "<text>";                             ///< name of the text in messages
  bool relocatable = false;                                ///< produce an object for link() instead of a loadable one
  unsigned wave_size = 0;                                  ///< 32 or 64 if the processor supports both; 0: 32
  uint32_t code_object_version = 6;                        ///< 3 to 6
  std::vector<std::string> include_directories{};          ///< for .include and .incbin
  std::vector<std::pair<std::string, int64_t>> symbols{};  ///< symbols defined before the first line
};

/// Assembles text in LLVM's syntax to a code object. The failure's message lists all errors with their lines.
ATOLL_PUBLIC Expected<std::vector<std::byte>> assemble(std::string_view text, const AssembleOptions& options);

struct LinkInput {
  std::string name;  ///< name in messages
  std::span<const std::byte> bytes;
};

/// Links relocatable objects from assemble() or clang -c to a loadable code object.
ATOLL_PUBLIC Expected<std::vector<std::byte>> link(std::span<const LinkInput> objects);

struct DisassembleOptions {
  std::string gpu{};     ///< selects code objects for this processor or target ID; empty: all
  std::string kernel{};  ///< name of the only kernel to print, mangled or not; empty: everything
  bool bytes = false;    ///< print address and bytes after each instruction
  bool source = false;   ///< print source lines before their instructions, if there is debug information
};

/// Disassembles all code objects in a file: a code object, bundle, archive, or program or library with one.
ATOLL_PUBLIC Expected<std::string> disassemble(std::span<const std::byte> file, const DisassembleOptions& options = {});

/// One instruction of machine code.
struct DecodedInstruction {
  uint64_t offset = 0;  ///< byte offset of the instruction
  uint32_t size = 0;
  std::string text;  ///< empty if no instruction has this encoding
};

/// Decodes bare instructions for waves of 32 or 64 lanes (0: the processor's wave size, 32 if it supports both).
ATOLL_PUBLIC Expected<std::vector<DecodedInstruction>> decode(std::span<const std::byte> code, std::string_view gpu,
                                                              unsigned wave_size = 0);

struct InspectOptions {
  std::string gpu{}, kernel{};   ///< as in DisassembleOptions
  uint32_t work_group_size = 0;  ///< for occupancy; 0: the largest that the kernel allows
};

/// Describes a file with code objects as the JSON of `atoll inspect --json`: an array with headers, symbols,
/// relocations and, for each kernel, arguments, registers, occupancy and descriptor.
ATOLL_PUBLIC Expected<std::string> inspect(std::span<const std::byte> file, const InspectOptions& options = {});

/// Returns the GPUs that Gpu::create takes, as the JSON that `atoll gpus --json` prints: an array with the name, the
/// target ID and the properties of each product.
ATOLL_PUBLIC std::string gpus();

}  // namespace Atoll

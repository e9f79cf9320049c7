// What Atoll's disassembler and encoder are compared with: LLVM 22's disassembler, the library behind llvm-mc-22 and
// llvm-objdump-22, called in a process of its own, for some bytes crash it; and llvm-mc-22, for LLVM's C interface has
// no assembler.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::isa::test {

using Bytes = std::vector<uint8_t>;

struct Disassembled {
  std::string text;  ///< one blank between mnemonic and operands; empty if the bytes are refused
  size_t size = 0;   ///< in bytes
  bool crashed = false;
};

/// The instruction at the start of each sequence. Throws std::runtime_error if LLVM 22 is missing: a test must not pass
/// without its oracle.
std::vector<Disassembled> disassemble(std::string_view processor, std::span<const Bytes> sequences);

/// The bytes that llvm-mc-22 assembles each line to, empty if it refuses the line. Throws std::runtime_error if
/// llvm-mc-22 is missing.
std::vector<Bytes> assemble(std::string_view processor, std::span<const std::string> lines);

/// "0x7f 0x00 ...": bytes as llvm-mc reads them.
std::string spelled(const Bytes& bytes);

}  // namespace Atoll::isa::test

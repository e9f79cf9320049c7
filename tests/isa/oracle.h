// The disassembler that Atoll's is compared with: llvm-mc-22, run as a process over a list of byte sequences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::isa::test {

using Bytes = std::vector<uint8_t>;

/// The text of the instruction at the start of each sequence, one blank between mnemonic and operands; empty if it is
/// refused. Throws std::runtime_error if llvm-mc-22 is missing, crashes, or its output
/// cannot be matched with its input: a test must not pass without its oracle.
std::vector<std::string> disassemble(std::string_view processor, std::span<const Bytes> sequences);

/// "0x7f 0x00 ...": bytes as llvm-mc reads them.
std::string spelled(const Bytes& bytes);

}  // namespace Atoll::isa::test

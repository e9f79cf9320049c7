// The reference for Atoll's disassembler and encoder: LLVM 22's disassembler, the library behind llvm-mc-22 and
// llvm-objdump-22, in a process of its own, because some bytes crash it; and llvm-mc-22, because LLVM's C
// interface has no assembler.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/processor.h"

namespace Atoll::isa::test {

using Bytes = std::vector<uint8_t>;

struct Disassembled {
  std::string text;  ///< one blank between mnemonic and operands; empty if the bytes are refused
  size_t size = 0;   ///< in bytes
  bool crashed = false;
};

/// The instruction at the start of each sequence. `features` are LLVM's ("+wavefrontsize64"). Throws std::runtime_error
/// if LLVM 22 is missing: a test must not pass without its oracle.
std::vector<Disassembled> disassemble(std::string_view processor, std::span<const Bytes> sequences,
                                      std::string_view features = {});

/// LLVM disassembles GFX8 and later alone.
inline bool has_disassembler(const target::Processor& processor) {
  return processor.generation >= target::Generation::gfx8;
}

struct Assembled {
  std::string text;  ///< as LLVM prints the instruction, one blank between mnemonic and operands
  Bytes bytes;       ///< empty if the line is refused
  std::string error;
};

/// Assembles each line, an instruction, by llvm-mc-22. Throws std::runtime_error if llvm-mc-22 is missing.
std::vector<Assembled> assemble_and_print(std::string_view processor, std::span<const std::string> lines,
                                          std::string_view features = {});
/// The bytes alone.
std::vector<Bytes> assemble(std::string_view processor, std::span<const std::string> lines,
                            std::string_view features = {});

/// Every mnemonic that the assembler knows, of all processors, without _e32, _e64, _dpp and _sdwa where those are
/// forms of one: the names in the table that it looks them up in. Throws std::runtime_error if there is none.
std::vector<std::string> oracle_mnemonics();

/// "0x7f 0x00 ...": bytes as llvm-mc reads them.
std::string spelled(const Bytes& bytes);

}  // namespace Atoll::isa::test

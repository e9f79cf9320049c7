// debug_info: the address of an instruction, and the place that it resolves to.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "debug_info/symbolizer.h"
#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::debug_info {

/// The place of an instruction. Parts that are unknown are empty.
struct CodePlace {
  std::string function{};     ///< demangled
  std::string instruction{};  ///< disassembled
  std::string source{};       ///< the user's line, "dir/file.hip:12:5"
};

/// Size of the longest encoded instruction.
inline constexpr uint64_t max_instruction_bytes = 20;

/// Decodes the instruction at the begin of `code`.
std::optional<isa::Instruction> instruction_at(std::span<const uint8_t> code, const target::Processor& processor,
                                               unsigned wave_size);

/// Returns the instruction at the begin of `code` as text, or an empty string.
std::string instruction_text(std::span<const uint8_t> code, const target::Processor& processor, unsigned wave_size);

/// The address of an instruction, with what is needed to resolve its place later. Stays valid when the code is
/// unloaded.
struct CodeAddress {
  uint64_t pc = 0;
  std::shared_ptr<const Symbolizer> symbolizer{};  ///< null: no code is loaded at `pc`
  const target::Processor* processor = nullptr;
  unsigned wave_size = 0;
  std::array<uint8_t, max_instruction_bytes> bytes{};  ///< of the instruction, and what follows it
  uint8_t byte_count = 0;

  /// Copies the instruction's bytes from `code`, which begins at `pc`.
  void copy_bytes(std::span<const uint8_t> code) {
    byte_count = static_cast<uint8_t>(std::min<uint64_t>(code.size(), bytes.size()));
    std::ranges::copy(code.first(byte_count), bytes.begin());
  }
  /// Returns the instruction as text, or an empty string. Cheaper than resolve(): reads no DWARF.
  std::string instruction() const;
  /// Looks up the place. Slow.
  CodePlace resolve() const;
};

}  // namespace Atoll::debug_info

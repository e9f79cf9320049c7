// isa: the way back through an OpcodeMap: from instructions to opcode values, from registers and constants to the codes
// that name them, and from mnemonics to instructions. The encoder and the assembler look things up here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/opcode_map.h"

namespace Atoll::isa {

struct CodeMap {
  static constexpr uint16_t none = 0xFFFF;

  const OpcodeMap& map;
  std::array<const Format*, static_cast<size_t>(Encoding::count)> formats{};

  CodeMap(const target::Processor& processor, unsigned wave_size);

  /// The value of an instruction's opcode field in that encoding, or `none`.
  uint16_t value(Opcode opcode, Encoding encoding) const {
    return values_[static_cast<size_t>(encoding)][static_cast<size_t>(opcode)];
  }
  bool has(Opcode opcode, Encoding encoding) const { return value(opcode, encoding) != none; }
  /// The code of an instruction among halves of dual instructions (OpcodeMap::vopd), or `none`.
  static uint16_t code_of_half(std::span<const Opcode> halves, Opcode opcode);

  /// The code of a scalar register's first word (isa::scalar), or `none`.
  uint16_t code_of_register(uint16_t reg) const { return reg < scalar::count ? registers_[reg] : none; }
  /// The code of what is neither a register nor a constant (src_vccz and the like), or `none`.
  uint16_t code_of_kind(OperandKind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  /// The code of the inline constant that an operand of that type sees as `value`, or `none`. `floats` are the
  /// patterns of the inline floats.
  uint16_t code_of_constant(uint64_t value, DataType type, const InlineFloats& floats) const;

  /// Whether its instructions have 4 bytes, without literal and extension words.
  bool is_one_word(Encoding encoding) const {
    const Format* format = formats[static_cast<size_t>(encoding)];
    return format != nullptr && format->size == 4;
  }
  /// Whether a constant as an operand of that type sees it, if it is a literal at all, is one of 64 bits: where there
  /// are such, after instructions of one word, if 32 bits cannot say it. (They could say an integer with bit 31 set,
  /// but LLVM does not leave it to them.)
  bool needs_wide_literal(uint64_t value, DataType type, Encoding encoding) const;

  /// The instructions with that mnemonic, without suffixes like _e32, on the processor.
  std::span<const Opcode> named(std::string_view name) const;
  /// Returns the opcode of the half "v_dual_NAME", given NAME; Opcode::invalid if no such half exists.
  Opcode dual_named(std::string_view name) const;

 private:
  std::array<std::vector<uint16_t>, static_cast<size_t>(Encoding::count)> values_;
  std::array<uint16_t, scalar::count> registers_{};
  std::array<uint16_t, static_cast<size_t>(OperandKind::off) + 1> kinds_{};
  unsigned inline_floats_ = 0;
  struct Range {
    uint32_t first, count;
  };
  std::vector<Opcode> by_name_;
  std::unordered_map<std::string_view, Range> names_;
};

/// Returns the map of a processor of target::processors(), built on first use. `wave_size` is 32, 64, or 0 for
/// the smallest that the processor has.
const CodeMap& code_map_of(const target::Processor& processor, unsigned wave_size = 0);

/// Whether an integer of 16 bits among an instruction's sources is the exponent of v_ldexp, which LLVM takes for a
/// half.
constexpr bool has_half_exponent(const InstructionRow& row) { return row.has(flag::neg) && row.has(flag::slack); }

/// How many bits of a constant an operand of that type looks at.
constexpr unsigned constant_width(DataType type) {
  switch (type) {
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return 64;
    default:
      return is_half(type) ? 16 : 32;
  }
}

}  // namespace Atoll::isa

// isa: the decoder's inside, shared by decode.cpp (encodings), decode_operands.cpp and decode_modifiers.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "isa/opcode_map.h"
#include "isa/table.h"

namespace Atoll::isa {

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned count) { return word >> low & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, unsigned index) { return (word >> index & 1) != 0; }

/// Codes of 8- and 9-bit source operands (ISA guide, "Scalar operands" and "Vector operand encoding"; GFX9).
namespace code {
constexpr unsigned last_sgpr = 101, flat_scratch = 102, xnack_mask = 104, vcc = 106, ttmp = 108, m0 = 124, null = 125,
                   exec = 126, zero = 128, plus_64 = 192, minus_16 = 208, shared_base = 235, pops_exiting_wave_id = 239,
                   float_first = 240, float_last = 248, sdwa = 249, dpp = 250, vccz = 251, execz = 252, scc = 253,
                   lds_direct = 254, literal = 255, vgpr = 256;
}

/// Which of the three sets of source modifiers belongs to the operand in that field; -1 if none does.
constexpr int source_index(Field field) {
  switch (field) {
    case Field::src0:
    case Field::vgpr_src0:
      return 0;
    case Field::src1:
    case Field::vgpr_src1:
      return 1;
    case Field::src2:
    case Field::vgpr_src2:
      return 2;
    default:
      return -1;
  }
}

/// Decodes one instruction. Each step answers whether the bits mean something.
class Decoder {
 public:
  Decoder(std::span<const uint8_t> bytes, const OpcodeMap& map, Instruction& out)
      : bytes_(bytes), map_(map), out_(out) {}

  bool run();
  bool truncated() const { return truncated_; }

 private:
  bool word_at(unsigned offset, uint32_t& word) {
    if (bytes_.size() < offset + 4) {
      truncated_ = true;
      return false;
    }
    word = bytes_[offset] | uint32_t{bytes_[offset + 1]} << 8 | uint32_t{bytes_[offset + 2]} << 16 |
           uint32_t{bytes_[offset + 3]} << 24;
    return true;
  }
  bool second_word() {
    out_.size = 8;
    return word_at(4, w1_);
  }

  bool begin(Opcode opcode, Encoding encoding) {
    if (opcode == Opcode::invalid) return false;
    out_.opcode = opcode;
    out_.encoding = encoding;
    row_ = &isa::row(opcode);
    return true;
  }

  // Registers and constants.
  bool vgpr(Operand& operand, unsigned index, unsigned words, bool accumulation = false) const {
    if (index + words > 256 || (map_.layout.even_tuples && !accumulation && words > 1 && (index & 1) != 0))
      return false;
    operand.kind = accumulation ? OperandKind::agpr : OperandKind::vgpr;
    operand.reg = static_cast<uint16_t>(index);
    operand.words = static_cast<uint8_t>(words);
    return true;
  }
  static bool scalar_register(Operand& operand, unsigned number, unsigned words);
  bool scalar_source(Operand& operand, unsigned number, DataType type, bool literal_allowed);
  bool source(Operand& operand, unsigned number, DataType type, bool literal_allowed) {
    if (number >= code::vgpr) return vgpr(operand, number - code::vgpr, words_of(type));
    return scalar_source(operand, number, type, literal_allowed);
  }
  bool literal(Operand& operand, DataType type);
  static void vcc(Operand& operand) {
    operand.kind = OperandKind::scalar;
    operand.reg = scalar::vcc_lo;
    operand.words = 2;
  }
  static void immediate(Operand& operand, uint64_t value) {
    operand.kind = OperandKind::constant;
    operand.value = value;
  }

  // Encodings.
  bool scalar_alu();
  bool vop1_or_vopc();
  bool vop2();
  bool vop3();
  bool vop3_modifiers();
  bool vop3p();
  bool vop3p_modifiers();
  bool matrix_modifiers();
  bool scaled_matrix();
  bool smem();
  bool ds();
  bool flat();
  bool buffer();
  bool cache_control();
  bool mimg();
  bool exp();
  bool extension();
  bool sdwa_word();
  bool dpp_word();

  /// Reads the row's operands.
  bool operands();
  bool operand(Operand& operand, Field field, DataType type);
  bool vector_operand(Operand& operand, Field field, DataType type);
  bool matrix_operand(Operand& operand, Field field, DataType type);
  bool scalar_operand(Operand& operand, Field field, DataType type);
  bool memory_operand(Operand& operand, Field field, DataType type);
  bool flat_operand(Operand& operand, Field field, DataType type);
  bool buffer_operand(Operand& operand, Field field, DataType type);
  bool image_operand(Operand& operand, Field field, DataType type);
  bool writes(Field field) const;

  std::span<const uint8_t> bytes_;
  const OpcodeMap& map_;
  Instruction& out_;
  const InstructionRow* row_ = nullptr;
  uint32_t w0_ = 0, w1_ = 0;
  uint32_t scale0_ = 0, scale1_ = 0;  // the words before a scaled matrix instruction
  bool truncated_ = false;
  bool accumulation_ = false;  // data operands of a memory instruction are AGPRs
};

}  // namespace Atoll::isa

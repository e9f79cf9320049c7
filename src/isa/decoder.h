// isa: the decoder's inside, shared by decode.cpp (encodings), decode_memory.cpp, decode_operands.cpp and
// decode_modifiers.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "isa/opcode_map.h"
#include "isa/operand_class.h"
#include "isa/table.h"

namespace Atoll::isa {

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned count) { return word >> low & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, unsigned index) { return (word >> index & 1) != 0; }
constexpr uint32_t bits(uint32_t word, BitRange range) { return bits(word, range.low, range.count); }

/// Codes of 9-bit source operands that are not operands themselves but say what follows (ISA guides, "Vector operand
/// encoding").
namespace code {
constexpr unsigned constants = 128, dpp8 = 233, dpp8_fetch_inactive = 234, sdwa = 249, dpp = 250, lds_direct = 254,
                   wide_literal = 254, literal = 255, vgpr = 256;
}

/// Decodes one instruction. Each step answers whether the bits mean something.
class Decoder {
 public:
  Decoder(std::span<const uint8_t> bytes, const OpcodeMap& map, Instruction& out)
      : bytes_(bytes), map_(map), out_(out) {}

  bool run();
  bool truncated() const { return truncated_; }

 private:
  static constexpr unsigned max_words = 5;  ///< MIMG with three words of addresses

  /// Makes the words up to that size readable.
  bool need(unsigned size) {
    if (bytes_.size() < size) {
      truncated_ = true;
      return false;
    }
    for (; loaded_ * 4 < size; ++loaded_) {
      const unsigned at = loaded_ * 4;
      words_[loaded_] =
          bytes_[at] | uint32_t{bytes_[at + 1]} << 8 | uint32_t{bytes_[at + 2]} << 16 | uint32_t{bytes_[at + 3]} << 24;
    }
    return true;
  }
  /// A word after what has been read so far.
  bool further_word(uint32_t& word) {
    const unsigned at = out_.size;
    if (at / 4 >= max_words || !need(at + 4)) return false;
    word = words_[at / 4];
    out_.size = static_cast<uint8_t>(at + 4);
    return true;
  }

  uint32_t get(Bits field) const {
    const BitRange range = format_->at(field);
    return words_[range.low / 32] >> range.low % 32 & ((1u << range.count) - 1);
  }
  bool is(Bits field) const { return get(field) != 0; }
  bool can(Bits field) const { return format_->has(field); }
  int32_t get_signed(Bits field) const {
    const unsigned spare = 32u - format_->at(field).count;
    return static_cast<int32_t>(get(field) << spare) >> spare;
  }

  /// Whether the operands are in VOP3's fields.
  bool wide() const { return out_.encoding == Encoding::vop3 || out_.encoding == Encoding::vop3p; }

  bool begin(Opcode opcode) {
    if (opcode == Opcode::invalid) return false;
    out_.opcode = opcode;
    row_ = &map_.row(opcode);
    return true;
  }

  // Registers and constants, each of the class of the operand that is being decoded.
  /// Sets the class of the operand in that field. `based`: an address is an offset from a scalar base.
  void set_class(const InstructionRow& row, Field field, DataType type, bool based = false) {
    class_ = operand_class(map_, row, out_, field, type, based);
  }
  /// Widths that the modifiers of images determine.
  bool vgpr_tuple(Operand& operand, unsigned index, unsigned words, bool accumulation = false) {
    class_.words = static_cast<uint8_t>(words);
    class_.vector_alignment = static_cast<uint8_t>(vector_alignment(map_.layout, words));
    return vgpr(operand, index, accumulation);
  }
  /// LLVM's disassembler accepts AGPR tuples at odd numbers, which its assembler rejects.
  bool vgpr(Operand& operand, unsigned index, bool accumulation = false) const {
    if (index + class_.words > map_.layout.vgprs) return false;
    const bool is_tuple = class_.words > 1;
    if (is_tuple && !accumulation && index % class_.vector_alignment != 0) return false;
    operand.kind = accumulation ? OperandKind::agpr : OperandKind::vgpr;
    operand.reg = static_cast<uint16_t>(index);
    operand.words = class_.words;
    return true;
  }
  bool vector_register(Operand& operand, unsigned index) const;
  bool scalar_register(Operand& operand, unsigned number) const;
  bool scalar_destination(Operand& operand, unsigned number) const {
    return number < code::constants && scalar_register(operand, number);
  }
  bool scalar_source(Operand& operand, unsigned number, DataType type);
  bool source(Operand& operand, unsigned number) {
    if (number >= code::vgpr) return vector_register(operand, number - code::vgpr);
    return scalar_source(operand, number, class_.type);
  }
  bool vgpr_source(Operand& operand, unsigned number) const {
    // VINTERP's 16-bit sources are vector registers whatever their ninth bit says.
    if (class_.half && out_.encoding == Encoding::vinterp) number |= code::vgpr;
    return number >= code::vgpr && vector_register(operand, number - code::vgpr);
  }
  bool literal(Operand& operand, DataType type, bool wide = false);
  void vcc(Operand& operand) const {
    operand.kind = OperandKind::scalar;
    operand.reg = scalar::vcc_lo;
    operand.words = map_.lane_mask_words;
  }
  static void immediate(Operand& operand, uint64_t value) {
    operand.kind = OperandKind::constant;
    operand.value = value;
  }

  // Encodings.
  bool scalar_alu();
  bool vop1_or_vopc();
  bool vop3();
  bool vop3_modifiers();
  void select_halves(std::span<Operand* const> sources, unsigned op_sel);
  bool vop3p();
  bool vop3p_modifiers();
  bool matrix_modifiers();
  bool scaled_matrix();
  bool scales(unsigned position);
  bool vinterp();
  bool dual();
  bool ldsdir();
  bool smem();
  bool ds();
  bool flat();
  bool buffer();
  bool cache_control();
  bool image();
  bool tensor();
  bool image_addresses(Operand& operand);
  bool image_sizes();
  bool ray();
  bool ray_addresses(Operand& operand);
  unsigned image_data_words(DataType type) const;
  unsigned default_image_data_words(DataType type) const;
  bool exp();
  bool extension();
  bool sdwa_word();
  bool dpp16_word();
  bool dpp_control(unsigned control) const;
  bool dpp8_word(bool fetch_inactive);
  void cache_policy();

  /// Reads the row's operands.
  bool operands();
  bool operand(Operand& operand, Field field, DataType type);
  bool vector_operand(Operand& operand, Field field, DataType type);
  bool vector_destination(Operand& operand, Field field);
  bool comparison_destination(Operand& operand) const;
  bool vector_source(Operand& operand, Field field);
  bool first_source(Operand& operand, Field field);
  bool second_source(Operand& operand, Field field);
  bool vector_constant(Operand& operand, Field field, DataType type);
  bool wmma_operand(Operand& operand, Field field);
  unsigned source0() const;
  bool matrix_operand(Operand& operand, Field field);
  bool scalar_operand(Operand& operand, Field field);
  bool memory_operand(Operand& operand, Field field, DataType type);
  bool flat_operand(Operand& operand, Field field);
  bool buffer_operand(Operand& operand, Field field);
  bool image_operand(Operand& operand, Field field, DataType type);
  bool resource(Operand& operand, Bits field) const;

  std::span<const uint8_t> bytes_;
  const OpcodeMap& map_;
  Instruction& out_;
  const Format* format_ = nullptr;
  const InstructionRow* row_ = nullptr;
  OperandClass class_;
  std::array<uint32_t, max_words> words_{};
  unsigned loaded_ = 0;
  uint32_t extension_ = 0;            // the SDWA or DPP word
  uint32_t scale0_ = 0, scale1_ = 0;  // the words before a scaled matrix instruction
  struct {
    unsigned data = 0, address = 0;  // registers
  } image_;
  bool truncated_ = false;
  bool accumulation_ = false;  // data operands of a memory instruction are AGPRs
};

}  // namespace Atoll::isa

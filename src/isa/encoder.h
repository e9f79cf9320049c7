// isa: the encoder's inside, shared by encode.cpp (encodings) and encode_*.cpp (what the name says).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/code_map.h"
#include "isa/encode.h"
#include "isa/instruction.h"
#include "isa/operand_class.h"
#include "isa/table.h"

namespace Atoll::isa {

/// "VOP2", as users know it.
std::string_view encoding_name(Encoding encoding);

/// Encodes one instruction. Each step answers whether the encoding can hold what it is about; the first that cannot
/// says why in error().
class Encoder {
 public:
  Encoder(const Instruction& instruction, const CodeMap& codes, const target::Processor& processor)
      : in_(instruction), codes_(codes), map_(codes.map), layout_(codes.map.layout), processor_(processor) {}

  bool run();
  Encoded bytes() const;
  const std::string& error() const { return error_; }

 private:
  static constexpr unsigned max_words = 5;  ///< MIMG with three words of addresses

  template <typename... Args>
  bool fail(fmt::format_string<Args...> format, Args&&... args) {
    error_ = fmt::format("{}: {}", map_.name(in_.opcode), fmt::format(format, std::forward<Args>(args)...));
    return false;
  }
  /// "the second source has to be ...".
  template <typename... Args>
  bool wrong(Field field, fmt::format_string<Args...> format, Args&&... args) {
    return fail("{} {}", role(field), fmt::format(format, std::forward<Args>(args)...));
  }
  std::string_view role(Field field) const;

  bool can(Bits field) const { return format_->has(field); }
  /// Puts a value that has been checked, or that is what the field is cut out of.
  void set(Bits field, uint32_t value) { set(format_->at(field), value); }
  void set(BitRange range, uint32_t value) {
    words_[range.low / 32] |= (value & ((1u << range.count) - 1)) << range.low % 32;
  }
  /// Puts a value; the error names what does not fit.
  bool put(Bits field, uint32_t value, std::string_view what);
  bool put_signed(Bits field, int32_t value, std::string_view what);
  bool flags(std::initializer_list<std::pair<Bits, bool>> all, std::string_view what);
  bool further_word(uint32_t word);

  bool wide() const { return in_.encoding == Encoding::vop3 || in_.encoding == Encoding::vop3p; }
  bool begin();

  // Registers and constants, each of the class of the operand that is being encoded.
  /// Sets the class of the operand in that field. `based`: an address is an offset from a scalar base.
  void set_class(const InstructionRow& row, Field field, DataType type, bool based = false) {
    class_ = operand_class(map_, row, in_, field, type, based);
  }
  /// The register's number.
  bool vgpr(const Operand& operand, Field field, unsigned& number, bool accumulation = false);
  /// A tuple whose width the modifiers of images determine.
  bool vgpr_tuple(const Operand& operand, Field field, unsigned words, unsigned& number, bool accumulation = false) {
    class_.words = static_cast<uint8_t>(words);
    class_.vector_alignment = static_cast<uint8_t>(vector_alignment(layout_, words));
    return vgpr(operand, field, number, accumulation);
  }
  bool vector_register(const Operand& operand, Field field, unsigned& number);
  bool scalar_register(const Operand& operand, Field field, unsigned& code);
  bool scalar_source(const Operand& operand, Field field, unsigned& code);
  /// A code of 9 bits.
  bool source(const Operand& operand, Field field, unsigned& code);
  bool constant(const Operand& operand, Field field, DataType type, unsigned& code);
  /// Puts the constant after the instruction; `wide`: in 64 bits.
  bool literal(const Operand& operand, Field field, DataType type, bool wide);
  bool vcc(const Operand& operand, Field field);
  bool immediate(const Operand& operand, Field field, uint32_t most, uint32_t& value);
  bool data(const Operand& operand, Field field, Bits place);

  // Encodings.
  bool scalar_alu();
  bool vop1_or_vop2_or_vopc();
  bool vop3();
  bool vop3p();
  bool matrix();
  bool scaled_matrix();
  bool accumulator_apart();
  bool scaled_wmma();
  bool wmma_scales(unsigned position);
  bool vinterp();
  bool dual();
  /// Where a half has its fields.
  struct DualFields {
    Bits src0, src1, src2, neg;
  };
  /// Registers that a half reads and writes.
  struct DualRegisters {
    struct Tuple {  // of VGPRs
      int first = -1;
      unsigned words = 0;
    };
    Tuple dst;
    std::array<Tuple, 3> sources;
    std::vector<std::pair<unsigned, unsigned>> scalars;  // code and words of scalar sources
  };
  /// One half of a dual instruction, whose operands begin at `position`.
  bool dual_half(const InstructionRow& row, unsigned position, const DualFields& fields, DualRegisters& used);
  bool dual_registers(const DualRegisters& x, const DualRegisters& y);
  bool ldsdir();
  bool smem();
  bool ds();
  bool flat();
  bool buffer();
  bool image();
  bool tensor();
  bool image_sizes();
  bool exp();
  bool cache_policy();

  // Modifiers.
  bool no_modifiers();
  bool vop3_modifiers();
  bool vop3p_modifiers();
  bool extension();
  bool dpp_allowed();
  bool sdwa_word();
  bool dpp16_word();
  bool dpp8_word();
  bool dpp_control();

  // Operands.
  bool operands();
  const Operand* find(Field field) const;
  bool operand(const Operand& operand, Field field, DataType type);
  bool vector_operand(const Operand& operand, Field field, DataType type);
  bool vector_destination(const Operand& operand, Field field);
  bool comparison_destination(const Operand& operand, Field field);
  bool vector_source(const Operand& operand, Field field);
  bool first_source(const Operand& operand, Field field);
  bool second_source(const Operand& operand, Field field);
  bool third_source(const Operand& operand, Field field);
  bool vector_constant(const Operand& operand, Field field, DataType type);
  /// Whether the last operand of FLAT is a scalar base, which rows do not have.
  bool flat_has_base() const {
    return in_.encoding == Encoding::flat && layout_.flat_bases && in_.operand_count != 0 &&
           in_.operands[in_.operand_count - 1u].kind == OperandKind::scalar;
  }
  bool put_source0(unsigned code, Field field);
  bool put_source1(unsigned code, Field field);
  bool wmma_operand(const Operand& operand, Field field);
  bool matrix_operand(const Operand& operand, Field field);
  bool scalar_operand(const Operand& operand, Field field);
  bool memory_operand(const Operand& operand, Field field);
  bool flat_operand(const Operand& operand, Field field);
  bool buffer_operand(const Operand& operand, Field field);
  bool image_operand(const Operand& operand, Field field);
  bool resource(const Operand& operand, Field field, Bits place);

  const Instruction& in_;
  const CodeMap& codes_;
  const OpcodeMap& map_;
  const Layout& layout_;
  const target::Processor& processor_;
  const Format* format_ = nullptr;
  const InstructionRow* row_ = nullptr;
  OperandClass class_;
  std::array<uint32_t, max_words> words_{};
  unsigned count_ = 0;      // of words
  uint32_t extension_ = 0;  // the SDWA or DPP word
  bool has_literal_ = false, wide_literal_ = false;
  uint64_t literal_ = 0;
  int accumulation_ = -1;  // whether data operands are AGPRs; -1: there has been none
  std::string error_;
};

}  // namespace Atoll::isa

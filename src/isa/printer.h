// isa: the printer's inside, shared by print.cpp (mnemonic and operands), print_immediates.cpp and print_modifiers.cpp.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "isa/immediate_names.h"
#include "isa/instruction.h"
#include "isa/opcode_map.h"
#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::isa {

/// Prints one instruction; see print.h.
class Printer {
 public:
  Printer(const Instruction& instruction, const target::Processor& processor, std::string& text, uint8_t vgpr_banks = 0)
      : in_(instruction),
        map_(opcode_map_of(processor)),
        row_(map_.row(instruction.opcode)),
        processor_(processor),
        text_(text),
        vgpr_banks_(vgpr_banks) {}

  void run();

 private:
  void decimal(int64_t value) {
    char buffer[24];
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  void hexadecimal(uint64_t value) {
    char buffer[24];
    text_ += "0x";
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr);
  }
  void small_or_hexadecimal(uint64_t value) {
    if (value <= 64) {
      decimal(static_cast<int64_t>(value));
    } else {
      hexadecimal(value);
    }
  }
  void separator() {
    text_ += first_ ? " " : ", ";
    first_ = false;
  }
  void flag(bool is_set, std::string_view name) {
    if (is_set) (text_ += ' ') += name;
  }

  void suffix();
  void dual(std::span<const Opcode> halves, Opcode opcode, unsigned position);
  void operands();
  void scalar_offset();
  void export_operands();
  void scalar_with_immediate();
  void operand(const Operand& operand, const OperandSpec& spec);
  void value(const Operand& operand);
  void bank(const Operand& operand, const OperandSpec& spec);
  void registers(std::string_view file, unsigned first, unsigned count);
  void scalar_registers(const Operand& operand);
  void constant(const Operand& operand);
  DataType literal_type(const Operand& operand) const;
  bool could_be_inline(const Operand& operand) const;
  void literal(const Operand& operand);
  void wide_literal(const Operand& operand);
  void immediate();
  void hwreg();
  void waitcnt();
  void message();
  void message(unsigned value);
  void counters(std::span<const CounterField> all, std::string_view separator);
  void depctr();
  void delay();
  void version();
  void gpr_index();
  void byte_select();
  void select_list(const std::array<bool, 4>& all);

  void modifiers();
  void vector_modifiers();
  void truth_table();
  void scale_modifiers();
  void packed_modifiers();
  void matrix_modifiers();
  void sdwa();
  void dpp();
  void dpp8();
  void interpolation();
  void image_addresses();
  bool hidden(const Operand& operand, Field field) const;
  void list(std::string_view name, bool Operand::* member, bool usual, bool with_destination);
  void offset();
  void swizzle();
  void cache_policy();
  void temporal_hint();
  void typed_format();
  void unified_format();
  void dimension();

  const Instruction& in_;
  const OpcodeMap& map_;
  const InstructionRow& row_;
  const target::Processor& processor_;
  std::string& text_;
  uint8_t vgpr_banks_;
  bool first_ = true;
  bool behind_literal_ = false;  // of v_fmamk, whose second register stands for the third source
};

}  // namespace Atoll::isa

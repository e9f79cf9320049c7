// The words of instructions, from their fields (Vega ISA guide, "Microcode formats"); of scalar instructions and of
// vector instructions in 32 bits, later generations have the same.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "isa/encode.h"
#include "isa/table.h"
#include "target/target.h"

namespace Atoll::test {

/// Codes of operands (ISA guides, "Scalar operands"). VGPRs as sources are 256 and more.
namespace operand_code {
inline constexpr unsigned vcc = 106, m0 = 124, exec = 126, zero = 128, minus_one = 193, sdwa = 0xF9, dpp = 0xFA,
                          literal = 0xFF;
}

class Encoder {
 public:
  explicit Encoder(const target::Target& target) : target_(target) {}

  /// The opcode's number on this processor.
  uint32_t number(isa::Opcode opcode) const {
    return isa::row(opcode).opcodes.on(target_.processor->generation).opcode;
  }
  /// Returns the instruction on lane masks for the wave's size, given the one for 64 bits.
  isa::Opcode mask(isa::Opcode opcode) const {
    using enum isa::Opcode;
    constexpr std::pair<isa::Opcode, isa::Opcode> of_waves_of_32[] = {{s_mov_b64, s_mov_b32},
                                                                      {s_and_b64, s_and_b32},
                                                                      {s_or_b64, s_or_b32},
                                                                      {s_xor_b64, s_xor_b32},
                                                                      {s_andn2_b64, s_andn2_b32},
                                                                      {s_and_saveexec_b64, s_and_saveexec_b32},
                                                                      {s_andn2_saveexec_b64, s_andn2_saveexec_b32},
                                                                      {s_or_saveexec_b64, s_or_saveexec_b32},
                                                                      {s_xor_saveexec_b64, s_xor_saveexec_b32}};
    for (const auto& [wide, narrow] : of_waves_of_32) {
      if (target_.wave_size == 32 && opcode == wide) return narrow;
    }
    return opcode;
  }
  /// The words of an instruction with those operands, the results first.
  std::vector<uint32_t> words(isa::Opcode opcode, isa::Encoding encoding, unsigned results,
                              std::initializer_list<isa::Operand> operands, int32_t offset = 0) const {
    isa::Instruction instruction{.opcode = opcode, .encoding = encoding};
    instruction.generation = target_.processor->generation;
    instruction.lane_mask_words = static_cast<uint8_t>(target_.wave_size / 32);
    instruction.destinations = static_cast<uint8_t>(results);
    for (const isa::Operand& operand : operands) instruction.operands[instruction.operand_count++] = operand;
    instruction.offset = offset;
    const auto encoded = isa::encode(instruction, *target_.processor, target_.wave_size);
    if (!encoded) throw std::logic_error(encoded.error().message);
    std::vector<uint32_t> made(encoded->size / 4);
    std::memcpy(made.data(), encoded->bytes.data(), encoded->size);
    return made;
  }
  static isa::Operand vgpr(unsigned reg, unsigned words = 1) {
    return {.kind = isa::OperandKind::vgpr,
            .type = isa::DataType::b32,
            .words = static_cast<uint8_t>(words),
            .reg = static_cast<uint16_t>(reg)};
  }
  static isa::Operand scalar(unsigned reg, unsigned words = 1) {
    return {.kind = isa::OperandKind::scalar,
            .type = isa::DataType::b32,
            .words = static_cast<uint8_t>(words),
            .reg = static_cast<uint16_t>(reg)};
  }
  isa::Operand lane_mask(unsigned reg) const {
    isa::Operand operand = scalar(reg, target_.wave_size / 32);
    operand.type = isa::DataType::lane_mask;
    return operand;
  }
  static isa::Operand constant(uint64_t value) {
    return {.kind = isa::OperandKind::constant, .type = isa::DataType::b32, .value = value};
  }

  uint32_t sopp(isa::Opcode opcode, uint32_t immediate) const {
    return 0xBF800000 | number(opcode) << 16 | (immediate & 0xFFFF);
  }
  uint32_t sop1(isa::Opcode opcode, unsigned result, unsigned source) const {
    return 0xBE800000 | result << 16 | number(opcode) << 8 | source;
  }
  uint32_t sop2(isa::Opcode opcode, unsigned result, unsigned a, unsigned b) const {
    return 0x80000000 | number(opcode) << 23 | result << 16 | b << 8 | a;
  }
  uint32_t sopk(isa::Opcode opcode, unsigned result, uint32_t immediate) const {
    return 0xB0000000 | number(opcode) << 23 | result << 16 | (immediate & 0xFFFF);
  }
  uint32_t sopc(isa::Opcode opcode, unsigned a, unsigned b) const {
    return 0xBF000000 | number(opcode) << 16 | b << 8 | a;
  }
  uint32_t vop1(isa::Opcode opcode, unsigned result, unsigned source) const {
    return 0x7E000000 | number(opcode) << 9 | result << 17 | source;
  }
  bool has(isa::Opcode opcode) const { return number(opcode) != isa::Opcodes::none; }
  uint32_t vop2(isa::Opcode opcode, unsigned result, unsigned a, unsigned b) const {
    // GFX8 has additions with a carry alone.
    if (opcode == isa::Opcode::v_add_u32 && !has(opcode)) opcode = isa::Opcode::v_add_co_u32;
    return number(opcode) << 25 | result << 17 | b << 9 | a;
  }
  uint32_t vopc(isa::Opcode opcode, unsigned a, unsigned b) const {
    return 0x7C000000 | number(opcode) << 17 | b << 9 | a;
  }

 private:
  const target::Target target_;
};

}  // namespace Atoll::test

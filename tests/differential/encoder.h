// The words of GFX9 instructions, from their fields (Vega ISA guide, "Microcode formats").
#pragma once

#include <cstdint>

#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::test {

/// Codes of operands (ISA guides, "Scalar operands"). VGPRs as sources are 256 and more.
namespace operand_code {
inline constexpr unsigned vcc = 106, m0 = 124, exec = 126, zero = 128, minus_one = 193, sdwa = 0xF9, dpp = 0xFA,
                          literal = 0xFF;
}

class Encoder {
 public:
  explicit Encoder(const target::Processor& processor) : processor_(processor) {}

  /// The opcode's number on this processor.
  uint32_t number(isa::Opcode opcode) const { return isa::row(opcode).opcodes.on(processor_.generation).opcode; }

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
  uint32_t vop2(isa::Opcode opcode, unsigned result, unsigned a, unsigned b) const {
    return number(opcode) << 25 | result << 17 | b << 9 | a;
  }
  uint32_t vopc(isa::Opcode opcode, unsigned a, unsigned b) const {
    return 0x7C000000 | number(opcode) << 17 | b << 9 | a;
  }

 private:
  const target::Processor& processor_;
};

}  // namespace Atoll::test

// isa: the class of each operand: which registers and constants it may be, how wide it is, and how it is aligned.
//
// A class follows from the row, the encoding, the processor's encoding traits (Layout) and the modifiers that decide
// widths. The decoder, the encoder and the assembler read it, and a register allocator finds in it what it needs before
// registers are assigned. Limits that depend on several operands together (scalar inputs, the literals of one
// instruction) are not part of a class.
//
// tests/isa/operand_class_test.cpp compares classes with the register classes and operand types of LLVM's instruction
// descriptions.
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "isa/opcode_map.h"

namespace Atoll::isa {

struct OperandClass {
  // Registers.
  bool vgpr = false, agpr = false, scalar = false;
  bool half = false;        ///< one half of a VGPR, by name
  bool lane_mask = false;   ///< a bit per lane: VCC or, where `scalar` allows others, an SGPR tuple
  bool vcc = false;         ///< VCC and no other register
  bool m0 = false;          ///< M0 and no other register
  bool special = false;     ///< sources without a register number: VCCZ, SCC, apertures
  bool lds_direct = false;  ///< the LDS dword that M0 points to
  bool off = false;         ///< may be missing
  // Constants.
  bool inline_constant = false;
  bool literal = false;
  bool wide_literal = false;  ///< of 64 bits
  bool immediate = false;     ///< a number in a field of its own
  // Shape.
  DataType type = DataType::none;  ///< how it sees a constant
  uint8_t words = 0;               ///< registers; 0: none, or as many as the modifiers of an image say
  uint8_t vector_alignment = 1;    ///< divides the number of a tuple's first VGPR or AGPR
  uint8_t scalar_alignment = 1;    ///< ... SGPR, counted within its file

  constexpr bool is_register() const { return vgpr || agpr || scalar || vcc || m0; }
  constexpr bool is_constant() const { return inline_constant || literal || immediate; }
  friend constexpr bool operator==(const OperandClass&, const OperandClass&) = default;
};

/// Divides the number of the first of that many SGPRs. A tuple of three is aligned as one of four.
constexpr unsigned scalar_alignment(unsigned words) { return words >= 3 ? 4 : words == 0 ? 1 : words; }

/// Divides the number of the first of that many VGPRs or AGPRs.
constexpr unsigned vector_alignment(const Layout& layout, unsigned words) {
  return layout.even_tuples && words > 1 ? 2 : 1;
}

/// The class of the operand in that field of a row. `form` gives the encoding, the extension, and the modifiers that
/// decide widths: glc, lds, tfe, offen, idxen, addr64, cbsz and blgp. `based`: a FLAT or GLOBAL address is an offset
/// from a scalar base.
OperandClass operand_class(const OpcodeMap& map, const InstructionRow& row, const Instruction& form, Field field,
                           DataType type, bool based = false);

/// The class of an operand of an instruction; not of the second half of a dual instruction.
OperandClass operand_class(const OpcodeMap& map, const Instruction& instruction, unsigned operand);

}  // namespace Atoll::isa

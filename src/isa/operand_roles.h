// isa: the role of each operand of an instruction: definition, use, both, tied, early clobber.
//
// A register allocator reads the roles before registers are assigned, so they are facts of the row and the modifiers,
// not of register numbers. effects.h has the sets of registers of a finished instruction, implicit ones too.
//
// tests/isa/effects_test.cpp compares roles with the constraints of LLVM's instruction descriptions.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instruction.h"
#include "isa/table.h"

namespace Atoll::isa {

struct OperandRole {
  bool defines = false;
  bool uses = false;           ///< reads the register's old value; with `defines`, input and output share a register
  bool early_clobber = false;  ///< written before all sources are read: shares no register with a source
  constexpr bool is_tied() const { return defines && uses; }
  friend constexpr bool operator==(const OperandRole&, const OperandRole&) = default;
};

/// The roles of a decoded instruction's operands, in their order.
std::array<OperandRole, 8> operand_roles(const Instruction& instruction);

/// The role that a row gives the operand in one of its fields. Modifiers of a decoded instruction add uses: halves of
/// registers, DPP, SDWA's preserved part. `returns`: an atomic returns the old value.
OperandRole role_of(const InstructionRow& row, unsigned operand, bool returns, target::Generation generation);

/// Returns the opcode that computes the same with the first two sources exchanged (v_sub_f32 and v_subrev_f32),
/// or the opcode itself if they may be exchanged; Opcode::invalid if none exists.
Opcode reversed_form(Opcode opcode, target::Generation generation);

/// Returns the opcode that computes the same with the old destination as third source, or with a third source
/// instead of it (v_fmac_f32 and v_fma_f32); Opcode::invalid if none exists.
Opcode two_address_form(Opcode opcode, target::Generation generation);
Opcode three_address_form(Opcode opcode, target::Generation generation);

/// True if exchanging the first two operands of the operation leaves its result as it is.
bool is_commutative(Operation operation);

}  // namespace Atoll::isa

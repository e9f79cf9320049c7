// isa: the banks of 256 VGPRs that instructions of GFX12.5 name registers in (s_set_vgpr_msb).
//
// An instruction has 8 bits for a VGPR. The two above them are state of the wave: s_set_vgpr_msb gives them, for each
// role that an operand can have, two bits. Which operand has which role is LLVM's to say
// (getVGPRLoweringOperandTables).
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "isa/table.h"

namespace Atoll::isa {

/// The roles that s_set_vgpr_msb knows, in the order of its bits.
enum class BankRole : uint8_t { first, second, third, destination };

/// Returns the role of an operand for s_set_vgpr_msb, if it has one. For memory instructions, the address is the
/// first source, and data are the next ones. Stored data of buffers have the role of loaded data.
std::optional<BankRole> bank_role(Field field);

/// The bank of an operand in that field by what s_set_vgpr_msb said last. `behind_literal`: of v_fmamk, whose second
/// register stands for the third source.
unsigned bank_of(Field field, uint8_t banks, bool behind_literal);

/// Gives the VGPRs that an instruction names their numbers in the whole file.
void choose_banks(Instruction& instruction, uint8_t banks);

}  // namespace Atoll::isa

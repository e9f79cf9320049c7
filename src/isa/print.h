// isa: from Instruction to text, in LLVM's syntax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::isa {

/// "v_add_f32_e32 v0, s1, v2". Branches print their distance in instructions words as LLVM does without symbols.
std::string print(const Instruction& instruction, const target::Processor& processor);

/// Puts the same after a text. `vgpr_banks` is what s_set_vgpr_msb said last (GFX12.5), two bits for each role that
/// VGPRs have: first, second, third source, destination. Registers of another bank than the first are followed by their
/// numbers in the whole file, "v1 /*v257*/".
void append(std::string& text, const Instruction& instruction, const target::Processor& processor,
            uint8_t vgpr_banks = 0);

/// "v_add_f32": the name of the opcode's row, alone.
std::string_view mnemonic(Opcode opcode);

}  // namespace Atoll::isa

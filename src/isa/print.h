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

/// Puts the same behind a text.
void append(std::string& text, const Instruction& instruction, const target::Processor& processor);

/// "v_add_f32": the name of the opcode's row, alone.
std::string_view mnemonic(Opcode opcode);

}  // namespace Atoll::isa

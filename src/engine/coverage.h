// engine: which instructions are executed, and why the others are not: for lists (`atoll isa`, docs/isa.md) and for the
// tests that compare the reasons given here with what is prepared.
#pragma once

#include <optional>

#include "isa/instruction.h"
#include "isa/opcode.h"
#include "isa/table.h"
#include "target/processor.h"
#include "target/target.h"

namespace Atoll::engine {

/// Whether the engines execute code of that processor at all.
bool executes(const target::Processor& processor);

/// An instruction of that opcode as the processor has it, with operands as they come; nothing if it has none, or none
/// was found.
std::optional<isa::Instruction> sample_instruction(const target::Processor& processor, isa::Opcode opcode);

/// Whether an instruction that the target has is one that the interpreter has a handler for. Instances of it are made
/// and prepared, so this takes some time.
bool executes(const target::Target& target, isa::Opcode opcode);

/// Why an instruction is not executed on processors whose code is; null if it has to be.
const char* reason_not_executed(const isa::InstructionRow& row, const target::Target& target);

}  // namespace Atoll::engine

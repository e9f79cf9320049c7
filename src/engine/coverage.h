// engine: which instructions are executed, and why others are not. Used by `atoll isa`, docs/isa.md, and tests that
// compare these reasons with what is prepared.
#pragma once

#include <optional>

#include "isa/instruction.h"
#include "isa/opcode.h"
#include "isa/table.h"
#include "target/processor.h"
#include "target/target.h"

namespace Atoll::engine {

/// Returns whether the engines execute code of that processor.
bool executes(const target::Processor& processor);

/// Returns an instruction with that opcode and arbitrary operands, or nullopt if the processor has none.
std::optional<isa::Instruction> sample_instruction(const target::Processor& processor, isa::Opcode opcode);

/// Returns whether the interpreter has a handler for an instruction of the target. Slow: constructs and prepares
/// samples.
bool executes(const target::Target& target, isa::Opcode opcode);

/// Returns why an instruction is not executed on processors that run code; null if it has to be executed.
const char* reason_not_executed(const isa::InstructionRow& row, const target::Target& target);

}  // namespace Atoll::engine

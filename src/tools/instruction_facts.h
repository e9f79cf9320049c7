// tools: what the instruction table says of an instruction on a processor, and of all processors together, for
// `atoll isa` and the documents that list instructions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/latency.h"
#include "isa/opcode.h"
#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::tools {

/// One way in which an instruction is encoded: "VOP3" and its opcode there.
struct EncodingFact {
  std::string_view encoding;
  unsigned opcode = 0;
  std::string note{};  ///< of dual instructions: their name, and which half it can be
  friend bool operator==(const EncodingFact&, const EncodingFact&) = default;
};

struct OperandFact {
  std::string_view field;    ///< "vdst"
  std::string_view type;     ///< "f32"
  std::string_view accepts;  ///< "VGPR, SGPR or constant"
  unsigned bits = 0;
  bool written = false;
  friend bool operator==(const OperandFact&, const OperandFact&) = default;
};

/// An instruction as one processor has it.
struct InstructionFacts {
  std::string_view name;
  std::vector<EncodingFact> encodings;
  std::vector<OperandFact> operands;
  std::vector<std::string_view> modifiers;      ///< "neg", "clamp", "sdwa", ...
  std::vector<std::string_view> reads, writes;  ///< without naming them: "SCC", "EXEC", "MODE", ...; memory
  std::string_view unit, latency_class;
  isa::Timing timing;
};

/// Returns the opcodes with that name, on any generation. A suffix for the encoding (_e32, _e64, _sdwa, _dpp) is
/// ignored, and v_dual_ selects halves of dual instructions.
std::vector<isa::Opcode> find_instructions(std::string_view name);

/// Returns the names on any generation that begin with `prefix`, each once, in alphabetical order.
std::vector<std::string_view> names_with_prefix(std::string_view prefix);

/// Names that are like one that there is not, the most alike first.
std::vector<std::string> similar_names(std::string_view name);

/// Whether the processor has the instruction, and what it is called there.
std::optional<std::string_view> name_on(const target::Processor& processor, isa::Opcode opcode);
/// All that it has, in the table's order.
std::vector<isa::Opcode> instructions_of(const target::Processor& processor);

std::vector<EncodingFact> encodings_on(const target::Processor& processor, isa::Opcode opcode);
/// Returns the facts on a processor that has the instruction.
InstructionFacts facts_on(const target::Processor& processor, isa::Opcode opcode);

/// "gfx900 to gfx909, gfx942": processors, with runs of the processor table joined.
std::string processor_ranges(const std::vector<const target::Processor*>& processors);

}  // namespace Atoll::tools

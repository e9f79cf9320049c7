// debug_info: disassembles the instruction at an address, and combines it with what the symbolizer finds.
#include "debug_info/code_address.h"

#include "isa/decode.h"
#include "isa/print.h"

namespace Atoll::debug_info {

std::optional<isa::Instruction> instruction_at(std::span<const uint8_t> code, const target::Processor& processor,
                                               unsigned wave_size) {
  const auto decoded =
      isa::decode(code.first(std::min<size_t>(code.size(), max_instruction_bytes)), processor, wave_size);
  return decoded ? std::optional(*decoded) : std::nullopt;
}

std::string instruction_text(std::span<const uint8_t> code, const target::Processor& processor, unsigned wave_size) {
  const auto instruction = instruction_at(code, processor, wave_size);
  return instruction ? isa::print(*instruction, processor) : std::string();
}

std::string CodeAddress::instruction() const {
  if (symbolizer == nullptr) return {};
  return instruction_text(std::span(bytes).first(byte_count), *processor, wave_size);
}

CodePlace CodeAddress::resolve() const {
  if (symbolizer == nullptr) return {};
  return {.function = symbolizer->function_at(pc), .instruction = instruction(), .source = symbolizer->source_at(pc)};
}

}  // namespace Atoll::debug_info

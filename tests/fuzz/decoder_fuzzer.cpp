// Input: a processor, a wave size, and code.
#include "assembler/disassembly/disassembly.h"
#include "fuzz/fuzzer.h"
#include "isa/decode.h"
#include "isa/encode.h"
#include "isa/print.h"

using namespace Atoll;
using test::require;

namespace {

/// The encoder's output for an instruction must decode to the same text.
void check_encoding(const isa::Instruction& instruction, const target::Processor& processor, unsigned wave_size) {
  const auto encoded = isa::encode(instruction, processor, wave_size);
  if (!encoded) return;
  const auto again = isa::decode(encoded->view(), processor, wave_size);
  require(again.has_value(), "what is encoded can be decoded");
  require(again->size == encoded->size, "it is decoded whole");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const target::Processor& processor = test::processor_of(data[0]);
  const unsigned wave_size = data[1] % 3 * 32;
  if (wave_size != 0 && (processor.wave_sizes & wave_size / 32) == 0) return 0;
  const std::span<const uint8_t> code(data + 2, size - 2);

  if (const auto instruction = isa::decode(code, processor, wave_size)) {
    require(instruction->size > 0 && instruction->size <= code.size(), "an instruction has bytes that are there");
    require(instruction->operand_count <= instruction->operands.size(), "there are as many operands as counted");
    require(!isa::print(*instruction, processor).empty(), "an instruction has a text");
    check_encoding(*instruction, processor, wave_size);
  }

  const auto section = assembler::disassemble(code, processor, wave_size, 0x1000);
  uint64_t address = 0x1000;
  for (const assembler::Line& line : section.lines) {
    require(line.address == address && line.size > 0, "lines follow each other");
    address += line.size;
  }
  require(address == 0x1000 + code.size(), "lines cover the code");
  std::string text;
  append_text(text, section, true);
  test::touch(text);
  return 0;
}

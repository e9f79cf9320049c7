// Input: an ELF file. Read as a code object, as a file that is shown, and disassembled.
#include "object/code_object.h"

#include "assembler/disassembly/disassembly.h"
#include "fuzz/fuzzer.h"
#include "object/elf_file.h"
#include "object/metadata.h"
#include "object/relocation_type.h"
#include "support/bytes.h"

using namespace Atoll;
using test::require;
using test::touch;

namespace {

void follow(const object::CodeObject& code) {
  for (const object::Segment& segment : code.segments) {
    touch(segment.bytes);
    require(segment.bytes.size() <= segment.memory_size, "a segment's bytes fit in its memory");
    require(segment.address + segment.memory_size <= code.memory_size, "segments lie in the image");
  }
  for (const object::Symbol& symbol : code.symbols) touch(symbol.name);
  for (const object::Symbol& symbol : code.functions) touch(symbol.name);
  for (const object::Relocation& relocation : code.relocations) {
    require(relocation.offset + object::relocated_bytes(relocation.type) <= code.memory_size,
            "relocations lie in the image");
    require(relocation.symbol == 0 || relocation.symbol < code.symbols.size(), "relocations name symbols");
  }
  for (const object::KernelMetadata& kernel : code.metadata.kernels) code.find_symbol(kernel.symbol);
}

void follow(const object::ElfFile& file) {
  for (const object::ElfSection& section : file.sections) {
    touch(section.name);
    touch(section.bytes);
    if (section.header.sh_type == SHT_SYMTAB || section.header.sh_type == SHT_DYNSYM) {
      if (const auto symbols = object::read_symbols(file, section))
        for (const object::ElfSymbol& symbol : *symbols) touch(symbol.name);
    }
    if (section.header.sh_type == SHT_RELA) static_cast<void>(object::read_relocations(section));
  }
  for (const object::ElfNote& note : object::read_notes(file)) {
    touch(note.owner);
    touch(note.description);
  }
  static_cast<void>(object::read_metadata(file));
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  if (const auto code = object::read_code_object(bytes)) follow(*code);
  static_cast<void>(object::read_target(bytes));
  static_cast<void>(object::elf_image_size(bytes));
  if (const auto file = object::read_elf_file(bytes)) follow(*file);
  if (const auto sections = assembler::disassemble(bytes)) {
    for (const assembler::DisassembledSection& section : *sections) {
      std::string text;
      append_text(text, section, true);
      touch(text);
    }
  }
  return 0;
}

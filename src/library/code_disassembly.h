// library: a code object as text, with what its metadata says of the kernels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assembler/disassembly/disassembly.h"
#include "object/bundle.h"
#include "object/metadata.h"
#include "support/error.h"

namespace Atoll::library {

/// One code object, all but its text.
struct DisassembledCode {
  std::vector<assembler::DisassembledSection> sections;
  object::Metadata metadata;
};

/// All of it, or, if a name is given, this kernel. The error is of kind not_found if the kernel is not in it.
support::Result<DisassembledCode> disassemble(const object::FoundCodeObject& code, const std::string& kernel);

/// Options for what is printed beside the instructions.
struct ListingOptions {
  bool bytes = false;   ///< address and bytes after each instruction
  bool source = false;  ///< source lines before their instructions, where there is debug information
};

/// Appends the text: where the code object is, what it is for, and its sections, with remarks on its kernels. `flush`
/// as in assembler::append_text.
void append_text(std::string& out, DisassembledCode& code, const object::FoundCodeObject& from,
                 const ListingOptions& options, const std::function<void(std::string&)>& flush = {});

}  // namespace Atoll::library

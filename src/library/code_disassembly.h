// library: disassembles a code object, with remarks from its kernels' metadata.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assembler/disassembly/disassembly.h"
#include "object/bundle.h"
#include "object/metadata.h"
#include "support/error.h"

namespace Atoll::library {

/// A decoded code object, ready to be printed.
struct DisassembledCode {
  std::vector<assembler::DisassembledSection> sections;
  object::Metadata metadata;
};

/// Decodes the code object, or one kernel of it. ErrorKind::not_found if the kernel does not exist.
support::Result<DisassembledCode> disassemble(const object::FoundCodeObject& code, const std::string& kernel);

/// Options of the listing.
struct ListingOptions {
  bool bytes = false;   ///< print address and bytes after each instruction
  bool source = false;  ///< print source lines before their instructions, if there is debug information
};

/// Appends the listing: origin and target of the code object, and its sections with remarks on kernels. `flush`: see
/// assembler::append_text.
void append_text(std::string& out, DisassembledCode& code, const object::FoundCodeObject& from,
                 const ListingOptions& options, const std::function<void(std::string&)>& flush = {});

}  // namespace Atoll::library

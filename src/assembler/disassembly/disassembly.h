// assembler: disassembles machine code.
//
// A section is decoded once from start to end. The text of all instructions is in one buffer, with a Line for each.
// Branch targets are known afterwards: they get labels L0, L1, ... in address order unless they have symbols.
// append_text() combines headings, labels and texts; callers that need another form iterate over the lines. The text is
// that of llvm-objdump.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "target/processor.h"

namespace Atoll::assembler {

/// What a stretch of bytes is.
struct Line {
  enum class Kind : uint8_t {
    instruction,
    unknown,  ///< no instruction has these bytes: they are printed as data
    omitted   ///< printed as "...": eight zeros or more, or what describes a kernel of V2
  };
  uint64_t address;
  uint32_t size;      ///< in bytes
  uint32_t text_end;  ///< in DisassembledSection::text; the text begins where the line's before ends
  Kind kind;
};

/// A symbol or a label. Of several symbols with one address one is listed, a function rather than another.
struct Heading {
  uint64_t address;
  std::string name;
  bool is_label;   ///< made up, for a branch
  bool is_kernel;  ///< there is a kernel descriptor
  /// A comment that is printed below the heading.
  std::string remark = {};
};

/// A branch with an immediate distance. Its text lacks the last operand, which is `name`.
struct Branch {
  uint32_t line;
  uint64_t target;
  std::string name;  ///< of a label or a symbol; the distance in words if there is neither
};

/// What an instruction calls, jumps to, completes the address of, or, in a relocatable, what its relocation is.
struct Remark {
  uint32_t line;
  std::string text;  ///< "<helper>", "<table+0x10>", "R_AMDGPU_REL32_LO helper+0x4"
};

struct DisassembledSection {
  std::string_view name;
  std::span<const uint8_t> bytes;  ///< of the section
  uint64_t address = 0;            ///< of the first of them
  std::string text;
  std::vector<Line> lines;
  std::vector<Heading> headings;  ///< by address, several may have the same one
  std::vector<Branch> branches;   ///< by line
  std::vector<Remark> remarks;    ///< by line
};

/// All sections with code of a code object or relocatable. With `only`, the symbol of that name alone. Kernels are
/// decoded in the wave size of their descriptors, other functions in that of the kernels around them. `code_object`
/// must outlive the result.
support::Result<std::vector<DisassembledSection>> disassemble(std::span<const uint8_t> code_object,
                                                              std::string_view only = {});

/// Bytes that are code and nothing else, the first of them at that address.
DisassembledSection disassemble(std::span<const uint8_t> code, const target::Processor& processor, unsigned wave_size,
                                uint64_t address);

/// Appends the text. With `bytes`, each line has a comment with its address and bytes, as llvm-objdump -d prints it.
/// `flush`, if there is one, is given the text whenever there is a good deal of it, and may take it away.
/// `before_line`, if there is one, may append lines before that of the instruction at an address.
void append_text(std::string& out, const DisassembledSection& section, bool bytes,
                 const std::function<void(std::string&)>& flush = {},
                 const std::function<void(std::string&, uint64_t)>& before_line = {});

}  // namespace Atoll::assembler

// observe: checkers observe a machine (machine/observer.h) and report findings.
//
// This file defines a finding: one mistake of the program, reported once even if it occurs repeatedly. Checkers give it
// the addresses of instructions. Their places are looked up when it is reported (resolve()).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "debug_info/code_address.h"

namespace Atoll::observe {

/// A place in a source file, as far as debug information has it.
struct SourcePlace {
  std::string file;  ///< empty: unknown
  uint32_t line = 0, column = 0;

  /// Parses "dir/file.hip:12:5" or "dir/file.hip:12", the form of debug_info/line_table.h.
  static SourcePlace parse(const std::string& text);
  std::string to_string() const;
};

/// A host call stack as text, innermost frame first, or the place of another instruction.
struct NamedStack {
  std::string title;  ///< "allocated", "freed"
  std::vector<std::string> frames{};
  debug_info::CodeAddress code{};  ///< of the other instruction
  /// Makes the frames from the place of `code` when the finding is reported. Empty for host stacks.
  std::function<std::vector<std::string>(const debug_info::CodePlace&)> describe{};
};

struct Finding {
  std::string checker{};  ///< "memory"
  std::string kind{};     ///< "out-of-bounds"
  bool is_note = false;
  std::string message{};  ///< what happened, in one line

  // The place in a kernel. Empty and 0 if the host made the mistake. resolve() determines the others from `code`.
  debug_info::CodeAddress code{};
  std::string kernel{};       ///< demangled
  std::string function{};     ///< function around the instruction, if it is not the kernel
  std::string instruction{};  ///< as text
  uint64_t pc = 0;
  SourcePlace source{};
  std::vector<std::string> source_text{};  ///< lines around it with their numbers, the line itself marked
  uint32_t work_group[3]{}, work_item[3]{};
  uint32_t wave = 0, lane = 0;
  bool has_work_item = false;

  std::string address{};  ///< the address and what is at or next to it; empty if irrelevant
  std::vector<NamedStack> stacks{};
  std::string advice{};  ///< how to fix it

  uint64_t count = 1;  ///< occurrences: lanes, copies or allocations
};

/// Looks up the places of the finding's instructions. Slow: disassembles and reads DWARF.
void resolve(Finding& finding);

/// Formats the report as text: several lines, each with its newline.
std::string to_text(const Finding& finding);

/// Returns the lines around a source line, or nothing if the file cannot be read.
std::vector<std::string> text_around(const SourcePlace& place);

}  // namespace Atoll::observe

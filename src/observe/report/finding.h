// observe: checkers that watch a machine (machine/observer.h), and what they have to say.
//
// This file: a finding, which is one mistake of the program's, told once however often it is made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace Atoll::observe {

/// A place in a source file, as far as debug information says it.
struct SourcePlace {
  std::string file;  ///< empty: unknown
  uint32_t line = 0, column = 0;

  /// Parses "dir/file.hip:12:5" or "dir/file.hip:12", the form of debug_info/line_table.h.
  static SourcePlace parse(const std::string& text);
  std::string to_string() const;
};

/// Calls of the host's, innermost first, in words.
struct NamedStack {
  std::string title;  ///< "allocated", "freed"
  std::vector<std::string> frames;
};

struct Finding {
  std::string checker{};  ///< "memory"
  std::string kind{};     ///< "out-of-bounds"
  bool is_note = false;
  std::string message{};  ///< what happened, in one line

  // Where, in a kernel. Empty and 0 for what the host did.
  std::string kernel{};       ///< demangled
  std::string function{};     ///< around the instruction, when that is not the kernel itself
  std::string instruction{};  ///< as text
  uint64_t pc = 0;
  SourcePlace source{};
  std::vector<std::string> source_text{};  ///< lines around it with their numbers, the line itself marked
  uint32_t work_group[3]{}, work_item[3]{};
  uint32_t wave = 0, lane = 0;
  bool has_work_item = false;

  std::string address{};  ///< the address, and what lies there or next to it; empty where it is of no matter
  std::vector<NamedStack> stacks{};
  std::string advice{};  ///< what to do about it

  uint64_t count = 1;  ///< how often: lanes that did it, copies, allocations
};

/// The report for a person: several lines, each ended.
std::string to_text(const Finding& finding);

/// The lines around one of a source file, if the file can be read.
std::vector<std::string> text_around(const SourcePlace& place);

}  // namespace Atoll::observe

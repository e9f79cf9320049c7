// Where LLVM 22 is not what to compare with: the entries of oracle_faults.txt and, for processors that it does not
// disassemble, of assembler_faults.txt.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "isa/oracle.h"

namespace Atoll::isa::test {

/// One entry of oracle_faults.txt.
struct Fault {
  std::string processor;  ///< of the sample
  Bytes sample;
  std::string answer;  ///< what the oracle makes of the sample; "refused", or "crash" (not tried again)
  /// Whose text the expression is for: "oracle", "atoll"; "none" if patterns avoid the fault; "assembler": it is for
  /// the text that is assembled, and `answer` is the bytes, as they stand in the file, or "refused"; "text": the same,
  /// of texts that do not say all that was in the bytes, which concerns the encoder alone.
  std::string whose;
  std::regex expression;  ///< matched with "processor text"
  std::string reason;
};

std::vector<Fault> read_faults();

/// Whether an entry covers texts that differ.
bool is_known(const std::vector<Fault>& faults, const std::string& processor, const std::string& oracle,
              const std::string& atoll);

/// Whether an entry says that the oracle does not assemble the text to what it should.
bool is_known_of_assembler(const std::vector<Fault>& faults, const std::string& processor, const std::string& text);

/// As above, or the text lacks part of the bytes' information.
bool is_known_of_encoder(const std::vector<Fault>& faults, const std::string& processor, const std::string& text);

/// One entry of assembler_faults.txt: text that llvm-mc-22 refuses or changes.
struct AssemblerFault {
  std::string processor, text;  ///< a sample
  std::string answer;           ///< what the oracle makes of it: its error, or the text that it prints
  std::regex expression;        ///< matched with "processor text => answer"
  std::string reason;
};

std::vector<AssemblerFault> read_assembler_faults();
/// The entries of text_faults.txt: texts that llvm-mc-22 refuses or takes wrongly.
std::vector<AssemblerFault> read_text_faults();

/// The oracle's answer to the text: its error, or the text that it prints.
std::string said(const Assembled& answer);

/// Whether an entry covers that the oracle says that of the text.
bool is_known(const std::vector<AssemblerFault>& faults, const std::string& processor, const std::string& text,
              const Assembled& answer);

/// A number from an environment variable, `usual` if it is not set.
unsigned from_environment(const char* name, unsigned usual);

}  // namespace Atoll::isa::test

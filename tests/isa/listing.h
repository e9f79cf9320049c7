// Files whose instructions llvm-objdump-22 lists, compared with Atoll: its text and size of every instruction must be
// the same, and its encoder must give back the bytes, or, where the compiler wrote bits that the text does not say,
// those to which llvm-mc-22 assembles the text. Code that llvm-objdump-22 does not know is listed by Atoll, and the
// text is the oracle's if it assembles Atoll's to the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/oracle.h"
#include "target/processor.h"

namespace Atoll::isa::test {

struct ListedInstruction {
  std::string text;  ///< single-spaced
  Bytes bytes;
};

class ListingComparison {
 public:
  uint64_t instructions = 0;
  uint64_t other_texts = 0;      ///< not printed as by the oracle
  uint64_t not_as_compiled = 0;  ///< not assembled to what was compiled, but as by the oracle
  uint64_t other_bytes = 0;      ///< assembled to something else

  /// Reads a file's listing, until there have been so many instructions; differences are failures of the test.
  void read(const std::string& file, const target::Processor& processor, uint64_t most = UINT64_MAX);
  /// Compares text that Atoll does not assemble to the compiled bytes with the oracle's assembler. Call after
  /// the last file.
  void ask_assembler(const target::Processor& processor);

 private:
  void read_assembled(const std::string& file, const target::Processor& processor);
  /// Prints it, and adds that to the text.
  void compare(const ListedInstruction& listed, const target::Processor& processor);
  /// Assembles the text.
  void reassemble(const target::Processor& processor);

  std::string text_;                                             // of the file, an instruction a line
  Bytes compiled_;                                               // its bytes
  std::vector<uint8_t> sizes_;                                   // of the instructions
  std::map<std::string, std::pair<Bytes, uint64_t>> otherwise_;  // Atoll's bytes, and how many there are
};

}  // namespace Atoll::isa::test

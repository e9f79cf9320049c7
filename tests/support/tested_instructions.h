// For docs/isa.md: which instructions the tests compare with a reference. Where tests run one instruction they note it
// here; with ATOLL_TESTED_INSTRUCTIONS=FILE, a test program adds a line to the file for each when it ends:
//
//   REFERENCE GENERATION INSTRUCTION
//
// `make tested-instructions` collects the lines of all programs in tests/tools/tested_instructions.txt.
#pragma once

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::test {

/// What its results are compared with.
enum class TestedBy : uint8_t {
  pseudocode,  ///< the vendor's pseudo-code (tests/semantics/pseudocode.h)
  arithmetic,  ///< arithmetic of the host, or bit by bit
  engine,      ///< whichever, the instruction being executed by an engine, with its operands and modifiers
};

inline void note_tested(TestedBy by, isa::Opcode opcode, target::Generation generation) {
  struct Notes {
    std::mutex mutex;
    std::set<std::tuple<TestedBy, target::Generation, isa::Opcode>> all;
    ~Notes() {
      const char* path = std::getenv("ATOLL_TESTED_INSTRUCTIONS");
      if (path == nullptr) return;
      std::ofstream file(path, std::ios::app);
      constexpr std::string_view references[] = {"pseudocode", "arithmetic", "engine"};
      for (const auto& [reference, on, instruction] : all) {
        file << references[static_cast<size_t>(reference)] << ' ' << static_cast<unsigned>(on) << ' '
             << isa::row(instruction).name << '\n';
      }
    }
  };
  static Notes notes;
  const std::lock_guard lock(notes.mutex);
  notes.all.emplace(by, generation, opcode);
}

}  // namespace Atoll::test

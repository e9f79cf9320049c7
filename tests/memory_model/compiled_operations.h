// What clang 22 makes of every memory operation: LLVM IR with all of them, compiled for a target, and for each the
// instructions that the memory model is about.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "memory_model/sequence.h"

namespace Atoll::test {

struct CompiledTarget {
  std::string processor, options;  ///< of clang: "-mcumode"
  memory_model::Placement placement;
  std::string name() const;  ///< "gfx1030_cumode"
};
inline void PrintTo(const CompiledTarget& target, std::ostream* out) { *out << target.name(); }

/// Waits for counters to be zero, and the instruction after them; the last one is empty: what is waited for at the end.
struct Slot {
  memory_model::Counters waits = 0;
  std::string instruction;  ///< mnemonic and cache policy
  bool operator==(const Slot&) const = default;
};
using Slots = std::vector<Slot>;

Slots slots_of(const std::vector<memory_model::Step>& steps);

/// By operation, as to_string() has it. Operations that the target has not are left out. Empty if clang fails.
std::map<std::string, Slots> compile_operations(const CompiledTarget& target,
                                                const std::vector<memory_model::Operation>& operations);

/// In words what the compiled code does and the table does not say, or the other way round; one entry for each
/// difference.
std::vector<std::string> differences(const memory_model::Generation& generation, const Slots& table,
                                     const Slots& compiled);

}  // namespace Atoll::test

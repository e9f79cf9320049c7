// compiler: estimates from the control flow which code is hot.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

/// When a region is versioned (lowering/versioning.h).
enum class Versioning : uint8_t {
  never,          ///< cold code
  for_one_loop,   ///< to merge two loops: where it is hot, and otherwise when the checks cost nearly what they save
  for_addresses,  ///< also without merging loops
};

class Hotness {
 public:
  /// `fast_compile`: prefer compile time over speed outside loops.
  Hotness(const engine::ControlFlow& flow, bool fast_compile);

  bool fast_compile() const { return fast_compile_; }
  /// Returns whether the block should be optimised for speed rather than size.
  bool is_hot(uint64_t pc) const { return !fast_compile_ || is_in_short_loop(pc); }
  /// Returns the versioning of the code that begins with the block. Strides are tracked only while EXEC is unchanged,
  /// so if they matter, a region ends at each condition.
  Versioning versioning(uint64_t pc) const;

  /// A back edge.
  struct BackBranch {
    uint64_t from = 0, to = 0;
  };

 private:
  bool is_in_short_loop(uint64_t pc) const;

  const bool fast_compile_;
  const std::vector<BackBranch> back_branches_;  ///< if there are any, code outside loops matters little
};

}  // namespace Atoll::compiler

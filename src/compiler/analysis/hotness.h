// compiler: which code is run often, as far as its control flow tells.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compiled/control_flow.h"

namespace Atoll::compiler {

/// When a region has two forms (lowering/versioning.h).
enum class Versioning : uint8_t {
  never,          ///< it is not run often
  for_one_loop,   ///< rather than two: where it is run often, and otherwise the looks would cost nearly what they save
  for_addresses,  ///< also where that saves no loop
};

class Hotness {
 public:
  /// `fast_compile`: what is not in a loop may be slower if it is the sooner compiled.
  Hotness(const engine::ControlFlow& flow, bool fast_compile);

  bool fast_compile() const { return fast_compile_; }
  /// Whether the block is worth code that is quick rather than short.
  bool is_hot(uint64_t pc) const { return !fast_compile_ || is_in_short_loop(pc); }
  /// Of the code that begins with the block. Strides are followed as long as EXEC stays what it is, so where they
  /// matter a region ends at each condition.
  Versioning versioning(uint64_t pc) const;

  /// The branch at the end of a loop's round.
  struct BackBranch {
    uint64_t from = 0, to = 0;
  };

 private:
  bool is_in_short_loop(uint64_t pc) const;

  const bool fast_compile_;
  const std::vector<BackBranch> back_branches_;  ///< where there is one, what is outside of loops matters little
};

}  // namespace Atoll::compiler

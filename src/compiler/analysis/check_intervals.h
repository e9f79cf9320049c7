// compiler: splits a block into check intervals, between which code checks for undefined values
// (lowering/undefined_value_checks.h).
//
// All instructions of an interval execute under the same EXEC, and none uses another one's loaded value. If everything
// that the interval reads is defined, so is everything that it writes, except loaded values. Instructions executed by
// the interpreter's handlers form intervals of their own, because the handlers report them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "engine/compiled/control_flow.h"
#include "machine/wave/undefined_registers.h"

namespace Atoll::compiler {

/// A check interval: from an instruction of the block to the next interval.
struct CheckInterval {
  size_t first = 0;
  bool must_report = false;  ///< executed by the interpreter's handler; the following members are empty
  bool accesses = false;
  /// Registers read before the interval writes them. Vector registers are read in the lanes of EXEC, or in all lanes.
  ScalarSet scalar_reads{}, scalar_writes{};
  VectorSet reads{}, reads_all{}, writes{};
  /// Registers that may be undefined at the start, because their results are not used in the interval.
  std::vector<machine::UpperHalf> upper_halves{};
};

/// `lane_mask_words`: number of registers in a lane mask. `must_report`: returns whether the interpreter's handler
/// executes an instruction.
std::vector<CheckInterval> check_intervals_of(const engine::Block& block, unsigned lane_mask_words,
                                              const std::function<bool(const isa::Instruction&)>& must_report);

}  // namespace Atoll::compiler

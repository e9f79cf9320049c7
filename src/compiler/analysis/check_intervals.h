// compiler: stretches of a block between which it is looked at whether what is read is defined
// (lowering/undefined_value_checks.h).
//
// All instructions of a stretch are executed under the same EXEC, and none needs what another one loads: of what a
// stretch writes nothing is undefined then if all is defined that it reads, but for what it loads. What the
// interpreter's handlers execute is a stretch of its own, since they tell of it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "engine/compiled/control_flow.h"
#include "machine/wave/undefined_registers.h"

namespace Atoll::compiler {

/// A stretch, from an instruction of the block up to the next stretch.
struct CheckInterval {
  size_t first = 0;
  bool must_report = false;  ///< by the interpreter's handler; then what follows is empty
  bool accesses = false;
  /// What is read before the stretch has written it; of vector registers the lanes that EXEC has, or all.
  ScalarSet scalar_reads{}, scalar_writes{};
  VectorSet reads{}, reads_all{}, writes{};
  /// Those that may be undefined when the stretch begins, as nothing in it uses what comes of them.
  std::vector<machine::UpperHalf> upper_halves{};
};

/// `lane_mask_words`: registers that a lane mask fills. `must_report`: whether the interpreter's handler executes an
/// instruction.
std::vector<CheckInterval> check_intervals_of(const engine::Block& block, unsigned lane_mask_words,
                                              const std::function<bool(const isa::Instruction&)>& must_report);

}  // namespace Atoll::compiler

// compiler: matrix instructions, which the engine executes for whole waves (engine/interpreter/matrix.h).
//
// They are part of a region like stores that are deferred (deferred_stores.h): after its loop, from the rows of the
// wave. Kernels sum up in a few sets of registers in turn and load what comes next in between; so, where their order
// does not matter, those that add to the same registers are done one after the other by one call, which keeps the sums
// in the host's registers. Of WMMA and SWMMAC a call takes all that follow each other, as they have sources in common,
// unless one reads what another one makes.
#pragma once

#include <span>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"
#include "compiler/lowering/region_item.h"

namespace Atoll::compiler {

class MatrixLowering {
 public:
  /// Notes in `helper_pcs` which instructions it takes, whose numbers count from `first_helper`.
  MatrixLowering(Frame& frame, std::vector<uint64_t>& helper_pcs, uint64_t first_helper)
      : frame_(frame), helper_pcs_(helper_pcs), first_helper_(first_helper) {}

  /// Whether it is a matrix instruction, and all that it reads are rows and constants, or scalars that are scales.
  static bool takes(const isa::Instruction& instruction);
  /// Whether it reads scalar registers, as they are in the wave when it is executed.
  static bool reads_scalars(const isa::Instruction& instruction);

  /// Instructions in the order in which they are to be executed: those that add to the same registers, and those that
  /// are executed by one call.
  using Chain = std::vector<const RegionItem*>;
  static std::vector<Chain> chains(std::span<const RegionItem> items);
  static std::vector<Chain> calls(std::span<const RegionItem> items);

  /// Executes those of `items` that are matrix instructions.
  void emit(std::span<const RegionItem> items);

 private:
  Frame& frame_;
  std::vector<uint64_t>& helper_pcs_;
  const uint64_t first_helper_;
};

}  // namespace Atoll::compiler

// compiler: matrix instructions, which the engine executes for whole waves (engine/interpreter/matrix.h).
//
// Like deferred stores (deferred_stores.h) they are executed after the region's loop, on the wave's rows. Kernels
// interleave accumulation in several register sets with loads. If the order does not matter, instructions that
// accumulate into the same registers are therefore combined into one call, which keeps the sums in host registers. A
// call of WMMA or SWMMAC takes all consecutive ones, because they share sources, unless one reads another's result.
#pragma once

#include <span>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"
#include "compiler/lowering/region_item.h"

namespace Atoll::compiler {

class MatrixLowering {
 public:
  /// Records the matrix instructions in `helper_pcs`, numbered from `first_helper`.
  MatrixLowering(Frame& frame, std::vector<uint64_t>& helper_pcs, uint64_t first_helper)
      : frame_(frame), helper_pcs_(helper_pcs), first_helper_(first_helper) {}

  /// Returns whether it is a matrix instruction with rows and constants as operands, and scalars only as scales.
  static bool takes(const isa::Instruction& instruction);
  /// Returns whether it reads scalar registers, whose values are those at its execution.
  static bool reads_scalars(const isa::Instruction& instruction);

  /// Instructions in execution order: those with one accumulator, and those executed by one call.
  using Chain = std::vector<const RegionItem*>;
  static std::vector<Chain> chains(std::span<const RegionItem> items);
  static std::vector<Chain> calls(std::span<const RegionItem> items);

  /// Emits the matrix instructions of `items`.
  void emit(std::span<const RegionItem> items);

 private:
  Frame& frame_;
  std::vector<uint64_t>& helper_pcs_;
  const uint64_t first_helper_;
};

}  // namespace Atoll::compiler

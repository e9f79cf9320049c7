// compiler: what the chunk loops of a region are made from, as data.
//
// Region gathers it, instruction by instruction, and emits it when the region ends. It can be printed
// (`atoll-compiler --dump-regions`) and checked: faults_of() says what in it would make the order of chunks differ from
// the wave's order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/varying_masks.h"
#include "compiler/lowering/region_item.h"
#include "compiler/lowering/scalar_registers.h"

namespace Atoll::compiler {

struct RegionPlan {
  std::vector<RegionItem> items;
  VaryingMasks masks;         ///< after the last item
  bool every_chunk = false;   ///< also those without active lanes: what they have of masks is needed
  bool is_versioned = false;  ///< there are two forms, and a check of addresses chooses (versioning.h)

  /// An item after loads of the same memory that stores to it: in the form that fits all it begins a loop of its own.
  std::optional<size_t> last_store;
  Live live_at_store;  ///< before it, as what follows
  VaryingMasks masks_at_store;
  HeldScalars::Values held_at_store;

  std::vector<unsigned> skipped_by_branch;  ///< of each branch that is removed, how many instructions it would skip
  std::optional<semantics::FloatMode> mode_after;  ///< where it was set
  VectorSet matrix_reads;                          ///< of matrix instructions
};

/// A line for the region and one for each item.
std::string print(const RegionPlan& plan);

/// What is wrong with it, a line each.
std::vector<std::string> faults_of(const RegionPlan& plan);

}  // namespace Atoll::compiler

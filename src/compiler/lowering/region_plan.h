// compiler: what the host code of regions is made from, as data.
//
// There are two kinds of region, and each has a plan that is complete before any loop over chunks is emitted from it:
// of instructions in a row, a RegionPlan, which Region gathers instruction by instruction (region.h); of a loop whose
// lanes don't meet, a LoopPlan, which plan_loop() makes (loop_lowering.h emits it).
//
// Plans can be printed (plan_text.h, `atoll-compiler --dump-regions`), and they are checked (plan_validation.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/analysis/loop_region.h"
#include "compiler/analysis/varying_masks.h"
#include "compiler/lowering/region_item.h"
#include "compiler/lowering/scalar_registers.h"

namespace Atoll::compiler {

/// What a loop over chunks leaves in the wave.
struct ChunkResults {
  VectorSet rows;
  std::vector<unsigned> masks;  ///< put together from the chunks' slices, by first register
  bool gathers_scc = false;     ///< likewise
};

struct RegionPlan {
  std::vector<RegionItem> items;

  /// An instruction of the region: one of those in the loop, which has items, or one that is executed before it.
  struct Step {
    const isa::Instruction* instruction = nullptr;
    uint64_t pc = 0;
    VaryingMasks::Lowering how{};
    size_t items_end = 0;  ///< how many items there are after it
  };
  std::vector<Step> steps;
  VaryingMasks masks_before;  ///< before the first step
  VaryingMasks masks;         ///< after the last item
  Live live;                  ///< after it

  bool every_chunk = false;   ///< also those without active lanes: what they have of masks is needed
  bool is_versioned = false;  ///< there are two forms, and a check of addresses chooses (versioning.h)

  /// An item after loads of the same memory that stores to it: in the form that fits all it begins a loop of its own.
  std::optional<size_t> last_store;
  Live live_at_store;  ///< before it, as what follows
  VaryingMasks masks_at_store;
  HeldScalars::Values held_at_store;

  std::vector<unsigned> skipped_by_branch;     ///< of each branch that is removed, how many instructions it would skip
  std::optional<engine::CodeMode> mode_after;  ///< where it was set
  VectorSet matrix_reads;                      ///< of matrix instructions

  /// A loop over the chunks, for the items from `first` on.
  struct Loop {
    size_t first = 0, end = 0;
    ChunkResults results;
  };
  std::vector<Loop> loops;        ///< in the form that fits all: one, or two
  std::optional<Loop> versioned;  ///< the only one of the other form

  /// Once everything else is known: makes the loops. `lane_mask_words`: registers that a lane mask fills.
  void plan_loops(unsigned lane_mask_words);

 private:
  Loop loop(size_t first, size_t end, const Live& live_after, const VaryingMasks& state,
            unsigned lane_mask_words) const;
};

struct LoopPlan {
  LoopRegion region;
  Live live;           ///< after it, by any exit
  VaryingMasks after;  ///< likewise
  ScalarSet written;
  VectorSet rows_read, rows_written;
  ChunkResults results;
  std::vector<unsigned> words;  ///< scalar registers that are as the last chunk leaves them
  bool keeps_scc = false;       ///< SCC, too
};
LoopPlan plan_loop(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

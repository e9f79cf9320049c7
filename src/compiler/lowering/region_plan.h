// compiler: plans, from which the host code of regions is emitted.
//
// There are two kinds of regions, each with a plan that is complete before a chunk loop is emitted. Region gathers a
// RegionPlan for straight-line code (region.h). plan_loop() makes a LoopPlan for a loop with independent lanes
// (loop_lowering.h emits it).
//
// Plans can be printed (plan_text.h, `atoll-compiler --dump-regions`), and they are validated (plan_validation.h).
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

/// Results of a chunk loop in the wave.
struct ChunkResults {
  VectorSet rows;
  std::vector<unsigned> masks;  ///< assembled from the chunks' slices, by first register
  bool gathers_scc = false;     ///< likewise
};

struct RegionPlan {
  std::vector<RegionItem> items;

  /// An instruction of the region: in the loop, where it has items, or executed before it.
  struct Step {
    const isa::Instruction* instruction = nullptr;
    uint64_t pc = 0;
    VaryingMasks::Lowering how{};
    size_t items_end = 0;  ///< number of items after it
  };
  std::vector<Step> steps;
  VaryingMasks masks_before;  ///< before the first step
  VaryingMasks masks;         ///< after the last item
  Live live;                  ///< after it

  bool every_chunk = false;   ///< also runs chunks without active lanes, whose mask bits are needed
  bool is_versioned = false;  ///< has two versions, selected by a check of addresses (versioning.h)

  /// The last store to memory that was loaded before: in the general version it starts a loop of its own.
  std::optional<size_t> last_store;
  Live live_at_store;  ///< before it, as what follows
  VaryingMasks masks_at_store;
  HeldScalars::Values held_at_store;

  std::vector<unsigned> skipped_by_branch;     ///< per removed branch: number of instructions that it would skip
  std::optional<engine::CodeMode> mode_after;  ///< where it was set
  VectorSet matrix_reads;                      ///< of matrix instructions

  /// A chunk loop for the items from `first` on.
  struct Loop {
    size_t first = 0, end = 0;
    ChunkResults results;
  };
  std::vector<Loop> loops;        ///< of the general version: one or two
  std::optional<Loop> versioned;  ///< of the other version

  /// Determines the loops once everything else is known. `lane_mask_words`: number of registers in a lane mask.
  void plan_loops(unsigned lane_mask_words);

 private:
  Loop loop(size_t first, size_t end, const Live& live_after, const VaryingMasks& state,
            unsigned lane_mask_words) const;
};

struct LoopPlan {
  LoopRegion region;
  Live live;           ///< after any exit
  VaryingMasks after;  ///< likewise
  ScalarSet written;
  VectorSet rows_read, rows_written;
  ChunkResults results;
  std::vector<unsigned> words;  ///< scalar registers with the values of the last chunk
  bool keeps_scc = false;       ///< SCC, too
};
LoopPlan plan_loop(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler

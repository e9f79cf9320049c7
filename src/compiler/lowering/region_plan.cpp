// compiler: the last steps of planning regions (region_plan.h): what the loops over chunks leave in the wave.
#include "compiler/lowering/region_plan.h"

#include <algorithm>
#include <span>

namespace Atoll::compiler {

namespace {

/// Of those that are `needed`.
std::vector<unsigned> varying_masks(const VaryingMasks& state, const ScalarSet& needed, unsigned lane_mask_words) {
  std::vector<unsigned> masks;
  for (unsigned reg = 0; reg < isa::scalar::count; reg += lane_mask_words) {
    if (state.is_varying(reg) && has_mask(needed, reg, lane_mask_words)) masks.push_back(reg);
  }
  return masks;
}

}  // namespace

RegionPlan::Loop RegionPlan::loop(size_t first, size_t end, const Live& live_after, const VaryingMasks& state,
                                  unsigned lane_mask_words) const {
  Loop loop{.first = first, .end = end, .results = {}};
  const auto own = std::span(items).subspan(first, end - first);
  if (std::ranges::all_of(own, &RegionItem::is_matrix)) return loop;  // there is nothing to loop for
  ScalarSet scalars;
  VectorSet rows;
  for (const RegionItem& item : own) {
    const LaneEffects effects = lane_effects_of(*item.instruction);
    scalars |= effects.writes;
    if (!item.is_matrix) rows |= effects.vector_writes;
  }
  loop.results.rows = rows & (live_after.active | live_after.inactive | matrix_reads);
  const ScalarSet needed = scalars & live_after.scalars;
  loop.results.masks = varying_masks(state, needed, lane_mask_words);
  loop.results.gathers_scc = state.scc_varies && needed[scc_number];
  return loop;
}

void RegionPlan::plan_loops(unsigned lane_mask_words) {
  const size_t second = last_store.value_or(0);
  if (last_store) loops.push_back(loop(0, second, live_at_store, masks_at_store, lane_mask_words));
  loops.push_back(loop(second, items.size(), live, masks, lane_mask_words));
  if (is_versioned) versioned = loop(0, items.size(), live, masks, lane_mask_words);
}

LoopPlan plan_loop(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness) {
  LoopPlan plan;
  plan.region = region;
  plan.after = region.states.at(*region.exits.begin());
  for (const uint64_t exit : region.exits) {
    plan.live |= liveness.before(exit);
    plan.after.join(region.states.at(exit));
  }
  for (const uint64_t pc : region.blocks) {
    for (const engine::Located& at : flow.blocks.at(pc).instructions) {
      const LaneEffects effects = lane_effects_of(at.instruction);
      plan.written |= effects.writes;
      plan.rows_read |= effects.vector_reads;
      plan.rows_written |= effects.vector_writes;
    }
  }
  plan.results.rows = plan.rows_written & (plan.live.active | plan.live.inactive);
  plan.results.masks = varying_masks(plan.after, plan.live.scalars, flow.lane_mask_words());
  plan.results.gathers_scc = plan.after.scc_varies && plan.live.scalars[scc_number];
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    if (plan.live.scalars[reg] && plan.written[reg] && !plan.after.is_varying(reg)) plan.words.push_back(reg);
  }
  plan.keeps_scc = plan.live.scalars[scc_number] && plan.written[scc_number] && !plan.after.scc_varies;
  return plan;
}

}  // namespace Atoll::compiler

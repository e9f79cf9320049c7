// compiler: checking the plans of regions (plan_validation.h).
#include "compiler/lowering/plan_validation.h"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "compiler/lowering/plan_text.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using Lowering = VaryingMasks::Lowering;

class RegionValidator {
 public:
  explicit RegionValidator(const RegionPlan& plan) : plan_(plan) {}

  std::vector<std::string> run() {
    check_order();
    check_masks();
    check_addresses();
    check_loops();
    return std::move(faults_);
  }

 private:
  void fault(const RegionItem& item, std::string_view what) {
    faults_.push_back(fmt::format("{} at {:#x} {}", isa::row_of(*item.instruction).name, item.pc, what));
  }
  void fault(const RegionPlan::Step& step, std::string_view what) {
    faults_.push_back(fmt::format("{} at {:#x} {}", isa::row_of(*step.instruction).name, step.pc, what));
  }

  void check_order();
  void check_access(const RegionItem& item, size_t number);
  void check_masks();
  void check_step(const RegionPlan::Step& step, size_t first_item);
  void check_addresses();
  void check_loops();
  void check_loop(const RegionPlan::Loop& loop, const Live& live, const VaryingMasks& state);

  const RegionPlan& plan_;
  std::vector<std::string> faults_;
  unsigned loads_ = 0, stores_ = 0;  ///< shared_spaces() that were
  bool has_deferred_ = false;
};

/// Whether the order of chunks, and what is left until after their loop, makes a difference to the wave's order.
void RegionValidator::check_order() {
  size_t branches = 0;
  VectorSet matrix_reads, matrix_writes;
  for (size_t i = 0; i < plan_.items.size(); ++i) {
    const RegionItem& item = plan_.items[i];
    const LaneEffects effects = lane_effects_of(*item.instruction);
    if (item.is_matrix) {
      matrix_reads |= effects.vector_reads;
      matrix_writes |= effects.vector_writes;
      continue;
    }
    if (item.removed_branch && *item.removed_branch != branches++) fault(item, "has the number of another branch");
    // A matrix instruction is executed after the loop, so nothing after it may need or change what it works on.
    if ((effects.vector_reads & matrix_writes).any() ||
        (effects.vector_writes & (matrix_reads | matrix_writes)).any()) {
      fault(item, "works on what a matrix instruction before it does");
    }
    if (i != 0 && item.is_vector && ValuLowering::crosses_chunks(*item.instruction))
      fault(item, "needs other chunks' lanes and is not the first");
    if (item.access) check_access(item, i);
  }
  if (branches != plan_.skipped_by_branch.size())
    faults_.emplace_back("the removed branches are not those that are counted");
  if ((matrix_reads & ~plan_.matrix_reads).any())
    faults_.push_back("matrix instructions need " + names_of(matrix_reads & ~plan_.matrix_reads) + ", too");
}

void RegionValidator::check_access(const RegionItem& item, size_t number) {
  const MemoryOperands& operands = item.access->operands;
  const unsigned spaces = shared_spaces(operands.space);
  if (plan_.last_store && number > *plan_.last_store) fault(item, "is an access after the last store");
  if (has_deferred_ && !item.is_deferred && operands.space != MemorySpace::lds) {
    fault(item, "may fail after a store that waits");
  }
  if (item.is_deferred) {
    if (!ChunkMemory::can_for_wave(*item.instruction, operands)) fault(item, "cannot wait until after the loop");
    has_deferred_ = true;
    stores_ |= spaces;
    return;
  }
  // Chunks follow each other, so that one's store would come before another's load of the same memory.
  if ((stores_ & spaces) != 0) fault(item, "meets a store of another chunk");
  if (operands.stores() && (loads_ & spaces) != 0 && plan_.last_store != number) fault(item, "stores after a load");
  if (operands.loads()) loads_ |= spaces;
  if (operands.stores()) stores_ |= spaces;
}

/// Follows the lane masks through all of the region's instructions.
void RegionValidator::check_masks() {
  VaryingMasks state = plan_.masks_before;
  size_t item = 0;
  for (const RegionPlan::Step& step : plan_.steps) {
    if (step.items_end < item || step.items_end > plan_.items.size()) {
      fault(step, "has items that are another's");
      return;
    }
    // There may be items that are no steps before its own: matrix instructions and removed branches.
    size_t own = step.items_end;
    while (own > item && plan_.items[own - 1].pc == step.pc) --own;
    if (state.lowering(*step.instruction, /*inside=*/own != 0) != step.how) {
      fault(step, "cannot be executed in the way that the plan has for it");
    }
    if (plan_.last_store && item <= *plan_.last_store && step.items_end > *plan_.last_store &&
        state != plan_.masks_at_store) {
      fault(step, "begins a loop with other masks than the plan has there");
    }
    check_step(step, item);
    state.step(*step.instruction, step.how);
    item = step.items_end;
  }
  if (!plan_.steps.empty() && state != plan_.masks) faults_.emplace_back("the masks after the region are other ones");
}

void RegionValidator::check_step(const RegionPlan::Step& step, size_t first_item) {
  for (size_t i = first_item; i < step.items_end; ++i) {
    const RegionItem& item = plan_.items[i];
    if (item.is_matrix || item.removed_branch || item.pc != step.pc) continue;
    const Lowering is = item.access ? Lowering::memory : item.is_vector ? Lowering::lanes : Lowering::on_varying_masks;
    if (is != step.how) fault(item, "is not an item of its instruction's kind");
    if (is == Lowering::on_varying_masks && !plan_.every_chunk)
      fault(item, "is needed of chunks without active lanes, too");
  }
}

/// Strides hold for lanes as they are where the region begins.
void RegionValidator::check_addresses() {
  if (plan_.last_store && !plan_.is_versioned) fault(plan_.items[*plan_.last_store], "stores after loads in one form");
  for (const RegionItem& item : plan_.items) {
    if (!item.address) continue;
    if (!item.access || item.access->operands.is_atomic || item.is_deferred) {
      fault(item, "is not an access that can have a stride");
      continue;
    }
    const MemorySpace space = outside_apertures(item.access->operands.space);
    if (space != MemorySpace::global && space != MemorySpace::lds) fault(item, "has a stride in memory without any");
    if (!ChunkMemory::prefers_stride(semantics::memory_access(*item.instruction), item.stride))
      fault(item, fmt::format("cannot have a stride of {}", item.stride));
    if (item.exec_written && (item.stride == 0 || ChunkMemory::needs_all_lanes(item.stride)))
      fault(item, "has a stride that needs lanes which may be off");
  }
}

void RegionValidator::check_loops() {
  size_t next = 0;
  for (const RegionPlan::Loop& loop : plan_.loops) {
    if (loop.first != next || loop.end < loop.first || loop.end > plan_.items.size()) {
      faults_.push_back(
          fmt::format("the loop over items {} to {} does not begin at item {}", loop.first, loop.end, next));
      return;
    }
    next = loop.end;
    const bool is_last = next == plan_.items.size();
    check_loop(loop, is_last ? plan_.live : plan_.live_at_store, is_last ? plan_.masks : plan_.masks_at_store);
  }
  if (!plan_.loops.empty() && next != plan_.items.size())
    faults_.push_back(fmt::format("items from {} on are in no loop", next));
  if (plan_.last_store && plan_.loops.size() == 2 && plan_.loops[1].first != *plan_.last_store)
    fault(plan_.items[*plan_.last_store], "does not begin the second loop");
  if (plan_.versioned) {
    if (plan_.versioned->first != 0 || plan_.versioned->end != plan_.items.size())
      faults_.emplace_back("the versioned form does not have all items");
    else
      check_loop(*plan_.versioned, plan_.live, plan_.masks);
  }
}

/// Whether what is needed after the loop is among its results, and what it does not have is not.
void RegionValidator::check_loop(const RegionPlan::Loop& loop, const Live& live, const VaryingMasks& state) {
  const auto items = std::span(plan_.items).subspan(loop.first, loop.end - loop.first);
  if (std::ranges::all_of(items, &RegionItem::is_matrix)) return;
  VectorSet made;
  ScalarSet masks;
  for (const RegionItem& item : items) {
    const LaneEffects effects = lane_effects_of(*item.instruction);
    masks |= effects.writes;
    if (item.is_matrix) continue;
    made |= effects.vector_writes;
  }
  const VectorSet lost = made & (live.active | live.inactive | plan_.matrix_reads) & ~loop.results.rows;
  if (lost.any()) faults_.push_back(names_of(lost) + " is needed after the region and not written");
  if (const VectorSet strange = loop.results.rows & ~made; strange.any())
    faults_.push_back(names_of(strange) + " is written and has no value in the region");
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    const bool is_there = std::ranges::any_of(loop.results.masks, [&](unsigned mask) {
      return reg >= mask && reg < mask + plan_.items.front().instruction->lane_mask_words;
    });
    const bool is_needed = live.scalars[reg] && masks[reg] && state.is_varying(reg);
    if (is_needed && !is_there) faults_.push_back(name_of_scalar(reg) + " is a mask that is needed and not gathered");
    if (is_there && !state.is_varying(reg)) faults_.push_back(name_of_scalar(reg) + " is gathered and does not vary");
  }
  if (state.scc_varies && live.scalars[scc_number] && masks[scc_number] && !loop.results.gathers_scc)
    faults_.emplace_back("scc is needed and not gathered");
}

class LoopValidator {
 public:
  LoopValidator(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness)
      : plan_(plan), region_(plan.region), flow_(flow), liveness_(liveness) {}

  std::vector<std::string> run() {
    if (!region_.contains(region_.entry)) fault(region_.entry, "is the loop's entry and not in it");
    for (const uint64_t pc : region_.blocks) {
      if (!flow_.blocks.contains(pc) || !region_.states.contains(pc)) {
        fault(pc, "is an unknown block");
        return std::move(faults_);
      }
    }
    check_entries();
    for (const uint64_t pc : region_.blocks) check_block(pc);
    if (region_.exits.empty()) fault(region_.entry, "is a loop without an exit");
    for (const uint64_t exit : region_.exits) check_exit(exit);
    if (!goes_back_) fault(region_.entry, "is not a loop: nothing branches back to it");
    return std::move(faults_);
  }

 private:
  void fault(uint64_t pc, std::string_view what) { faults_.push_back(fmt::format("{:#x} {}", pc, what)); }

  /// Whoever comes from outside comes to the entry.
  void check_entries() {
    for (const auto& [pc, block] : flow_.blocks) {
      if (region_.contains(pc)) continue;
      for (const uint64_t next : successors_of(block).pcs) {
        if (next != region_.entry && region_.contains(next)) fault(next, "is entered from outside of the loop");
      }
    }
  }
  void check_block(uint64_t pc);
  void check_instruction(const engine::Located& at, VaryingMasks& state);
  void check_exit(uint64_t exit);

  const LoopPlan& plan_;
  const LoopRegion& region_;
  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
  bool goes_back_ = false;
  std::vector<std::string> faults_;
};

void LoopValidator::check_instruction(const engine::Located& at, VaryingMasks& state) {
  if (changes_no_data(at.instruction)) return;
  const Lowering how = state.lowering(at.instruction, /*inside=*/true);
  if (how == Lowering::neither) fault(at.pc, "cannot be executed chunk by chunk");
  // A chunk's store in one round must not come before another chunk's load in the round before.
  if (const auto access = memory_operands(at.instruction); access && access->stores())
    fault(at.pc, "is a store, which another chunk's load may meet");
  const LaneEffects effects = lane_effects_of(at.instruction);
  if ((effects.writes & ~plan_.written).any()) fault(at.pc, "writes scalars that the plan does not know of");
  if ((effects.vector_writes & ~plan_.rows_written).any()) fault(at.pc, "writes rows that the plan does not know of");
  state.step(at.instruction, how);
}

/// Follows the masks from the state that is known at the block's beginning. What is known where it leads to must take
/// that in already.
void LoopValidator::check_block(uint64_t pc) {
  const engine::Block& block = flow_.blocks.at(pc);
  const auto end = end_of(block);
  if (!end) return fault(pc, "ends in a way that loop regions do not know");
  VaryingMasks state = region_.states.at(pc);
  for (const engine::Located& at : body_of(block)) check_instruction(at, state);
  if (state.exec_grows && !region_.exec_grows) fault(pc, "has EXEC grow, and the plan does not know of it");
  for (const uint64_t next : {end->if_zero, end->if_not}) {
    goes_back_ |= next == region_.entry;
    if (!region_.contains(next) && !region_.exits.contains(next)) {
      fault(pc, fmt::format("leads to {:#x}, which is neither in the loop nor an exit", next));
      continue;
    }
    const auto there = region_.states.find(next);
    if (there == region_.states.end()) {
      fault(next, "is reached with unknown masks");
      continue;
    }
    VaryingMasks joined = there->second;
    joined.join(state);
    if (joined != there->second) fault(next, fmt::format("is come to from {:#x} with other masks than are known", pc));
  }
}

/// What is needed after the exit must be among the loop's results.
void LoopValidator::check_exit(uint64_t exit) {
  if (region_.contains(exit)) return fault(exit, "is an exit and in the loop");
  const Live& live = liveness_.before(exit);
  const VectorSet lost = plan_.rows_written & (live.active | live.inactive) & ~plan_.results.rows;
  if (lost.any()) fault(exit, "needs " + names_of(lost) + ", which the loop does not write back");
  for (unsigned reg = 0; reg < isa::scalar::count; ++reg) {
    if (!live.scalars[reg]) continue;
    const bool is_mask = std::ranges::any_of(
        plan_.results.masks, [&](unsigned mask) { return reg >= mask && reg < mask + flow_.lane_mask_words(); });
    if (plan_.after.is_varying(reg) && !is_mask) {
      fault(exit, "needs the mask " + name_of_scalar(reg) + ", which is not gathered");
    } else if (!plan_.after.is_varying(reg) && plan_.written[reg] &&
               std::ranges::find(plan_.words, reg) == plan_.words.end()) {
      fault(exit, "needs " + name_of_scalar(reg) + ", which the loop does not write back");
    }
  }
  const bool has_scc = plan_.after.scc_varies ? plan_.results.gathers_scc : plan_.keeps_scc;
  if (live.scalars[scc_number] && (plan_.after.scc_varies || plan_.written[scc_number]) && !has_scc)
    fault(exit, "needs scc, which the loop does not write back");
}

}  // namespace

std::vector<std::string> faults_of(const RegionPlan& plan) { return RegionValidator(plan).run(); }

std::vector<std::string> faults_of(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness) {
  return LoopValidator(plan, flow, liveness).run();
}

}  // namespace Atoll::compiler

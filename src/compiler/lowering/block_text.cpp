// compiler: liveness and lane masks of basic blocks (block_text.h).
#include "compiler/lowering/block_text.h"

#include <fmt/format.h>

#include "compiler/analysis/mask_dataflow.h"
#include "compiler/lowering/plan_text.h"

namespace Atoll::compiler {

namespace {

using Function = DecisionDiagram::Function;
using Masks = MaskDataflow::Masks;

std::string name_of_mask(unsigned reg, unsigned words) {
  ScalarSet registers;
  for (unsigned word = 0; word < words; ++word) registers.set(reg + word);
  return names_of(registers);
}

/// Returns what is known of a mask at the end of a block: "= s[4:5]" (at its beginning), "subset of exec_lo exec_hi".
std::string relation(Function mask, const Masks& before, MaskDataflow& flow) {
  if (mask == MaskDataflow::unknown) return "unknown";
  if (mask == DecisionDiagram::never) return "= 0";
  if (mask == DecisionDiagram::always) return "= all lanes";
  const unsigned words = flow.words();
  for (unsigned reg = 0; reg < before.mask.size(); reg += words)
    if (before.mask[reg] == mask) return fmt::format("= {} before", name_of_mask(reg, words));
  constexpr unsigned exec = isa::scalar::exec_lo;
  if (flow.logic().implies(mask, before.mask[exec])) return "subset of exec before";
  if (flow.logic().implies(before.mask[exec], mask)) return "superset of exec before";
  return "other lanes than exec before";
}

std::string print_masks(const engine::Block& block, unsigned words) {
  MaskDataflow flow(words);
  Masks masks = flow.variable_masks();
  const Masks before = masks;
  Masks unknown = before;  // with the variables that stand for masks of which nothing is known
  for (const engine::Located& at : block.instructions) {
    if (does_nothing(at.instruction) || isa::control_of(at.instruction).is_branch()) continue;
    const VaryingMasks::Lowering lowering = VaryingMasks().lowering(at.instruction, /*inside=*/false);
    if (lowering == VaryingMasks::Lowering::neither) {
      masks = unknown = flow.variable_masks();
      continue;
    }
    MaskDataflow::SideEffects side_effects;
    flow.pass(at.instruction, lowering, masks, side_effects);
  }
  std::string text;
  for (unsigned reg = 0; reg < masks.mask.size(); reg += words) {
    if (masks.mask[reg] == before.mask[reg] || masks.mask[reg] == unknown.mask[reg] ||
        masks.mask[reg] == MaskDataflow::unknown)
      continue;
    text += fmt::format("  mask {} {}\n", name_of_mask(reg, words), relation(masks.mask[reg], before, flow));
  }
  return text;
}

}  // namespace

std::string print_blocks(const engine::ControlFlow& flow, const Liveness& liveness) {
  const auto or_nothing = [](const std::string& text) { return text.empty() ? "nothing" : text; };
  std::string text;
  for (const auto& [pc, block] : flow.blocks) {
    const Live& live = liveness.before(pc);
    text += fmt::format("block {:#x} to {:#x}{}\n", pc, block.instructions.back().pc,
                        flow.entries.contains(pc) ? ", entry" : "");
    text += fmt::format("  live scalars {}\n", or_nothing(names_of(live.scalars)));
    text += fmt::format("  live in active lanes {}\n", or_nothing(names_of(live.active)));
    text += fmt::format("  live in inactive lanes {}\n", or_nothing(names_of(live.inactive)));
    text += print_masks(block, flow.lane_mask_words());
  }
  return text;
}

}  // namespace Atoll::compiler

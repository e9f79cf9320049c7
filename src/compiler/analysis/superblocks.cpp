// compiler: branches over code that does nothing without lanes (superblocks.h).
#include "compiler/analysis/superblocks.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/analysis/mask_dataflow.h"
#include "compiler/analysis/memory_operands.h"
#include "compiler/lowering/salu_lowering.h"
#include "compiler/lowering/valu_lowering.h"
#include "engine/interpreter/prepare.h"

namespace Atoll::compiler {

namespace {

using Function = DecisionDiagram::Function;
using Lowering = VaryingMasks::Lowering;

/// Longer code is better left out when there are no lanes for it.
constexpr uint64_t max_skipped_instructions = 48;

/// Until nothing more is followed.
constexpr uint32_t max_variables = 4'000;

class Finder {
 public:
  Finder(const engine::ControlFlow& flow, const Liveness& liveness, const std::vector<LoopRegion>& loops)
      : flow_(flow), liveness_(liveness), loops_(loops) {
    for (const auto& [pc, block] : flow.blocks) {
      for (const uint64_t next : successors_of(block).pcs) predecessors_[next].push_back(pc);
    }
  }

  std::vector<Superblock> find(const std::function<bool(uint64_t)>& goes_on) {
    std::vector<Superblock> found;
    uint64_t end = 0;
    for (const auto& [pc, block] : flow_.blocks) {
      if (pc < end) continue;
      found.push_back(is_in_loop(pc) || !goes_on(pc) ? Superblock{{pc}, {}} : from(pc));
      end = flow_.blocks.at(found.back().blocks.back()).end;
    }
    std::erase_if(found, [&](const Superblock& code) { return is_in_loop(code.blocks.front()); });
    return found;
  }

 private:
  /// A branch that has been left out, on the way to its target.
  struct Pending {
    uint64_t block;
    RemovedBranch branch;
    Function lanes;              ///< that EXEC has there
    MaskDataflow::Masks before;  ///< what masks are there
    ScalarSet written;           ///< since then
  };

  bool is_in_loop(uint64_t pc) const {
    return std::ranges::any_of(loops_, [&](const LoopRegion& loop) { return loop.contains(pc); });
  }

  Superblock from(uint64_t start) {
    // Each time that one turns out to be needed, all is done again without those before it that have its code in
    // theirs.
    for (std::set<uint64_t> needed;;) {
      Superblock code;
      const auto wrong = try_from(start, needed, code);
      if (!wrong) return code;
      needed.insert(*wrong);
    }
  }

  std::optional<uint64_t> try_from(uint64_t start, const std::set<uint64_t>& needed, Superblock& code);
  bool pass(const engine::Block& block, std::span<Pending> pending, MaskDataflow& flow, MaskDataflow::Masks& masks);
  bool is_as_before(const Pending& pending, MaskDataflow& flow, const MaskDataflow::Masks& masks) const;
  bool may_go_on(uint64_t pc, const Superblock& code) const;

  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
  const std::vector<LoopRegion>& loops_;
  std::map<uint64_t, std::vector<uint64_t>> predecessors_;
};

/// Whether the block is entered from blocks of the code only, and in the mode that it is made for.
bool Finder::may_go_on(uint64_t pc, const Superblock& code) const {
  if (!flow_.blocks.contains(pc) || flow_.entries.contains(pc) || is_in_loop(pc)) return false;
  const engine::Block& before = flow_.blocks.at(code.blocks.back());
  if (flow_.mode_after(before.instructions.back()) != flow_.mode_before(pc)) return false;
  return std::ranges::all_of(predecessors_.at(pc),
                             [&](uint64_t from) { return std::ranges::find(code.blocks, from) != code.blocks.end(); });
}

/// Whether an instruction does nothing to memory or the wave's state other than its registers when EXEC is zero.
bool is_harmless(const isa::Instruction& instruction) {
  if (does_nothing(instruction) || ValuLowering::takes(instruction)) return true;
  if (const auto access = memory_operands(instruction)) return access->resource == nullptr;
  return SaluLowering::takes(instruction);
}

/// The instructions of a block but a branch at its end. False: with one of them, a pending branch is needed.
bool Finder::pass(const engine::Block& block, std::span<Pending> pending, MaskDataflow& flow,
                  MaskDataflow::Masks& masks) {
  for (const engine::Located& at : body_of(block)) {
    const isa::Instruction& instruction = at.instruction;
    // What a wave without lanes would tell, it would not tell if it took the branch.
    const bool instrumentation = flow_.instrumentation.by_handler(instruction) || flow_.is_past_limit(at);
    if (instrumentation && !pending.empty()) return false;
    if (does_nothing(instruction)) continue;
    if (!pending.empty() && !is_harmless(instruction)) return false;
    const Lowering lowering = VaryingMasks().lowering(instruction, /*inside=*/false);
    if (lowering == Lowering::neither) {  // it may write registers that it does not name
      masks = flow.variable_masks();
      continue;
    }
    MaskDataflow::SideEffects side_effects;
    for (Pending& each : pending) {
      each.written |= lane_effects_of(instruction).writes;
      if (lowering != Lowering::lanes && lowering != Lowering::memory) continue;
      if (flow.logic().both(flow.known(masks.mask[isa::scalar::exec_lo]), flow.logic().not_of(each.lanes)) !=
          DecisionDiagram::never) {
        return false;
      }
    }
    flow.pass(instruction, lowering, masks, side_effects);
  }
  return true;
}

/// Whether all that is needed after a branch's target is the same there whichever way a wave without lanes took.
bool Finder::is_as_before(const Pending& pending, MaskDataflow& flow, const MaskDataflow::Masks& masks) const {
  const ScalarSet matters = liveness_.before(pending.branch.target).scalars & pending.written;
  flow.set_care(flow.logic().not_of(pending.lanes));
  bool same = !matters[scc_number] || flow.same(pending.before.scc, masks.scc);
  for (unsigned reg = 0; same && reg < isa::scalar::count; reg += flow.words()) {
    const bool must_be = has_mask(matters, reg, flow.words()) || reg == isa::scalar::exec_lo;
    same = !must_be || flow.same(pending.before.mask[reg], masks.mask[reg]);
  }
  flow.set_care(DecisionDiagram::always);
  return same;
}

/// Straight code without branches but those in `needed`. Yields another that is needed if there is one.
std::optional<uint64_t> Finder::try_from(uint64_t start, const std::set<uint64_t>& needed, Superblock& code) {
  MaskDataflow flow(flow_.lane_mask_words());
  MaskDataflow::Masks masks = flow.variable_masks();
  std::vector<Pending> pending;  // the innermost last
  for (uint64_t pc = start;;) {
    const engine::Block& block = flow_.blocks.at(pc);
    code.blocks.push_back(pc);
    if (!pass(block, pending, flow, masks)) return pending.back().block;
    if (!pending.empty()) pending.back().branch.instructions += static_cast<unsigned>(block.instructions.size());

    const auto end = end_of(block);
    const bool branches = body_of(block).size() != block.instructions.size();
    bool goes_on = end && !branches;
    if (end && end->on == BlockEnd::On::exec && end->if_not == block.end && end->if_zero > block.end &&
        end->if_zero - block.end <= max_skipped_instructions * 8 && !needed.contains(pc) &&
        (pending.empty() || end->if_zero <= pending.back().branch.target) && flow.variables() < max_variables) {
      flow.give_variables(masks);
      pending.push_back({pc, {end->if_zero, 0}, masks.exec(), masks, {}});
      goes_on = true;
    }
    pc = block.end;
    while (goes_on && !pending.empty() && pending.back().branch.target == pc) {
      const Pending& last = pending.back();
      if (!is_as_before(last, flow, masks) || last.branch.instructions > max_skipped_instructions) return last.block;
      code.branches[last.block] = last.branch;
      pending.pop_back();
    }
    if (goes_on && may_go_on(pc, code)) continue;
    if (!pending.empty()) return pending.back().block;
    return {};
  }
}

}  // namespace

std::vector<Superblock> find_superblocks(const engine::ControlFlow& flow, const Liveness& liveness,
                                         const std::vector<LoopRegion>& loops,
                                         const std::function<bool(uint64_t)>& goes_on) {
  return Finder(flow, liveness, loops).find(goes_on);
}

}  // namespace Atoll::compiler

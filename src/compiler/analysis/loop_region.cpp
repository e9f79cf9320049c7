// compiler: finding the loops whose lanes don't meet (loop_region.h).
#include "compiler/analysis/loop_region.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "compiler/analysis/divergence.h"
#include "compiler/lowering/salu_lowering.h"
#include "compiler/memory/chunk_memory.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/interpreter/prepare.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using engine::Block;
using engine::ControlFlow;
using Lowering = VaryingMasks::Lowering;

/// Bigger loops are compiled block by block: the time that the host compiler takes grows with the square of a
/// function's size, and rows would be spilled all the time.
constexpr uint64_t max_instructions = 4000;

/// Cache control in a loop is how programs wait for others: they have to be given back now and then.
bool looks_at_others(const isa::Instruction& instruction) {
  return isa::row_of(instruction).has(isa::flag::memory) &&
         (instruction.glc || instruction.slc || instruction.dlc || instruction.scc);
}

/// Which blocks lie on every way to a block, from wherever waves come in.
/// Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm".
class Dominators {
 public:
  Dominators(const ControlFlow& flow, const std::set<uint64_t>& entered,
             const std::map<uint64_t, std::vector<uint64_t>>& predecessors) {
    for (const uint64_t pc : entered) visit(flow, pc);
    std::ranges::reverse(order_);
    for (size_t i = 0; i < order_.size(); ++i) numbers_[order_[i]] = i + 1;  // 0 is before all
    above_.assign(order_.size() + 1, unknown);
    above_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < order_.size(); ++i) {
        size_t above = entered.contains(order_[i]) ? 0 : unknown;
        const auto from = predecessors.find(order_[i]);
        if (from != predecessors.end()) {
          for (const uint64_t predecessor : from->second) {
            const auto number = numbers_.find(predecessor);
            if (number == numbers_.end() || above_[number->second] == unknown) continue;
            above = above == unknown ? number->second : common(above, number->second);
          }
        }
        if (above == above_[i + 1]) continue;
        above_[i + 1] = above;
        changed = true;
      }
    }
  }
  bool dominates(uint64_t pc, uint64_t block) const {
    const auto upper = numbers_.find(pc), lower = numbers_.find(block);
    if (upper == numbers_.end() || lower == numbers_.end()) return false;
    size_t number = lower->second;
    while (number > upper->second) number = above_[number];
    return number == upper->second;
  }

 private:
  static constexpr size_t unknown = SIZE_MAX;

  /// Puts the blocks in order, each after all that it leads to and that come not first.
  void visit(const ControlFlow& flow, uint64_t start) {
    struct Visit {
      uint64_t pc;
      std::vector<uint64_t> to_do;
    };
    std::vector<Visit> stack;
    const auto begin = [&](uint64_t pc) {
      const auto block = flow.blocks.find(pc);
      if (block != flow.blocks.end() && seen_.insert(pc).second)
        stack.push_back({pc, successors_of(block->second).pcs});
    };
    begin(start);
    while (!stack.empty()) {
      if (stack.back().to_do.empty()) {
        order_.push_back(stack.back().pc);
        stack.pop_back();
      } else {
        const uint64_t next = stack.back().to_do.back();
        stack.back().to_do.pop_back();
        begin(next);
      }
    }
  }
  size_t common(size_t a, size_t b) const {
    while (a != b) {
      while (a > b) a = above_[a];
      while (b > a) b = above_[b];
    }
    return a;
  }

  std::set<uint64_t> seen_;
  std::vector<uint64_t> order_;
  std::map<uint64_t, size_t> numbers_;
  std::vector<size_t> above_;
};

/// The blocks of the loop that these branches back to `head` make: all from which one of them is reached without
/// passing the head. Null: it can be entered elsewhere.
std::optional<std::set<uint64_t>> loop_of(uint64_t head, const std::vector<uint64_t>& branches_back,
                                          const std::map<uint64_t, std::vector<uint64_t>>& predecessors,
                                          const std::set<uint64_t>& entered) {
  std::set<uint64_t> blocks{head};
  std::vector<uint64_t> to_do = branches_back;
  while (!to_do.empty()) {
    const uint64_t pc = to_do.back();
    to_do.pop_back();
    if (!blocks.insert(pc).second) continue;
    if (entered.contains(pc)) return std::nullopt;
    const auto found = predecessors.find(pc);
    if (found != predecessors.end()) to_do.insert(to_do.end(), found->second.begin(), found->second.end());
  }
  return blocks;
}

/// Whether some load in the loop takes its address from registers that the loop does not change.
bool loads_same_place(const LoopRegion& region, const ControlFlow& flow) {
  std::set<std::pair<isa::OperandKind, unsigned>> changed;
  const auto each = [&](const auto& visit) {
    for (const uint64_t pc : region.blocks) {
      for (const engine::Located& at : body_of(flow.blocks.at(pc))) visit(at.instruction);
    }
  };
  const auto registers = [](const isa::Operand& operand, const auto& visit) {
    for (unsigned word = 0; word < operand.words; ++word) visit(std::pair(operand.kind, operand.reg + word));
  };
  each([&](const isa::Instruction& instruction) {
    for (unsigned i = 0; i < instruction.destinations; ++i) {
      registers(instruction.operands[i], [&](const auto& reg) { changed.insert(reg); });
    }
  });
  bool found = false;
  each([&](const isa::Instruction& instruction) {
    if (!ScalarMemory::takes(instruction) && !memory_operands(instruction)) return;
    bool same = true;
    for (unsigned i = 0; i < instruction.sources(); ++i) {
      registers(instruction.src(i), [&](const auto& reg) { same &= !changed.contains(reg); });
    }
    found |= same;
  });
  return found;
}

/// Whether some branch of the loop depends on what the loop loads: other waves may then make it end.
bool ends_by_what_it_loads(const LoopRegion& region, const ControlFlow& flow) {
  std::vector<LaneEffects> effects;
  std::vector<bool> loads;
  ScalarSet conditions;
  for (const uint64_t pc : region.blocks) {
    const Block& block = flow.blocks.at(pc);
    for (const engine::Located& at : body_of(block)) {
      effects.push_back(lane_effects_of(at.instruction));
      loads.push_back(ScalarMemory::takes(at.instruction) || memory_operands(at.instruction));
    }
    if (body_of(block).size() != block.instructions.size()) {
      conditions |= lane_effects_of(block.instructions.back().instruction).reads;
    }
  }
  ScalarSet scalars;  // that depend on loads
  VectorSet rows;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < effects.size(); ++i) {
      const LaneEffects& each = effects[i];
      const bool depends = loads[i] || (each.reads & scalars).any() || (each.vector_reads & rows).any();
      if (!depends || ((each.writes & ~scalars).none() && (each.vector_writes & ~rows).none())) continue;
      scalars |= each.writes;
      rows |= each.vector_writes;
      more = true;
    }
  }
  return (conditions & scalars).any();
}

/// Tracks varying masks through the region. Returns false if an instruction is unsupported, or none is lane-wise.
bool set_states(LoopRegion& region, const ControlFlow& flow) {
  region.states[region.entry] = {};
  bool has_lanes = false;
  std::set<uint64_t> to_do{region.entry};
  while (!to_do.empty()) {
    const uint64_t pc = *to_do.begin();
    to_do.erase(to_do.begin());
    const Block& block = flow.blocks.at(pc);
    VaryingMasks state = region.states.at(pc);
    for (const engine::Located& at : body_of(block)) {
      if (changes_no_data(at.instruction)) continue;
      const Lowering lowering = state.lowering(at.instruction, /*inside=*/true);
      if (lowering == Lowering::neither) return false;
      has_lanes |= lowering == Lowering::lanes || lowering == Lowering::memory;
      state.step(at.instruction, lowering);
    }
    region.exec_grows |= state.exec_grows;
    const auto end = end_of(block);
    for (const uint64_t next : {end->if_zero, end->if_not}) {
      if (!region.contains(next)) region.exits.insert(next);
      const auto [found, is_new] = region.states.try_emplace(next, state);
      const VaryingMasks before = found->second;
      found->second.join(state);
      if ((is_new || found->second != before) && region.contains(next)) to_do.insert(next);
    }
  }
  region.may_wait = ends_by_what_it_loads(region, flow);
  // A loop that repeatedly loads the same location probably waits for another wave, and should be interrupted often.
  if (region.may_wait && loads_same_place(region, flow)) return false;
  return has_lanes;
}

/// Returns whether all of the region's blocks and exits are reached only in their known mode.
bool keeps_modes(const LoopRegion& region, const ControlFlow& flow) {
  return std::ranges::all_of(region.blocks, [&](uint64_t pc) {
    const Block& block = flow.blocks.at(pc);
    const engine::CodeMode mode = flow.mode_after(block.instructions.back());
    const BlockEnd end = *end_of(block);
    return mode == region.mode_at(end.if_zero, flow) && mode == region.mode_at(end.if_not, flow);
  });
}

/// Whether chunks part from each other within a round of the loop. The wave does in each round what any of them does,
/// so that its instructions are more than those of the chunk with the most.
bool diverge_within_a_round(const LoopRegion& region, const ControlFlow& flow) {
  return std::ranges::any_of(region.blocks, [&](uint64_t pc) {
    const Block& block = flow.blocks.at(pc);
    const BlockEnd end = *end_of(block);
    const auto ends_round = [&](uint64_t next) { return next == region.entry || !region.contains(next); };
    if (end.if_zero == end.if_not || ends_round(end.if_zero) || ends_round(end.if_not)) return false;
    VaryingMasks state = region.states.at(pc);
    for (const engine::Located& at : body_of(block)) {
      if (!changes_no_data(at.instruction)) state.step(at.instruction, state.lowering(at.instruction, /*inside=*/true));
    }
    return end.parts(state);
  });
}

bool fits(LoopRegion& region, const ControlFlow& flow, const Liveness& liveness) {
  uint64_t instructions = 0;
  for (const uint64_t pc : region.blocks) {
    const Block& block = flow.blocks.at(pc);
    if (!end_of(block)) return false;
    instructions += block.instructions.size();
    for (const engine::Located& at : block.instructions) {
      if (looks_at_others(at.instruction) || flow.instrumentation.by_handler(at.instruction) ||
          flow.instrumentation.records(at.instruction) || flow.is_past_limit(at)) {
        return false;
      }
      // A chunk's store in one round must not come before another chunk's load in the round before.
      const auto access = memory_operands(at.instruction);
      if (access && (access->stores() || access->resource != nullptr)) return false;
    }
  }
  if (instructions > max_instructions || !keeps_modes(region, flow) || !set_states(region, flow) ||
      region.exits.empty())
    return false;
  if (diverge_within_a_round(region, flow) || !chunks_may_diverge(region, flow, liveness)) return false;
  consider_inactive_chunks(region, flow, liveness);
  return true;
}

}  // namespace

const engine::CodeMode& LoopRegion::mode_at(uint64_t pc, const ControlFlow& flow) const {
  return flow.mode_before(flow.blocks.contains(pc) ? pc : entry);
}

bool BlockEnd::parts(const VaryingMasks& state) const {
  switch (on) {
    case On::nothing:
      return false;
    case On::scc:
      return state.scc_varies;
    case On::vcc:
      return state.is_varying(isa::scalar::vcc_lo);
    case On::exec:
      return state.exec_written;
  }
  return false;
}

std::optional<BlockEnd> end_of(const Block& block) {
  const engine::Located& last = block.instructions.back();
  const uint64_t target = last.target(), next = last.next();
  using enum BlockEnd::On;
  const isa::Control control = isa::control_of(last.instruction);
  if (control.kind == isa::Control::Kind::branch) return BlockEnd{nothing, target, target};
  if (control.kind == isa::Control::Kind::conditional) {
    const uint64_t if_zero = control.if_zero ? target : next, if_not = control.if_zero ? next : target;
    switch (control.condition) {
      case isa::Control::Condition::scc:
        return BlockEnd{scc, if_zero, if_not};
      case isa::Control::Condition::vcc:
        return BlockEnd{vcc, if_zero, if_not};
      case isa::Control::Condition::exec:
        return BlockEnd{exec, if_zero, if_not};
      default:
        return std::nullopt;
    }
  }
  const Successors successors = successors_of(block);
  if (successors.anywhere || successors.pcs.size() != 1) return std::nullopt;
  return BlockEnd{nothing, block.end, block.end};
}

std::span<const engine::Located> body_of(const Block& block) {
  const std::span<const engine::Located> all(block.instructions);
  const bool branches = isa::control_of(all.back().instruction).is_branch();
  return branches ? all.first(all.size() - 1) : all;
}

std::vector<LoopRegion> find_loop_regions(const ControlFlow& flow, const Liveness& liveness) {
  std::map<uint64_t, std::vector<uint64_t>> predecessors, branches_back;
  std::set<uint64_t> entered{flow.root};  // from where nobody sees
  for (const auto& [pc, block] : flow.blocks) {
    const engine::Located& last = block.instructions.back();
    const Successors successors = successors_of(block);
    if (successors.anywhere) entered.insert(last.next());
    if (isa::control_of(last.instruction).kind == isa::Control::Kind::call) entered.insert(last.target());
    for (const uint64_t next : successors.pcs) predecessors[next].push_back(pc);
  }
  // Entries that nothing leads to from there: of a part of a kernel, from its other parts.
  std::set<uint64_t> reached;
  const auto reach = [&](uint64_t start) {
    std::vector<uint64_t> to_do{start};
    while (!to_do.empty()) {
      const uint64_t pc = to_do.back();
      to_do.pop_back();
      const auto block = flow.blocks.find(pc);
      if (block == flow.blocks.end() || !reached.insert(pc).second) continue;
      for (const uint64_t next : successors_of(block->second).pcs) to_do.push_back(next);
    }
  };
  for (const uint64_t pc : entered) reach(pc);
  for (const uint64_t pc : flow.entries) {
    if (reached.contains(pc)) continue;
    entered.insert(pc);
    reach(pc);
  }
  const Dominators dominators(flow, entered, predecessors);
  for (const auto& [pc, from] : predecessors) {
    for (const uint64_t block : from) {
      if (dominators.dominates(pc, block)) branches_back[pc].push_back(block);
    }
  }

  std::vector<LoopRegion> candidates;
  for (const auto& [head, branches] : branches_back) {
    if (auto blocks = loop_of(head, branches, predecessors, entered)) {
      LoopRegion& candidate = candidates.emplace_back();
      candidate.entry = head;
      candidate.blocks = std::move(*blocks);
    }
  }
  std::ranges::sort(candidates, std::greater{}, [](const LoopRegion& loop) { return loop.blocks.size(); });
  std::vector<LoopRegion> regions;
  for (LoopRegion& candidate : candidates) {
    const bool within_another =
        std::ranges::any_of(regions, [&](const LoopRegion& region) { return region.contains(candidate.entry); });
    if (!within_another && fits(candidate, flow, liveness)) regions.push_back(std::move(candidate));
  }
  return regions;
}

}  // namespace Atoll::compiler

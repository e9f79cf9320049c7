// compiler: the proof that chunks may part from their wave (divergence.h).
#include "compiler/analysis/divergence.h"

#include <algorithm>
#include <optional>

#include "compiler/analysis/mask_dataflow.h"
#include "engine/interpreter/prepare.h"

namespace Atoll::compiler {

namespace {

using Function = DecisionDiagram::Function;
using SideEffects = MaskDataflow::SideEffects;
using Masks = MaskDataflow::Masks;
using Lowering = VaryingMasks::Lowering;

class Proof : MaskDataflow {
 public:
  Proof(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness)
      : MaskDataflow(flow.lane_mask_words()), region_(region), flow_(flow), liveness_(liveness) {}

  bool holds() {
    Places together;  // chunk and wave
    SideEffects side_effects;
    if (!follow(region_.entry, variable_masks(), {}, together, side_effects)) return false;
    for (const auto& [pc, places] : together) {
      if (!region_.contains(pc)) continue;
      for (const Masks& masks : places) {
        Masks after = masks;
        SideEffects ignored;
        const VaryingMasks state = pass_block(pc, after, ignored);
        const BlockEnd end = *end_of(flow_.blocks.at(pc));
        if (end.parts(state) && !may_part(end, after)) return false;
      }
    }
    return true;
  }

  /// For a chunk without active lanes: masks after each exit; null if something may happen to its rows.
  std::optional<std::map<uint64_t, std::vector<Masks>>> idle() {
    Masks start = variable_masks();
    entry_ = start;
    start.mask[isa::scalar::exec_lo] = DecisionDiagram::never;
    Places at;
    SideEffects side_effects;
    if (!follow(region_.entry, start, region_.exits, at, side_effects) || side_effects.rows) return std::nullopt;
    return at;
  }
  /// What idle() began with.
  Function entry_value(unsigned reg) const { return entry_.mask[reg]; }

 private:
  Function condition(const BlockEnd& end, Masks& masks) {
    switch (end.on) {
      case BlockEnd::On::exec:
        return known(masks.mask[isa::scalar::exec_lo]);
      case BlockEnd::On::vcc:
        return known(masks.mask[isa::scalar::vcc_lo]);
      default:
        return known(masks.scc);
    }
  }

  VaryingMasks pass_block(uint64_t pc, Masks& masks, SideEffects& side_effects);
  /// Masks as they may be where a block begins.
  using Places = std::map<uint64_t, std::vector<Masks>>;
  bool follow(uint64_t start, const Masks& masks, const std::set<uint64_t>& ends, Places& at,
              SideEffects& side_effects);
  void meet(std::vector<Masks>& here, uint64_t pc, const Masks& coming, bool& is_new);
  bool may_part(const BlockEnd& end, const Masks& masks);
  bool together_again(uint64_t pc, const Masks& wave, const Masks& chunk, const ScalarSet& written);

  static constexpr uint32_t max_variables = 20'000;
  static constexpr uint64_t most_passed = 200'000;
  static constexpr unsigned max_masks_of_a_place = 6;

  const LoopRegion& region_;
  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
  Masks entry_;
  uint64_t passed_ = 0;  ///< instructions
};

/// A block without its branch. Yields what is varying at its end.
VaryingMasks Proof::pass_block(uint64_t pc, Masks& masks, SideEffects& side_effects) {
  VaryingMasks state = region_.states.at(pc);
  passed_ += flow_.blocks.at(pc).instructions.size();
  for (const engine::Located& at : body_of(flow_.blocks.at(pc))) {
    if (changes_no_data(at.instruction)) continue;
    const Lowering lowering = state.lowering(at.instruction, /*inside=*/true);
    pass(at.instruction, lowering, masks, side_effects);
    state.step(at.instruction, lowering);
  }
  return state;
}

/// A path reaches the start of a block. Up to a few sets of masks are kept separate; then they are joined, and masks
/// that differ become unknown.
void Proof::meet(std::vector<Masks>& here, uint64_t pc, const Masks& coming, bool& is_new) {
  const ScalarSet& live = liveness_.before(pc).scalars;
  Masks masks = coming;
  for (unsigned reg = 0; reg < masks.mask.size(); reg += words()) {
    if (!has_mask(live, reg, words()) && reg != isa::scalar::exec_lo) masks.mask[reg] = unknown;
  }
  if (!live[scc_number]) masks.scc = unknown;
  const auto equal = [&](Function f, Function g) { return f == g || same(f, g); };
  is_new = std::ranges::none_of(here, [&](const Masks& known_masks) {
    return std::ranges::equal(known_masks.mask, masks.mask, equal) && equal(known_masks.scc, masks.scc);
  });
  // One set in which masks are unknown takes in every other that agrees on the rest.
  const auto takes_in = [&](const Masks& wide) {
    const auto fits = [&](Function f, Function g) { return f == unknown || equal(f, g); };
    return std::ranges::equal(wide.mask, masks.mask, fits) && fits(wide.scc, masks.scc);
  };
  is_new = is_new && std::ranges::none_of(here, takes_in);
  if (!is_new) return;
  here.push_back(masks);
  if (here.size() <= max_masks_of_a_place) return;
  Masks one = here.front();
  for (const Masks& other : here) {
    for (unsigned reg = 0; reg < one.mask.size(); reg += words()) {
      if (!equal(one.mask[reg], other.mask[reg])) one.mask[reg] = unknown;
    }
    if (!equal(one.scc, other.scc)) one.scc = unknown;
  }
  here = {one};
}

/// All ways from the beginning of the block `start` on, up to `ends` (without any: everywhere in the region), until
/// nothing new is found. False: a way leads out of the region elsewhere, or there is no end to it.
bool Proof::follow(uint64_t start, const Masks& masks, const std::set<uint64_t>& ends, Places& at,
                   SideEffects& side_effects) {
  std::vector<std::pair<uint64_t, Masks>> to_do;
  const auto go = [&](uint64_t pc, const Masks& coming) {
    const bool stops = ends.contains(pc);
    if (!stops && !region_.contains(pc)) return ends.empty();
    std::vector<Masks>& here = at[pc];
    bool is_new = false;
    meet(here, pc, coming, is_new);
    if (is_new && !stops) to_do.emplace_back(pc, here.back());
    return true;
  };
  if (!go(start, masks)) return false;
  while (!to_do.empty()) {
    if (variables() > max_variables || passed_ > most_passed) return false;
    auto [pc, now] = to_do.back();
    to_do.pop_back();
    pass_block(pc, now, side_effects);
    const BlockEnd end = *end_of(flow_.blocks.at(pc));
    if (!go(end.if_zero, now) || !go(end.if_not, now)) return false;
  }
  return true;
}

bool Proof::together_again(uint64_t pc, const Masks& wave, const Masks& chunk, const ScalarSet& written) {
  const ScalarSet& live = liveness_.before(pc).scalars;
  const VaryingMasks& state = region_.states.at(pc);
  if (live[scc_number] && written[scc_number]) return false;
  if (live[scc_number] && !same(wave.scc, chunk.scc)) return false;
  for (unsigned reg = 0; reg < isa::scalar::count; reg += words()) {
    if (!has_mask(live, reg, words())) continue;
    if (state.is_varying(reg)) {
      if (!same(wave.mask[reg], chunk.mask[reg])) return false;
    } else if (has_mask(live & written, reg, words())) {
      return false;
    }
  }
  return true;
}

/// At the end of a block with these masks the chunk goes to `if_zero` and the wave to `if_not`.
bool Proof::may_part(const BlockEnd& end, const Masks& masks) {
  Masks start = masks;
  give_variables(start);
  const Function not_zero = condition(end, start);
  Function care = logic().not_of(not_zero);
  // The wave's mask is not zero, and would be if a bit that is the same for all lanes were not set.
  for (const Function variable : uniform()) {
    if (logic().implies(not_zero, variable)) care = logic().both(care, variable);
  }
  set_care(care);
  struct Restore {
    Proof& proof;
    ~Restore() { proof.set_care(DecisionDiagram::always); }
  } restore{*this};

  Masks chunk = start;
  SideEffects chunk_deeds;
  constexpr unsigned max_blocks = 16;
  uint64_t pc = end.if_zero;
  for (unsigned i = 0; i < max_blocks; ++i) {
    Places at;
    SideEffects wave_deeds;
    const bool comes_there = follow(end.if_not, start, {pc}, at, wave_deeds);
    // By itself, a chunk may have addresses that the wave never has.
    if (wave_deeds.rows || chunk_deeds.rows || chunk_deeds.loads) return false;
    if (comes_there) {
      const ScalarSet written = wave_deeds.scalars | chunk_deeds.scalars;
      if (std::ranges::all_of(at[pc], [&](const Masks& wave) { return together_again(pc, wave, chunk, written); })) {
        return true;
      }
    }
    // Further on, as long as it is certain where the chunk goes.
    if (!region_.contains(pc)) return false;
    const VaryingMasks state = pass_block(pc, chunk, chunk_deeds);
    const BlockEnd next = *end_of(flow_.blocks.at(pc));
    if (next.if_zero != next.if_not) {
      if (!next.parts(state) || !never(condition(next, chunk))) return false;
    }
    pc = next.if_zero;
  }
  return false;
}

}  // namespace

bool chunks_may_diverge(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness) {
  return Proof(region, flow, liveness).holds();
}

void consider_inactive_chunks(LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness) {
  Proof proof(region, flow, liveness);
  const auto after = proof.idle();
  if (!after) return;
  VaryingMasks::Registers kept, cleared;
  for (const uint64_t pc : region.exits) {
    const auto places = after->find(pc);
    if (places == after->end()) continue;
    const ScalarSet& live = liveness.before(pc).scalars;
    const VaryingMasks& state = region.states.at(pc);
    if (state.scc_varies && live[scc_number]) return;
    for (unsigned reg = 0; reg < isa::scalar::count; reg += flow.lane_mask_words()) {
      if (!state.is_varying(reg) || !has_mask(live, reg, flow.lane_mask_words())) continue;
      for (const Masks& masks : places->second) {
        if (masks.mask[reg] == DecisionDiagram::never) {
          cleared.set(reg);
        } else if (masks.mask[reg] == proof.entry_value(reg)) {
          kept.set(reg);
        } else {
          return;
        }
      }
    }
  }
  // EXEC that has no lane of the chunk is both.
  cleared.reset(isa::scalar::exec_lo);
  if ((kept & cleared).any()) return;
  region.skips_inactive_chunks = true;
  region.kept = kept;
}

}  // namespace Atoll::compiler

// compiler: the proof that chunks may part from their wave (parting.h).
#include "compiler/parting.h"

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/lane_code.h"
#include "compiler/mask_logic.h"
#include "compiler/scalar_code.h"
#include "engine/prepare.h"
#include "engine/vector.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using Function = MaskLogic::Function;
using Way = SliceState::Way;
namespace flag = isa::flag;

constexpr unsigned exec_pair = isa::scalar::exec_lo / 2, vcc_pair = isa::scalar::vcc_lo / 2;

/// Of a mask of which nothing is known. Whoever reads it gives it a variable first.
constexpr Function unknown = UINT32_MAX;

/// The bits of one lane of the chunk in all register pairs, and in the mask that SCC tells of.
struct Masks {
  std::array<Function, SliceState::pairs> pair{};
  Function scc = MaskLogic::never;
  Function exec() const { return pair[exec_pair]; }
};

/// What happened on a way through the code, or on any of several ways.
struct Deeds {
  bool rows = false;   ///< a vector instruction may have had lanes of the chunk
  bool loads = false;  ///< with addresses that are the same for the whole wave
  ScalarSet scalars;   ///< written, the same for the whole wave
};

class Proof {
 public:
  Proof(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness)
      : region_(region), flow_(flow), liveness_(liveness) {}

  bool holds() {
    Places together;  // chunk and wave
    Deeds deeds;
    if (!follow(region_.entry, variable_masks(), {}, together, deeds)) return false;
    for (const auto& [pc, places] : together) {
      if (!region_.contains(pc)) continue;
      for (const Masks& masks : places) {
        Masks behind = masks;
        Deeds ignored;
        const SliceState state = pass(pc, behind, ignored);
        const BlockEnd end = *end_of(flow_.blocks.at(pc));
        if (end.parts(state) && !may_part(end, behind)) return false;
      }
    }
    return true;
  }

  /// For a chunk without active lanes: masks behind each exit; null if something may happen to its rows.
  std::optional<std::map<uint64_t, std::vector<Masks>>> idle() {
    Masks start = variable_masks();
    entry_ = start;
    start.pair[exec_pair] = MaskLogic::never;
    Places at;
    Deeds deeds;
    if (!follow(region_.entry, start, region_.exits, at, deeds) || deeds.rows) return std::nullopt;
    return at;
  }
  /// What idle() began with.
  Function entry_value(unsigned pair) const { return entry_.pair[pair]; }

 private:
  Function fresh() { return logic_.variable(next_variable_++); }
  Function fresh_uniform() {
    uniform_.push_back(fresh());
    return uniform_.back();
  }
  Function known(Function& mask) {
    if (mask == unknown) mask = fresh();
    return mask;
  }
  void give_variables(Masks& masks) {
    for (Function& each : masks.pair) known(each);
    known(masks.scc);
  }
  Masks variable_masks() {
    Masks masks;
    masks.pair.fill(unknown);
    masks.scc = unknown;
    give_variables(masks);
    return masks;
  }
  bool never(Function f) { return logic_.both(f, care_) == MaskLogic::never; }
  bool same(Function f, Function g) {
    if (f == unknown || g == unknown) return false;
    return f == g || never(logic_.differs(f, g));
  }

  Function condition(const BlockEnd& end, Masks& masks) {
    switch (end.on) {
      case BlockEnd::On::exec:
        return known(masks.pair[exec_pair]);
      case BlockEnd::On::vcc:
        return known(masks.pair[vcc_pair]);
      default:
        return known(masks.scc);
    }
  }

  void pass(const isa::Instruction& instruction, Way way, Masks& masks, Deeds& deeds);
  SliceState pass(uint64_t pc, Masks& masks, Deeds& deeds);
  /// Masks as they may be where a block begins.
  using Places = std::map<uint64_t, std::vector<Masks>>;
  bool follow(uint64_t start, const Masks& masks, const std::set<uint64_t>& ends, Places& at, Deeds& deeds);
  void meet(std::vector<Masks>& here, uint64_t pc, const Masks& coming, bool& is_new);
  bool may_part(const BlockEnd& end, const Masks& masks);
  bool together_again(uint64_t pc, const Masks& wave, const Masks& chunk, const ScalarSet& written);

  static constexpr uint32_t most_variables = 20'000;
  static constexpr uint64_t most_passed = 200'000;
  static constexpr unsigned most_masks_of_a_place = 6;

  const LoopRegion& region_;
  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
  MaskLogic logic_;
  Masks entry_;
  uint32_t next_variable_ = 0;
  uint64_t passed_ = 0;                ///< instructions
  Function care_ = MaskLogic::always;  ///< holds for the lanes that matter
  std::vector<Function> uniform_;      ///< variables that have the same value for all lanes
};

/// One instruction, in the way that it is carried out.
void Proof::pass(const isa::Instruction& instruction, Way way, Masks& masks, Deeds& deeds) {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  if (way == Way::memory) {
    if (!never(known(masks.pair[exec_pair]))) deeds.rows = true;
    return;
  }
  if (way == Way::lanes) {
    const engine::VectorOperands operands = engine::vector_operands(instruction);
    const Function exec = known(masks.pair[exec_pair]);
    if (operands.results != 0 && !never(exec)) deeds.rows = true;
    if (operands.mask_result != nullptr) {
      const Function result = never(exec) ? MaskLogic::never : logic_.both(fresh(), exec);
      masks.pair[operands.mask_result->reg / 2] = result;
      if (row.has(flag::exec_out)) masks.pair[exec_pair] = result;
    }
    return;
  }
  if (way == Way::scalars) {
    const Effects effects = effects_of(instruction);
    deeds.scalars |= effects.writes;
    deeds.loads |= ScalarCode::takes_load(instruction);
    if (row.has(flag::scc_out)) masks.scc = unknown;
  }
  bool bitwise = ScalarCode::takes(instruction) && works_on_each_bit(instruction) && is_mask(instruction.dst());
  std::array<Function, 3> inputs{MaskLogic::never, MaskLogic::never, known(masks.pair[exec_pair])};
  for (unsigned i = 0; bitwise && i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    const auto value = engine::constant_value(source);
    if (is_mask(source)) {
      inputs[i] = known(masks.pair[source.reg / 2]);
    } else if (value == uint64_t{0} || value == ~uint64_t{0}) {
      inputs[i] = value == uint64_t{0} ? MaskLogic::never : MaskLogic::always;
    } else if (value) {
      inputs[i] = fresh();
    } else {
      bitwise = false;
    }
  }
  if (bitwise) {
    const BitFunction function = bit_function(instruction);
    const bool by_scc = function.result[0] != function.result[1] || function.exec[0] != function.exec[1];
    const Function scc = by_scc ? fresh_uniform() : MaskLogic::never;
    const auto value = [&](const uint8_t(&table)[2]) {
      return logic_.choose(scc, logic_.of_table(inputs, table[1]), logic_.of_table(inputs, table[0]));
    };
    Function result = value(function.result);
    const Function exec = value(function.exec);
    masks.pair[instruction.dst().reg / 2] = result;
    if (row.has(flag::exec_out)) masks.pair[exec_pair] = result = exec;
    if (row.has(flag::scc_out)) masks.scc = result;
    return;
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    for (unsigned word = 0; operand.kind == isa::OperandKind::scalar && word < operand.words; ++word) {
      masks.pair[(operand.reg + word) / 2] = unknown;
    }
  }
  if (row.has(flag::exec_out)) masks.pair[exec_pair] = unknown;
}

/// A block without its branch. Yields what is in slices at its end.
SliceState Proof::pass(uint64_t pc, Masks& masks, Deeds& deeds) {
  SliceState state = region_.states.at(pc);
  passed_ += flow_.blocks.at(pc).instructions.size();
  for (const engine::Located& at : body_of(flow_.blocks.at(pc))) {
    if (changes_no_data(at.instruction)) continue;
    const Way way = state.way(at.instruction, /*inside=*/true);
    pass(at.instruction, way, masks, deeds);
    state.step(at.instruction, way);
  }
  return state;
}

/// A way comes to where a block begins. Up to a few sets of masks are kept apart; then they become one, in which masks
/// that differ are unknown.
void Proof::meet(std::vector<Masks>& here, uint64_t pc, const Masks& coming, bool& is_new) {
  const ScalarSet& live = liveness_.before(pc).scalars;
  Masks masks = coming;
  for (unsigned i = 0; i < masks.pair.size(); ++i) {
    if (!live[2 * i] && !live[2 * i + 1] && i != exec_pair) masks.pair[i] = unknown;
  }
  if (!live[scc_number]) masks.scc = unknown;
  const auto equal = [&](Function f, Function g) { return f == g || same(f, g); };
  is_new = std::ranges::none_of(here, [&](const Masks& known_masks) {
    return std::ranges::equal(known_masks.pair, masks.pair, equal) && equal(known_masks.scc, masks.scc);
  });
  // One set in which masks are unknown takes in every other that agrees on the rest.
  const auto takes_in = [&](const Masks& wide) {
    const auto fits = [&](Function f, Function g) { return f == unknown || equal(f, g); };
    return std::ranges::equal(wide.pair, masks.pair, fits) && fits(wide.scc, masks.scc);
  };
  if (!is_new || (is_new = std::ranges::none_of(here, takes_in), !is_new)) return;
  here.push_back(masks);
  if (here.size() <= most_masks_of_a_place) return;
  Masks one = here.front();
  for (const Masks& other : here) {
    for (unsigned i = 0; i < one.pair.size(); ++i) {
      if (!equal(one.pair[i], other.pair[i])) one.pair[i] = unknown;
    }
    if (!equal(one.scc, other.scc)) one.scc = unknown;
  }
  here = {one};
}

/// All ways from the beginning of the block `start` on, up to `ends` (without any: everywhere in the region), until
/// nothing new is found. False: a way leads out of the region elsewhere, or there is no end to it.
bool Proof::follow(uint64_t start, const Masks& masks, const std::set<uint64_t>& ends, Places& at, Deeds& deeds) {
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
    if (next_variable_ > most_variables || passed_ > most_passed) return false;
    auto [pc, now] = to_do.back();
    to_do.pop_back();
    pass(pc, now, deeds);
    const BlockEnd end = *end_of(flow_.blocks.at(pc));
    if (!go(end.if_zero, now) || !go(end.if_not, now)) return false;
  }
  return true;
}

bool Proof::together_again(uint64_t pc, const Masks& wave, const Masks& chunk, const ScalarSet& written) {
  const ScalarSet& live = liveness_.before(pc).scalars;
  const SliceState& state = region_.states.at(pc);
  if (live[scc_number] && written[scc_number]) return false;
  if (live[scc_number] && !same(wave.scc, chunk.scc)) return false;
  for (unsigned pair = 0; pair < SliceState::pairs; ++pair) {
    if (!live[2 * pair] && !live[2 * pair + 1]) continue;
    if (state.sliced[pair]) {
      if (!same(wave.pair[pair], chunk.pair[pair])) return false;
    } else if ((live & written)[2 * pair] || (live & written)[2 * pair + 1]) {
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
  care_ = logic_.not_of(not_zero);
  // The wave's mask is not zero, and would be if a bit that is the same for all lanes were not set.
  for (const Function variable : uniform_) {
    if (logic_.implies(not_zero, variable)) care_ = logic_.both(care_, variable);
  }
  struct Restore {
    Function& care;
    ~Restore() { care = MaskLogic::always; }
  } restore{care_};

  Masks chunk = start;
  Deeds chunk_deeds;
  constexpr unsigned most_blocks = 16;
  uint64_t pc = end.if_zero;
  for (unsigned i = 0; i < most_blocks; ++i) {
    Places at;
    Deeds wave_deeds;
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
    const SliceState state = pass(pc, chunk, chunk_deeds);
    const BlockEnd next = *end_of(flow_.blocks.at(pc));
    if (next.if_zero != next.if_not) {
      if (!next.parts(state) || !never(condition(next, chunk))) return false;
    }
    pc = next.if_zero;
  }
  return false;
}

}  // namespace

bool chunks_may_part(const LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness) {
  return Proof(region, flow, liveness).holds();
}

void consider_idle_chunks(LoopRegion& region, const engine::ControlFlow& flow, const Liveness& liveness) {
  Proof proof(region, flow, liveness);
  const auto behind = proof.idle();
  if (!behind) return;
  std::bitset<SliceState::pairs> kept, cleared;
  for (const uint64_t pc : region.exits) {
    const auto places = behind->find(pc);
    if (places == behind->end()) continue;
    const ScalarSet& live = liveness.before(pc).scalars;
    const SliceState& state = region.states.at(pc);
    if (state.scc_sliced && live[scc_number]) return;
    for (unsigned pair = 0; pair < SliceState::pairs; ++pair) {
      if (!state.sliced[pair] || (!live[2 * pair] && !live[2 * pair + 1])) continue;
      for (const Masks& masks : places->second) {
        if (masks.pair[pair] == MaskLogic::never) {
          cleared.set(pair);
        } else if (masks.pair[pair] == proof.entry_value(pair)) {
          kept.set(pair);
        } else {
          return;
        }
      }
    }
  }
  // EXEC that has no lane of the chunk is both.
  cleared.reset(exec_pair);
  if ((kept & cleared).any()) return;
  region.leaves_out_idle_chunks = true;
  region.kept = kept;
}

}  // namespace Atoll::compiler

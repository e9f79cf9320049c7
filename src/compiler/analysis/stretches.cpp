// compiler: see stretches.h.
#include "compiler/analysis/stretches.h"

#include "isa/table.h"

namespace Atoll::compiler {

namespace {

/// EXEC is always defined: undefined bits are told where they are about to come into it.
ScalarSet without_exec(ScalarSet scalars) {
  scalars.reset(isa::scalar::exec_lo);
  scalars.reset(isa::scalar::exec_hi);
  return scalars;
}

}  // namespace

std::vector<Stretch> stretches_of(const engine::Block& block,
                                  const std::function<bool(const isa::Instruction&)>& is_told) {
  std::vector<Stretch> stretches;
  ScalarSet loaded_scalars;  // in the stretch
  VectorSet loaded;
  bool begins = true;
  for (size_t i = 0; i < block.instructions.size(); ++i) {
    const isa::Instruction& instruction = block.instructions[i].instruction;
    const LaneEffects effects = lane_effects_of(instruction);
    const bool told = is_told(instruction);
    const bool needs_loaded = ((effects.reads | effects.writes) & loaded_scalars).any() ||
                              ((effects.vector_reads | effects.vector_writes) & loaded).any();
    const bool is_control = isa::control_of(instruction).kind != isa::Control::Kind::next;
    if (begins || told || needs_loaded || is_control) {
      stretches.push_back({.first = i, .is_told = told});
      loaded_scalars.reset();
      loaded.reset();
    }
    begins = told || is_control || effects.exec != LaneEffects::Exec::stays;
    if (told) continue;
    Stretch& stretch = stretches.back();
    stretch.scalar_reads |= without_exec(effects.reads) & ~stretch.scalar_writes;
    stretch.scalar_writes |= without_exec(effects.writes);
    if (effects.reads_inactive) {
      stretch.reads_all |= effects.vector_reads;
    } else {
      stretch.reads |= effects.vector_reads & ~stretch.writes;
    }
    stretch.writes |= effects.vector_writes;
    if (!isa::row_of(instruction).has(isa::flag::memory)) continue;
    stretch.accesses = true;
    loaded_scalars |= effects.writes;
    loaded |= effects.vector_writes;
  }
  return stretches;
}

}  // namespace Atoll::compiler

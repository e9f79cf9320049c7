// engine: global wave sync (global_wave_sync.h).
#include "engine/interpreter/global_wave_sync.h"

#include "engine/interpreter/vector.h"
#include "isa/table.h"

namespace Atoll::engine {

namespace {

using isa::Opcode;
using isa::Operation;

constexpr uint8_t is_waiting = 2;  ///< beside the phase in bit 0

unsigned resource_of(const Wave& wave, const isa::Instruction& instruction) {
  return ((wave.scalar[isa::scalar::m0] >> 16) + static_cast<uint32_t>(instruction.offset)) %
         GlobalWaveSync::resource_count;
}

/// The operand: of the first active lane.
uint32_t value_of(const Wave& wave, const isa::Instruction& instruction) {
  if (instruction.operand_count == 0 || wave.exec() == 0) return 0;
  return wave.vgpr[instruction.operands[0].reg][__builtin_ctzll(wave.exec())];
}

void initialize(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  run.sync->initialize(resource_of(wave, instruction), value_of(wave, instruction));
}

template <bool all>
void signal(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const bool one = instruction.opcode == Opcode::ds_gws_sema_v;
  const unsigned resource = resource_of(wave, instruction);
  if constexpr (all) {
    run.sync->release_all(resource);
  } else {
    run.sync->signal(resource, one ? 1 : value_of(wave, instruction));
  }
}

/// A wave that has to wait is given back where it is: it runs the instruction again when it is its turn.
template <bool is_barrier>
bool wait(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const unsigned resource = resource_of(wave, instruction);
  const bool passes = is_barrier ? run.sync->barrier(resource, value_of(wave, instruction), wave.global_sync)
                                 : run.sync->wait(resource, wave.global_sync);
  if (!passes) {
    --run.instructions;  // counts once, when it is through
    stop(wave, machine::WaveState::ready, op.origin->pc);
  }
  return passes;
}

}  // namespace

void GlobalWaveSync::initialize(unsigned resource, uint32_t value) {
  const std::lock_guard lock(mutex_);
  resources_[resource].count = value;
}

void GlobalWaveSync::signal(unsigned resource, uint32_t count) {
  const std::lock_guard lock(mutex_);
  resources_[resource].count += count;
}

void GlobalWaveSync::release_all(unsigned resource) {
  const std::lock_guard lock(mutex_);
  resources_[resource].phase = !resources_[resource].phase;
}

bool GlobalWaveSync::released(const Resource& resource, uint8_t& waiting) {
  if ((waiting & 1) == static_cast<uint8_t>(resource.phase)) return false;
  waiting = 0;
  return true;
}

bool GlobalWaveSync::barrier(unsigned resource, uint32_t value, uint8_t& waiting) {
  const std::lock_guard lock(mutex_);
  Resource& r = resources_[resource];
  if (waiting != 0) return released(r, waiting);
  if (r.count <= 0) {  // the last one
    r.phase = !r.phase;
    r.count = value;
    return true;
  }
  --r.count;
  waiting = static_cast<uint8_t>(is_waiting | static_cast<uint8_t>(r.phase));
  return false;
}

bool GlobalWaveSync::wait(unsigned resource, uint8_t& waiting) {
  const std::lock_guard lock(mutex_);
  Resource& r = resources_[resource];
  if (waiting != 0 && released(r, waiting)) return true;
  if (r.count > 0) {
    --r.count;
    waiting = 0;
    return true;
  }
  waiting = static_cast<uint8_t>(is_waiting | static_cast<uint8_t>(r.phase));
  return false;
}

Handler prepare_global_wave_sync(Preparation& p) {
  switch (isa::row_of(p.instruction).computes.operation) {
    case Operation::gws_init:
      return step<initialize>;
    case Operation::gws_signal:
    case Operation::gws_signal_some:
      return step<signal<false>>;
    case Operation::gws_release_all:
      return step<signal<true>>;
    case Operation::gws_barrier:
      return step_or_stop<wait<true>>;
    case Operation::gws_wait:
      return step_or_stop<wait<false>>;
    default:
      return nullptr;
  }
}

}  // namespace Atoll::engine

// engine: telling an observer what a wave does (observation.h).
#include "engine/interpreter/observation.h"

#include "engine/vgpr_banks.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "machine/wave_control.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

namespace {

using semantics::MemoryAccess;

/// The events to report before an instruction.
struct Reported {
  bool path = false, instruction = false, accesses = false, overrides_loaded_values = false;
};

/// Reports an instruction unless translated code has reported its block already and left the rest of it to the
/// interpreter.
void report_step(Wave& wave, const OpMetadata& origin, const Run& run) {
  const uint64_t next = origin.pc + origin.instruction.size;
  if (origin.pc >= wave.reported.from && origin.pc < wave.reported.until) {
    wave.reported.from = next;
    return;
  }
  const bool has_banks = origin.instruction.generation >= target::Generation::gfx12_5;
  report_path(wave, run, {.begin = origin.pc, .end = next, .banks = has_banks ? vgpr_banks(wave) : uint8_t{0}});
  wave.reported.from = next;
}

template <Reported reported>
void observed(Wave& wave, const MicroOp* op, Run& run) {
  const OpMetadata& origin = *op->origin;
  if (run.control != nullptr && run.control->skips_events(wave, origin.pc)) [[unlikely]] {
    [[clang::musttail]] return origin.observed(wave, op, run);
  }
  if constexpr (reported.path) report_step(wave, origin, run);
  if constexpr (reported.overrides_loaded_values) run.client->override_loaded_values(wave, origin.instruction);
  if constexpr (reported.instruction) run.observer->instruction(wave, origin.pc, origin.instruction);
  if constexpr (reported.accesses) {
    AccessReporter reporter(*run.observer, wave, origin);
    origin.accesses(wave, *op, run, reporter);
  }
  if (run.control != nullptr && run.control->stops_after_events(wave, origin.pc)) [[unlikely]] {
    run.stopped = true;
    return stop(wave, machine::WaveState::ready, origin.pc);
  }
  [[clang::musttail]] return origin.observed(wave, op, run);
}

}  // namespace

AccessDirection direction_of(const isa::Instruction& instruction) {
  using enum MemoryAccess::Kind;
  const MemoryAccess::Kind kind = semantics::memory_access(instruction).kind;
  const bool is_atomic = kind == atomic || kind == append || kind == consume || kind == conditional_exchange;
  const bool writes = is_atomic || kind == store || kind == store_block || kind == store_from_lds;
  return {.reads = is_atomic || !writes, .writes = writes, .is_atomic = is_atomic};
}

AccessReporter::AccessReporter(machine::Observer& observer, const Wave& wave, const OpMetadata& origin)
    : observer_(observer), wave_(wave), origin_(origin) {
  const AccessDirection direction = direction_of(origin.instruction);
  set_direction(direction.reads, direction.writes, direction.is_atomic);
  is_scalar_ = origin.instruction.encoding == isa::Encoding::smem;
}

void AccessReporter::report(machine::Space space, const uint64_t* addresses, uint64_t lanes, unsigned bytes, bool reads,
                            bool writes) {
  if (lanes == 0 || bytes == 0) return;
  observer_.access(wave_, {.instruction = origin_.instruction,
                           .pc = origin_.pc,
                           .space = space,
                           .reads = reads,
                           .writes = writes,
                           .is_atomic = is_atomic_,
                           .is_scalar = is_scalar_,
                           .drops_bits = drops_bits_,
                           .bytes = bytes,
                           .lanes = lanes,
                           .addresses = addresses,
                           .pattern = access_pattern(addresses, lanes, bytes)});
}

void AccessReporter::report_offsets(machine::Space space, const uint32_t* offsets, uint64_t lanes, unsigned bytes,
                                    bool reads, bool writes) {
  LaneAddresses addresses;
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) addresses.of[lane] = offsets[lane];
  report(space, addresses.of, lanes, bytes, reads, writes);
}

void AccessReporter::scalar(uint64_t address, unsigned bytes, unsigned granule) {
  LaneAddresses addresses;
  addresses.of[0] = address & ~uint64_t{granule - 1};
  drops_bits_ = addresses.of[0] != address;
  report(machine::Space::global, addresses.of, 1, bytes, reads_, writes_);
}

bool synchronises(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  if (row.has(isa::flag::barrier | isa::flag::gws | isa::flag::cache_control)) return true;
  switch (row.computes.operation) {
    case isa::Operation::wait_counter:
    case isa::Operation::wait_idle:
    case isa::Operation::wait_event:
      return row.has(isa::flag::no_state);
    default:
      return false;
  }
}

Handler observe(OpMetadata& origin, Handler handler, const machine::Watched& watched) {
  const machine::EventMask& events = watched.events;
  const machine::InstrumentationRequest& request = watched.instrumentation;
  const Reported reported{
      .path = request.paths,
      .instruction = events.instructions || request.undefined_values ||
                     (events.synchronisation && synchronises(origin.instruction)) ||
                     (events.whole_waves && isa::works_on_whole_waves(origin.instruction)),
      .accesses = (events.accesses || request.filtered_accesses || request.undefined_values || request.paths) &&
                  origin.accesses != nullptr,
      .overrides_loaded_values = request.loads,
  };
  if (!reported.path && !reported.instruction && !reported.accesses && !reported.overrides_loaded_values)
    return handler;
  origin.observed = handler;
  const auto choose = [&]<bool path>() -> Handler {
    // Observers that override loaded values receive all instructions.
    if (reported.overrides_loaded_values) {
      return reported.accesses ? observed<Reported{path, true, true, true}>
                               : observed<Reported{path, true, false, true}>;
    }
    if (reported.accesses) {
      return reported.instruction ? observed<Reported{path, true, true}> : observed<Reported{path, false, true}>;
    }
    return reported.instruction ? observed<Reported{path, true, false}> : observed<Reported{path, false, false}>;
  };
  return reported.path ? choose.operator()<true>() : choose.operator()<false>();
}

}  // namespace Atoll::engine

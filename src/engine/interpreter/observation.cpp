// engine: telling an observer what a wave does (observation.h).
#include "engine/interpreter/observation.h"

#include "engine/vgpr_banks.h"
#include "isa/table.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

namespace {

using semantics::MemoryAccess;

/// What is told before an instruction.
struct Told {
  bool path = false, instruction = false, accesses = false, settles_loads = false;
};

/// Of an instruction, if it has not been told already: translated code tells of a block as it begins, and may leave the
/// rest of it to the interpreter.
void tell_step(Wave& wave, const Origin& origin, const Run& run) {
  const uint64_t next = origin.pc + origin.instruction.size;
  if (origin.pc >= wave.told.from && origin.pc < wave.told.until) {
    wave.told.from = next;
    return;
  }
  const bool has_banks = origin.instruction.generation >= target::Generation::gfx12_5;
  tell_path(wave, run, {.begin = origin.pc, .end = next, .banks = has_banks ? vgpr_banks(wave) : uint8_t{0}});
  wave.told.from = next;
}

template <Told told>
void observed(Wave& wave, const MicroOp* op, Run& run) {
  const Origin& origin = *op->origin;
  if constexpr (told.path) tell_step(wave, origin, run);
  if constexpr (told.settles_loads) run.observer->settle_loads(wave, origin.instruction);
  if constexpr (told.instruction) run.observer->instruction(wave, origin.pc, origin.instruction);
  if constexpr (told.accesses) {
    AccessTeller teller(*run.observer, wave, origin);
    origin.accesses(wave, *op, run, teller);
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

AccessTeller::AccessTeller(machine::Observer& observer, const Wave& wave, const Origin& origin)
    : observer_(observer), wave_(wave), origin_(origin) {
  const AccessDirection direction = direction_of(origin.instruction);
  set_direction(direction.reads, direction.writes, direction.is_atomic);
  is_scalar_ = origin.instruction.encoding == isa::Encoding::smem;
}

void AccessTeller::tell(machine::Space space, const uint64_t* addresses, uint64_t lanes, unsigned bytes, bool reads,
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

void AccessTeller::tell_offsets(machine::Space space, const uint32_t* offsets, uint64_t lanes, unsigned bytes,
                                bool reads, bool writes) {
  LaneAddresses addresses;
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) addresses.of[lane] = offsets[lane];
  tell(space, addresses.of, lanes, bytes, reads, writes);
}

void AccessTeller::scalar(uint64_t address, unsigned bytes, unsigned granule) {
  LaneAddresses addresses;
  addresses.of[0] = address & ~uint64_t{granule - 1};
  drops_bits_ = addresses.of[0] != address;
  tell(machine::Space::global, addresses.of, 1, bytes, reads_, writes_);
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

Handler observe(Origin& origin, Handler handler, const machine::Watched& watched) {
  const Told told{
      .path = watched.paths,
      .instruction = watched.instructions || watched.definedness ||
                     (watched.synchronisation && synchronises(origin.instruction)) ||
                     (watched.whole_waves && isa::works_on_whole_waves(origin.instruction)),
      .accesses = (watched.accesses || watched.odd_accesses || watched.definedness || watched.paths) &&
                  origin.accesses != nullptr,
      .settles_loads = watched.loads,
  };
  if (!told.path && !told.instruction && !told.accesses && !told.settles_loads) return handler;
  origin.observed = handler;
  const auto choose = [&]<bool path>() -> Handler {
    // Who changes what is loaded is told of all instructions.
    if (told.settles_loads) {
      return told.accesses ? observed<Told{path, true, true, true}> : observed<Told{path, true, false, true}>;
    }
    if (told.accesses) {
      return told.instruction ? observed<Told{path, true, true}> : observed<Told{path, false, true}>;
    }
    return told.instruction ? observed<Told{path, true, false}> : observed<Told{path, false, false}>;
  };
  return told.path ? choose.operator()<true>() : choose.operator()<false>();
}

}  // namespace Atoll::engine

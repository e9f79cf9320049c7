// engine: telling an observer what a wave does (observation.h).
#include "engine/observation.h"

#include "semantics/memory_access.h"

namespace Atoll::engine {

namespace {

using semantics::MemoryAccess;

template <bool tells_instruction, bool tells_accesses, bool settles_loads = false>
void observed(Wave& wave, const MicroOp* op, Run& run) {
  const Origin& origin = *op->origin;
  if constexpr (settles_loads) run.observer->settle_loads(wave, origin.instruction);
  if constexpr (tells_instruction) run.observer->instruction(wave, origin.pc, origin.instruction);
  if constexpr (tells_accesses) {
    AccessTeller teller(*run.observer, wave, origin);
    origin.accesses(wave, *op, run, teller);
  }
  [[clang::musttail]] return origin.observed(wave, op, run);
}

}  // namespace

AccessTeller::AccessTeller(machine::Observer& observer, const Wave& wave, const Origin& origin)
    : observer_(observer), wave_(wave), origin_(origin) {
  using enum MemoryAccess::Kind;
  const MemoryAccess& access = semantics::memory_access(origin.instruction);
  is_atomic_ =
      access.kind == atomic || access.kind == append || access.kind == consume || access.kind == conditional_exchange;
  writes_ = is_atomic_ || access.kind == store || access.kind == store_block || access.kind == store_from_lds;
  reads_ = is_atomic_ || !writes_;
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
                           .addresses = addresses});
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

Handler observe(Origin& origin, Handler handler, const machine::Watched& watched) {
  const bool accesses = watched.accesses && origin.accesses != nullptr;
  if (!watched.instructions && !accesses && !watched.loads) return handler;
  origin.observed = handler;
  // Who changes what is loaded is told of all instructions.
  if (watched.loads) return accesses ? observed<true, true, true> : observed<true, false, true>;
  if (!accesses) return observed<true, false>;
  return watched.instructions ? observed<true, true> : observed<false, true>;
}

}  // namespace Atoll::engine

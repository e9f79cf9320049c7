// engine/compiled: see odd_access.h.
#include "engine/compiled/odd_access.h"

#include <algorithm>
#include <utility>

#include "engine/compiled/load_records.h"
#include "engine/interpreter/micro_op.h"
#include "engine/interpreter/observation.h"
#include "engine/memory/lane_memory.h"
#include "engine/memory/lane_scratch.h"
#include "machine/memory/memory.h"
#include "machine/observer.h"
#include "machine/wave/undefined_registers.h"

namespace Atoll::engine {

namespace {

/// What is kept, at most: then it is told, be the region over or not.
constexpr size_t most_kept = 4096;

/// Calls `visit` for an access as an observer sees it: flat addresses are of several memories. Changes these to
/// offsets.
template <typename Visit>
void as_events(const Wave& wave, const Origin& origin, const OddKind& kind, LaneAddresses& addresses,
               uint64_t accessing, const Visit& visit) {
  uint64_t global = 0, lds = 0, scratch = 0;
  for_each_lane(accessing, [&](unsigned lane) {
    const uint64_t address = addresses.of[lane], bit = uint64_t{1} << lane;
    if (kind.space == OddKind::Space::lds) {
      lds |= bit;
    } else if (kind.space == OddKind::Space::scratch) {
      scratch |= bit;
    } else if (kind.space != OddKind::Space::flat) {
      global |= bit;
    } else if (address >> 32 == machine::shared_aperture_hi) {
      lds |= bit;
      addresses.of[lane] = static_cast<uint32_t>(address);
    } else if (address >> 32 == machine::private_aperture_hi) {
      scratch |= bit;
      addresses.of[lane] = static_cast<uint32_t>(address);
    } else if (is_lane_scratch(address)) {
      scratch |= bit;
      addresses.of[lane] = lane_scratch(wave, address).offset;
    } else {
      global |= bit;
    }
  });
  const AccessDirection direction = direction_of(origin.instruction);
  const auto tell = [&](machine::Space space, uint64_t lanes) {
    if (lanes == 0) return;
    visit(machine::AccessEvent{.instruction = origin.instruction,
                               .pc = origin.pc,
                               .space = space,
                               .reads = direction.reads,
                               .writes = direction.writes,
                               .is_atomic = direction.is_atomic,
                               .is_scalar = kind.space == OddKind::Space::scalar,
                               .drops_bits = kind.drops_bits,
                               .bytes = kind.bytes,
                               .lanes = lanes,
                               .addresses = addresses.of,
                               .is_translated = true,
                               .element = kind.element,
                               .pattern = access_pattern(addresses.of, lanes, kind.bytes)});
  };
  tell(machine::Space::global, global);
  tell(machine::Space::lds, lds);
  tell(machine::Space::scratch, scratch);
}

template <typename Visit>
void as_events(const Wave& wave, const OddAccess& access, const Visit& visit) {
  LaneAddresses addresses;
  std::copy_n(access.addresses, semantics::chunk_lanes, addresses.of + access.first_lane);
  as_events(wave, *access.op->origin, access.kind, addresses, uint64_t{access.lanes} << access.first_lane, visit);
}

bool is_of_this_region(const OddAccess& access, const Wave& wave, const Run& run) {
  return access.region == wave.pc && access.visit == run.instructions;
}

}  // namespace

void odd_access(const Wave* wave, Run* run, const MicroOp* op, const uint64_t* addresses, uint32_t lanes,
                uint32_t first_lane, uint32_t kind, uint64_t time) {
  OddAccess access{.op = op,
                   .kind = OddKind::from_bits(kind),
                   .chunk = run->chunk,
                   .lanes = lanes,
                   .first_lane = first_lane,
                   .time = time,
                   .region = wave->pc,
                   .visit = run->instructions};
  std::copy_n(addresses, semantics::chunk_lanes, access.addresses);
  machine::Observer& observer = *run->observer;
  bool all_ordinary = true;
  as_events(*wave, access, [&](const machine::AccessEvent& event) {
    machine::OrdinaryMemory around;
    if (!observer.is_ordinary(*wave, event, around)) {
      all_ordinary = false;
    } else if (event.space == machine::Space::global && around.end > around.begin) {
      run->ordinary.memory[access.kind.range] = {.begin = around.begin, .size = around.end - around.begin};
    } else if (event.space == machine::Space::lds && around.begin == 0) {
      run->ordinary.lds_bytes = std::max(run->ordinary.lds_bytes, static_cast<uint32_t>(around.end));
    }
  });
  if (all_ordinary) return;
  const bool is_kept = access.chunk != no_chunk;
  if (!run->odd_accesses.empty() && (!is_kept || run->odd_accesses.size() >= most_kept ||
                                     !is_of_this_region(run->odd_accesses.back(), *wave, *run))) {
    tell_odd_accesses(*wave, *run);
  }
  run->odd_accesses.push_back(access);
  run->has_odd_accesses = true;
  if (!is_kept) tell_odd_accesses(*wave, *run);
}

void ask_what_is_ordinary(const Wave& wave, Run& run) {
  KnownOrdinary& known = run.ordinary;
  const machine::OrdinaryAccesses now = run.observer->ordinary_accesses(wave);
  known.scratch_bytes = now.scratch_bytes;
  known.lds_bytes = now.lds_bytes;
  run.undefined = now.undefined != nullptr ? now.undefined : &run.nothing_undefined;
  run.odd_accesses.clear();
  run.has_odd_accesses = false;
  const machine::Dispatch* dispatch = wave.work_group->dispatch;
  if (known.epoch == now.epoch && known.dispatch == dispatch) return;
  known.epoch = now.epoch;
  known.dispatch = dispatch;
  std::ranges::fill(known.memory, KnownOrdinary::Range{});
}

void tell_odd_accesses(const Wave& wave, Run& run) {
  const auto when = [](const OddAccess& access) { return std::pair(access.time, access.op->origin->pc); };
  std::vector<const OddAccess*> order;
  for (const OddAccess& access : run.odd_accesses) order.push_back(&access);
  std::ranges::sort(order, {}, [&](const OddAccess* access) { return std::pair(when(*access), access); });
  const OddAccess* last = nullptr;
  for (const OddAccess* access : order) {
    // A scalar access is done by all chunks of a loop, and by the wave once.
    const bool is_again =
        access->kind.space == OddKind::Space::scalar && last != nullptr && when(*last) == when(*access);
    if (!is_again) {
      as_events(wave, *access, [&](const machine::AccessEvent& event) { run.observer->access(wave, event); });
    }
    last = access;
  }
  run.odd_accesses.clear();
  run.has_odd_accesses = false;
}

void report_flat_load(const Wave& wave, Run& run, const Origin& origin, const OddKind& kind, LaneAddresses& addresses,
                      uint64_t lanes) {
  as_events(wave, origin, kind, addresses, lanes,
            [&](const machine::AccessEvent& event) { run.observer->access(wave, event); });
}

void accesses_are_over(const Wave* wave, Run* run) { tell_odd_accesses(*wave, *run); }

void forget_odd_accesses(const Wave& wave, Run& run) {
  if (run.chunk == no_chunk) return;
  std::erase_if(run.odd_accesses, [&](const OddAccess& access) {
    return is_of_this_region(access, wave, run) && access.chunk >= run.chunk;
  });
}

}  // namespace Atoll::engine

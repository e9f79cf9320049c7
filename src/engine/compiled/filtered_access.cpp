#include "engine/compiled/filtered_access.h"

#include <algorithm>
#include <utility>

#include "engine/compiled/compiled_run.h"
#include "engine/compiled/load_records.h"
#include "engine/interpreter/observation.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/lane_scratch.h"
#include "machine/memory/memory.h"
#include "machine/observer.h"
#include "machine/wave/undefined_registers.h"

namespace Atoll::engine {

namespace {

/// Buffered accesses per wave. A full buffer is reported before the region ends.
constexpr size_t max_kept = 4096;

/// Calls `visit` for an access as an observer sees it: flat addresses are of several memories. Changes these to
/// offsets.
template <typename Visit>
void as_events(const Wave& wave, const OpMetadata& origin, const FilteredAccessKind& kind, LaneAddresses& addresses,
               uint64_t accessing, const Visit& visit) {
  uint64_t global = 0, lds = 0, scratch = 0;
  for_each_lane(accessing, [&](unsigned lane) {
    const uint64_t address = addresses.of[lane], bit = uint64_t{1} << lane;
    if (kind.space == FilteredAccessKind::Space::lds) {
      lds |= bit;
    } else if (kind.space == FilteredAccessKind::Space::scratch) {
      scratch |= bit;
    } else if (kind.space != FilteredAccessKind::Space::flat) {
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
  const auto report = [&](machine::Space space, uint64_t lanes) {
    if (lanes == 0) return;
    visit(machine::AccessEvent{.instruction = origin.instruction,
                               .pc = origin.pc,
                               .space = space,
                               .reads = direction.reads,
                               .writes = direction.writes,
                               .is_atomic = direction.is_atomic,
                               .is_scalar = kind.space == FilteredAccessKind::Space::scalar,
                               .drops_bits = kind.drops_bits,
                               .bytes = kind.bytes,
                               .lanes = lanes,
                               .addresses = addresses.of,
                               .is_translated = true,
                               .element = kind.element,
                               .pattern = access_pattern(addresses.of, lanes, kind.bytes)});
  };
  report(machine::Space::global, global);
  report(machine::Space::lds, lds);
  report(machine::Space::scratch, scratch);
}

template <typename Visit>
void as_events(const Wave& wave, const FilteredAccess& access, const Visit& visit) {
  LaneAddresses addresses;
  std::copy_n(access.addresses, semantics::chunk_lanes, addresses.of + access.first_lane);
  as_events(wave, *access.op->origin, access.kind, addresses, uint64_t{access.lanes} << access.first_lane, visit);
}

bool is_of_this_region(const FilteredAccess& access, const Wave& wave, const CompiledRun& run) {
  return access.region == wave.pc && access.visit == run.run.instructions;
}

}  // namespace

void filtered_access(const Wave* wave, CompiledRun* run, const MicroOp* op, const uint64_t* addresses, uint32_t lanes,
                     uint32_t first_lane, uint32_t kind, uint64_t time) {
  FilteredAccess access{.op = op,
                        .kind = FilteredAccessKind::from_bits(kind),
                        .chunk = run->run.chunk,
                        .lanes = lanes,
                        .first_lane = first_lane,
                        .time = time,
                        .region = wave->pc,
                        .visit = run->run.instructions};
  std::copy_n(addresses, semantics::chunk_lanes, access.addresses);
  machine::InstrumentationClient& client = *run->run.client;
  bool all_ordinary = true;
  as_events(*wave, access, [&](const machine::AccessEvent& event) {
    machine::OrdinaryMemory around;
    if (!client.passes_filter(*wave, event, around)) {
      all_ordinary = false;
    } else if (event.space == machine::Space::global && around.end > around.begin) {
      run->ordinary.memory[access.kind.range] = {.begin = around.begin, .size = around.end - around.begin};
    } else if (event.space == machine::Space::lds && around.begin == 0) {
      run->ordinary.lds_bytes = std::max(run->ordinary.lds_bytes, static_cast<uint32_t>(around.end));
    }
  });
  if (all_ordinary) return;
  const bool is_kept = access.chunk != no_chunk;
  if (!run->filtered_accesses.empty() && (!is_kept || run->filtered_accesses.size() >= max_kept ||
                                          !is_of_this_region(run->filtered_accesses.back(), *wave, *run))) {
    report_filtered_accesses_of(*wave, *run);
  }
  run->filtered_accesses.push_back(access);
  run->has_filtered_accesses = true;
  if (!is_kept) report_filtered_accesses_of(*wave, *run);
}

void request_access_filter(const Wave& wave, CompiledRun& run) {
  PassedFilter& known = run.ordinary;
  const machine::AccessFilter now = run.run.client->access_filter(wave);
  known.scratch_bytes = now.scratch_bytes;
  known.lds_bytes = now.lds_bytes;
  run.undefined = now.undefined != nullptr ? now.undefined : &run.nothing_undefined;
  run.filtered_accesses.clear();
  run.has_filtered_accesses = false;
  const machine::Dispatch* dispatch = wave.work_group->dispatch;
  if (known.epoch == now.epoch && known.dispatch == dispatch) return;
  known.epoch = now.epoch;
  known.dispatch = dispatch;
  std::ranges::fill(known.memory, PassedFilter::Range{});
}

void report_filtered_accesses_of(const Wave& wave, CompiledRun& run) {
  const auto when = [](const FilteredAccess& access) { return std::pair(access.time, access.op->origin->pc); };
  std::vector<const FilteredAccess*> order;
  for (const FilteredAccess& access : run.filtered_accesses) order.push_back(&access);
  std::ranges::sort(order, {}, [&](const FilteredAccess* access) { return std::pair(when(*access), access); });
  const FilteredAccess* last = nullptr;
  for (const FilteredAccess* access : order) {
    // A scalar access is done by all chunks of a loop, and by the wave once.
    const bool is_again =
        access->kind.space == FilteredAccessKind::Space::scalar && last != nullptr && when(*last) == when(*access);
    if (!is_again) {
      as_events(wave, *access, [&](const machine::AccessEvent& event) { run.run.observer->access(wave, event); });
    }
    last = access;
  }
  run.filtered_accesses.clear();
  run.has_filtered_accesses = false;
}

void report_flat_load(const Wave& wave, CompiledRun& run, const OpMetadata& origin, const FilteredAccessKind& kind,
                      LaneAddresses& addresses, uint64_t lanes) {
  as_events(wave, origin, kind, addresses, lanes,
            [&](const machine::AccessEvent& event) { run.run.observer->access(wave, event); });
}

void accesses_are_over(const Wave* wave, CompiledRun* run) { report_filtered_accesses_of(*wave, *run); }

void forget_filtered_accesses(const Wave& wave, CompiledRun& run) {
  if (run.run.chunk == no_chunk) return;
  std::erase_if(run.filtered_accesses, [&](const FilteredAccess& access) {
    return is_of_this_region(access, wave, run) && access.chunk >= run.run.chunk;
  });
}

}  // namespace Atoll::engine

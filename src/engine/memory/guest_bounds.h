// engine: checks that a kernel's addresses are within the GPU's address range (WorkGroup::bounds).
//
// Out-of-range accesses fault like unmapped memory. Only the first byte of an element is checked: memory just past the
// bounds is inaccessible (machine/memory/address_range.h). LDS and scratch addresses that an engine computed from
// offsets are not checked.
#pragma once

#include <cstdint>

#include "engine/memory/gather_scatter.h"
#include "machine/report/fault_guard.h"
#include "machine/wave/wave.h"

namespace Atoll::engine {

[[gnu::always_inline]] inline void check_bounds(const Wave& wave, uint64_t address, bool writes) {
  if (!wave.work_group->bounds.hold(address)) [[unlikely]]
    machine::refuse_access(address, writes);
}

/// Checks the addresses of these lanes.
[[gnu::always_inline]] inline void check_bounds(const Wave& wave, const LaneAddresses& addresses, uint64_t lanes,
                                                bool writes) {
  const machine::AddressBounds bounds = wave.work_group->bounds;
  bool any = false;  // checks all lanes first, which is faster
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) any |= !bounds.hold(addresses.of[lane]);
  if (!any) [[likely]]
    return;
  for_each_lane(lanes, [&](unsigned lane) { check_bounds(wave, addresses.of[lane], writes); });
}

}  // namespace Atoll::engine

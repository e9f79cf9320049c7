// engine: whether the addresses that a kernel has made are of what its GPU may touch (WorkGroup::bounds).
//
// What is not ends the access as what is not mapped does. Only where an element begins is looked at: what lies a little
// past the bounds is inaccessible (machine/memory/address_range.h). Addresses of LDS and scratch that an engine has
// worked out from offsets are no business of these.
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

/// The same of the addresses of these lanes.
[[gnu::always_inline]] inline void check_bounds(const Wave& wave, const LaneAddresses& addresses, uint64_t lanes,
                                                bool writes) {
  const machine::AddressBounds bounds = wave.work_group->bounds;
  bool any = false;  // of all lanes, which is quicker
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) any |= !bounds.hold(addresses.of[lane]);
  if (!any) [[likely]]
    return;
  for_each_lane(lanes, [&](unsigned lane) { check_bounds(wave, addresses.of[lane], writes); });
}

}  // namespace Atoll::engine

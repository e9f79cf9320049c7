// engine: flat scratch addresses of GFX12.5, which contain the lane that owns the scratch (machine/memory/memory.h).
//
// Scratch is globally accessible there: a lane may access another lane's variable. Supported is scratch of waves in the
// same work-group; an address in another work-group maps past the wave's own scratch.
#pragma once

#include <cstdint>

#include "machine/memory/memory.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"

namespace Atoll::engine {

inline bool is_lane_scratch(uint64_t address) {
  return address >> machine::lane_scratch_tag_shift == machine::lane_scratch_base >> machine::lane_scratch_tag_shift;
}

/// An address in a lane's scratch: host address of its first dword, and the private address.
struct PrivateAddress {
  uint64_t column;
  uint32_t offset;
};

inline PrivateAddress lane_scratch(const machine::Wave& wave, uint64_t address) {
  const unsigned lane = address >> machine::lane_scratch_lane_shift & 31;
  const uint64_t unswizzled = address & ((uint64_t{1} << machine::lane_scratch_lane_shift) - 1);
  const auto own = reinterpret_cast<uint64_t>(wave.scratch);
  uint64_t wave_scratch = own, offset = unswizzled - own;
  const machine::Dispatch* dispatch = wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
  if (offset >= wave.scratch_bytes_per_lane && dispatch != nullptr && dispatch->launch.scratch_bytes_per_wave != 0) {
    const uint64_t bytes = dispatch->launch.scratch_bytes_per_wave, first = own - wave.index * bytes;
    const uint64_t from_first = unswizzled - first;
    if (from_first < bytes * wave.work_group->waves.size()) {
      wave_scratch = first + from_first / bytes * bytes;
      offset = from_first % bytes;
    }
  }
  return {wave_scratch + lane * 4, static_cast<uint32_t>(offset <= UINT32_MAX ? offset : UINT32_MAX)};
}

}  // namespace Atoll::engine

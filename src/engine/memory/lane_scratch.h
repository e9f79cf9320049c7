// engine: flat addresses of scratch on GFX12.5, which say in whose scratch they are (machine/memory/memory.h).
//
// Scratch is globally accessible there: a lane may use the address of another lane's variable. Found here is the
// scratch of the waves of the same work-group; an address of another work-group's is one past the wave's own scratch.
#pragma once

#include <cstdint>

#include "machine/memory/memory.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"

namespace Atoll::engine {

inline bool is_lane_scratch(uint64_t address) {
  return address >> machine::lane_scratch_tag_shift == machine::lane_scratch_base >> machine::lane_scratch_tag_shift;
}

/// A lane's scratch: where its first dword is, and the private address in it.
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

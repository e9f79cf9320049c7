// engine/compiled: out-of-line memory accesses of one chunk of lanes.
//
// Translated code has the common loads and stores inline. Rare or long ones are executed here, lane by lane, with the
// interpreter's functions (gather_scatter.h): atomics, flat addresses in an aperture, and scratch whose private
// addresses differ between lanes.
#pragma once

#include <cstdint>

#include "engine/memory/gather_scatter.h"

namespace Atoll::engine {

/// The lanes' addresses and data. The first 16 lanes of each row are the chunk's.
struct alignas(64) ChunkAccess {
  LaneAddresses addresses;  ///< changed by the access
  Row data[4];              ///< data of stores and atomics (second operand after the first); result of loads
  Row result[2];            ///< result of atomics
};

/// Address space of the addresses: memory, memory or aperture (flat), offsets in LDS, or private addresses.
enum class AddressSpace : uint8_t { global, flat, lds, scratch };

/// Executes a load, store or atomic (`number`: a semantics::AccessNumber) for the chunk's 16-bit mask `lanes`.
/// `memory_denormals`: denormal handling of float atomics on memory. `drops_on_fine_grained`: the GPU ignores the
/// atomic on fine-grained memory (fine_grained_atomics.h). Returns 0 on a fault, which the interpreter then reproduces
/// from the start of the region.
using AccessFunction = uint8_t (*)(const Wave* wave, ChunkAccess* access, uint32_t lanes, uint32_t first_lane,
                                   uint32_t number, AddressSpace space, semantics::Denormals memory_denormals,
                                   bool drops_on_fine_grained);
uint8_t access_chunk(const Wave* wave, ChunkAccess* access, uint32_t lanes, uint32_t first_lane, uint32_t number,
                     AddressSpace space, semantics::Denormals memory_denormals, bool drops_on_fine_grained);

}  // namespace Atoll::engine

// engine/compiled: memory accesses of one chunk of lanes that translated code leaves to the engine.
//
// Translated code does the common ways of loads and stores itself. What is rare or long is done here, once for all code
// and lane by lane, with the functions that move data for the interpreter (gather_scatter.h): atomics, flat addresses
// in an aperture, scratch where the lanes' private addresses differ.
#pragma once

#include <cstdint>

#include "engine/memory/gather_scatter.h"

namespace Atoll::engine {

/// The lanes' addresses and data: of each row, the first 16 lanes are the chunk's.
struct alignas(64) ChunkAccess {
  LaneAddresses addresses;  ///< changed by the access
  Row data[4];              ///< of stores and atomics (a second operand after the first), result of loads
  Row result[2];            ///< of atomics
};

/// What the addresses are: of memory, of any of the memories in an aperture or not, offsets in LDS, private addresses.
enum class AddressSpace : uint8_t { global, flat, lds, scratch };

/// Carries out a load, store or atomic, that of `number` (a semantics::AccessNumber) in the lanes of `lanes` (16 bits).
/// `memory_denormals`: what becomes of denormals if it is a float atomic on memory. `drops_on_fine_grained`: whether
/// the GPU does not do the atomic on fine-grained memory (fine_grained_atomics.h). Yields 0 where the interpreter finds
/// a fault of the wave's, which is then to be traced from where the code's region began.
using AccessFunction = uint8_t (*)(const Wave* wave, ChunkAccess* access, uint32_t lanes, uint32_t first_lane,
                                   uint32_t number, AddressSpace space, semantics::Denormals memory_denormals,
                                   bool drops_on_fine_grained);
uint8_t access_chunk(const Wave* wave, ChunkAccess* access, uint32_t lanes, uint32_t first_lane, uint32_t number,
                     AddressSpace space, semantics::Denormals memory_denormals, bool drops_on_fine_grained);

}  // namespace Atoll::engine

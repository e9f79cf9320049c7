// engine: moving data between registers and memory, given where each lane's data lie.
//
// Whatever the family of a memory instruction, once it has found each lane's host address the rest is the same: this
// file. Fault reports need the wave's PC to be set before (Wave::pc).
#pragma once

#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "machine/memory/access_pattern.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

/// Where the lanes' elements begin, as host addresses.
struct alignas(64) LaneAddresses {
  uint64_t of[semantics::wave_lanes];
};

/// Atomics must be aligned to their size, a power of two. False: the first of these lanes whose address is not has
/// ended the wave.
bool check_aligned(Wave& wave, const MicroOp& op, const LaneAddresses& addresses, uint64_t lanes, unsigned bytes);

/// Bytes from one dword of an element to its next: 4, except in swizzled memory, where lanes' dwords are interleaved.
inline constexpr uint32_t linear = 4;

/// Loads or stores the elements of `lanes` (a bit per lane). `data` is the first row of the registers. In swizzled
/// memory no element's dword may lie across two of memory's.
using Transfer = void (*)(const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride, Row* data);

ATOLL_HOST_ISA_BEGIN
/// The transfer of a load or a store that converts no format; null for other accesses.
Transfer transfer_function(const semantics::MemoryAccess& access);
ATOLL_HOST_ISA_END

/// Does the atomic of `lanes` on memory that other host threads may touch, in the order of their numbers; `result` (may
/// be null, may be `data`) gets the old values. Those on one and the same word may be one atomic of the host's.
using Atomic = void (*)(const LaneAddresses& addresses, uint64_t lanes, const Row* data, const Row* data2, Row* result,
                        semantics::Denormals denormals);

struct Lds {
  void* start;
  uint32_t bytes;
};

/// The same on LDS, where `offsets` (their lower 32 bits) are; lanes that are outside get 0. Other host threads don't
/// touch it.
using LdsAtomic = void (*)(const Lds& lds, const LaneAddresses& offsets, uint64_t lanes, const Row* data,
                           const Row* data2, Row* result, semantics::Denormals denormals);

ATOLL_HOST_ISA_BEGIN
/// The functions of an atomic; null for none.
Atomic atomic_function(semantics::AtomicOperation operation, unsigned bytes);
LdsAtomic lds_atomic_function(semantics::AtomicOperation operation, unsigned bytes);
ATOLL_HOST_ISA_END

ATOLL_HOST_ISA_BEGIN
/// Of those lanes' elements of so many bytes. There is an address, which may mean nothing, for each of 64 lanes.
machine::AccessPattern access_pattern(const uint64_t* addresses, uint64_t lanes, uint32_t bytes);
ATOLL_HOST_ISA_END

/// Calls `visit(lane)` for each lane of a mask, lowest first.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_lane(uint64_t lanes, const Visit& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctzll(lanes)));
}

inline constexpr uint64_t all_lanes = ~uint64_t{0};

}  // namespace Atoll::engine

// engine: gather and scatter between registers and memory, given each lane's host address.
//
// Shared by all families of memory instructions. The caller sets Wave::pc for fault reports.
#pragma once

#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "machine/memory/access_pattern.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::engine {

/// Host addresses of the lanes' elements.
struct alignas(64) LaneAddresses {
  uint64_t of[semantics::wave_lanes];
};

/// Checks that atomics are aligned to their size, a power of two. Returns false if a lane is misaligned, and faults the
/// wave with the first one.
bool check_aligned(Wave& wave, const MicroOp& op, const LaneAddresses& addresses, uint64_t lanes, unsigned bytes);

/// Distance between dwords of an element in bytes: 4, except in swizzled memory, where lanes are interleaved.
inline constexpr uint32_t linear = 4;

/// Loads or stores the elements of `lanes`. `data` is the first row of the registers. In swizzled memory no dword of an
/// element may straddle two dwords of memory.
using Transfer = void (*)(const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride, Row* data);

ATOLL_HOST_ISA_BEGIN
/// Returns the transfer function of a load or store without format conversion; null for other accesses.
Transfer transfer_function(const semantics::MemoryAccess& access);
ATOLL_HOST_ISA_END

/// Performs an atomic in lane order on memory that other host threads may access. `result` (may be null or `data`)
/// receives the old values. Lanes with the same address may be combined into one host atomic.
using Atomic = void (*)(const LaneAddresses& addresses, uint64_t lanes, const Row* data, const Row* data2, Row* result,
                        semantics::Denormals denormals);

struct Lds {
  void* start;
  uint32_t bytes;
};

/// Performs an atomic on LDS at `offsets` (lower 32 bits). Out-of-bounds lanes get 0. No other host thread accesses
/// this LDS.
using LdsAtomic = void (*)(const Lds& lds, const LaneAddresses& offsets, uint64_t lanes, const Row* data,
                           const Row* data2, Row* result, semantics::Denormals denormals);

ATOLL_HOST_ISA_BEGIN
/// Returns the functions of an atomic; null if there are none.
Atomic atomic_function(semantics::AtomicOperation operation, unsigned bytes);
LdsAtomic lds_atomic_function(semantics::AtomicOperation operation, unsigned bytes);
ATOLL_HOST_ISA_END

ATOLL_HOST_ISA_BEGIN
/// Returns the pattern of the lanes' elements. All 64 addresses exist, but those of inactive lanes are arbitrary.
machine::AccessPattern access_pattern(const uint64_t* addresses, uint64_t lanes, uint32_t bytes);
ATOLL_HOST_ISA_END

/// Calls `visit(lane)` for each lane of a mask, lowest first.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_lane(uint64_t lanes, const Visit& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctzll(lanes)));
}

inline constexpr uint64_t all_lanes = ~uint64_t{0};

}  // namespace Atoll::engine

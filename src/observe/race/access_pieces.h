// observe: splits an access into contiguous pieces, so that shadow cells are looked up per piece instead of per lane.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "machine/observer.h"
#include "observe/race/access_history.h"

namespace Atoll::observe {

/// Returns the lane stride (Mark::spread) of accesses that form pieces of several lanes, or nullopt.
inline std::optional<unsigned> spread_of(const machine::AccessEvent& access) {
  if (access.bytes < 4 || access.bytes > 32 || !std::has_single_bit(access.bytes)) return std::nullopt;
  return static_cast<unsigned>(std::countr_zero(access.bytes) - 2);
}

/// Returns the number of lanes from this one on that read several dwords each and overlap by all but one dword, as in a
/// stencil that reads a lane's neighbours.
inline unsigned lanes_a_dword_apart(const machine::AccessEvent& access, unsigned lane) {
  const uint64_t begin = access.addresses[lane];
  if (access.writes || access.bytes <= 4 || access.bytes % 4 != 0 || begin % 4 != 0) return 1;
  unsigned count = 1;
  while (lane + count < 64 && (access.lanes >> (lane + count) & 1) != 0 &&
         access.addresses[lane + count] == begin + count * 4) {
    ++count;
  }
  return count;
}

/// Returns the length of the run of set bits that begins after a lane.
inline unsigned lanes_in(uint64_t bits, unsigned after) {
  return after == 63 ? 0 : static_cast<unsigned>(std::countr_one(bits >> (after + 1)));
}
/// Clears a run of `count` lanes from `first` on. The last of them exists.
inline uint64_t without(uint64_t lanes, unsigned first, unsigned count) {
  const uint64_t counted = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  return lanes & ~(counted << first);
}

/// Calls `visit(lane, begin, end, spread)` for each contiguous piece of the access in lane order. A piece covers the
/// lanes from `lane` on with 2^spread dwords each, or a single lane if spread is nullopt.
template <typename Visit>
void for_each_piece(const machine::AccessEvent& access, const Visit& visit) {
  const std::optional<unsigned> spread = spread_of(access);
  uint64_t last_begin = 0, last_end = 0;
  for (uint64_t lanes = access.lanes; lanes != 0;) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    lanes &= lanes - 1;
    const uint64_t begin = access.addresses[lane];
    uint64_t end = begin + access.bytes;
    if (spread && begin % 4 == 0) {
      const unsigned more = lanes_in(access.pattern.follows, lane);
      lanes = without(lanes, lane + 1, more);
      end += uint64_t{more} * access.bytes;
    }
    // Overlapping reads of several lanes are merged into one read.
    if (!access.writes) {
      if (end == begin + access.bytes) lanes = without(lanes, lane + 1, lanes_in(access.pattern.repeats, lane));
      while (lanes != 0 && access.addresses[std::countr_zero(lanes)] == begin) {
        const auto same = static_cast<unsigned>(std::countr_zero(lanes));
        lanes = without(lanes, same, 1 + lanes_in(access.pattern.repeats, same));
      }
    }
    if (!access.writes && begin >= last_begin && end <= last_end) continue;
    last_begin = begin;
    last_end = end;
    const unsigned shifted = lanes_a_dword_apart(access, lane);
    if (shifted > 1) {
      // The first dword of each lane, and the remaining dwords of the last lane.
      const unsigned last = lane + shifted - 1;
      const uint64_t last_address = access.addresses[last];
      lanes &= last == 63 ? 0 : ~uint64_t{0} << (last + 1);
      last_end = last_address + access.bytes;
      visit(lane, begin, last_address + 4, std::optional(0u));
      for (uint64_t at = last_address + 4; at < last_end; at += 4) visit(last, at, at + 4, std::optional<unsigned>());
      continue;
    }
    visit(lane, begin, end, spread);
  }
}

/// Returns the access record of the byte at an offset within a piece.
inline Mark mark_at(const Mark& mark, std::optional<unsigned> spread, uint64_t offset) {
  Mark own = mark;
  if (spread) own.lane = static_cast<uint32_t>(mark.lane + (offset / 4 >> *spread)) & 63;
  return own;
}

/// Calls `visit` for the addresses of an access; a run of adjacent addresses is visited once.
template <typename Visit>
void for_each_address(const machine::AccessEvent& access, const Visit& visit) {
  uint64_t last = UINT64_MAX;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = access.addresses[std::countr_zero(lanes)];
    if (address != last) visit(address);
    last = address;
  }
}

}  // namespace Atoll::observe

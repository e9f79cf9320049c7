// observe: the memory that an access covers, in pieces without gaps, so that what is known of memory need not be looked
// at lane by lane.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "machine/observer.h"
#include "observe/race/access_history.h"

namespace Atoll::observe {

/// Mark::spread of accesses that make pieces of several lanes; nothing: of an access that makes none.
inline std::optional<unsigned> spread_of(const machine::AccessEvent& access) {
  if (access.bytes < 4 || access.bytes > 32 || !std::has_single_bit(access.bytes)) return std::nullopt;
  return static_cast<unsigned>(std::countr_zero(access.bytes) - 2);
}

/// How many lanes from this one on read several dwords each, of which the first is the second one of the lane before,
/// as where a lane reads what is left and right of its own.
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

/// How many lanes after one have bits set, one after the other.
inline unsigned lanes_in(uint64_t bits, unsigned after) {
  return after == 63 ? 0 : static_cast<unsigned>(std::countr_one(bits >> (after + 1)));
}
/// Without so many lanes, of which the last one is a lane.
inline uint64_t without(uint64_t lanes, unsigned first, unsigned count) {
  const uint64_t counted = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  return lanes & ~(counted << first);
}

/// Calls `visit(lane, begin, end, spread)` for pieces of memory that an access covers without gaps, in order of the
/// lanes: those of the lanes from `lane` on, each with as many dwords as 2 to the power of `spread`; without one, of
/// one lane.
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
    // What several lanes read, they read together.
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
      // Of each lane the first dword, and of the last one the others.
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

/// The mark of a byte that lies so far into a piece.
inline Mark mark_at(const Mark& mark, std::optional<unsigned> spread, uint64_t offset) {
  Mark own = mark;
  if (spread) own.lane = static_cast<uint32_t>(mark.lane + (offset / 4 >> *spread)) & 63;
  return own;
}

/// The addresses of an access, but those that lie next to each other only once.
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

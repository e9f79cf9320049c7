// semantics: moving the lanes of rows by their maps (lane_movement.h).
#include <bit>
#include <cstring>

#include "semantics/lanes/lane_movement.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

/// Lanes whose source lane is one of `lanes`.
uint64_t mapped_from(const LaneMap& map, uint64_t lanes) {
  if (lanes == ~uint64_t{0}) return map.in_range;
  uint64_t result = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) result |= (lanes >> map.from[lane] & 1) << lane;
  return result & map.in_range;
}

/// The mapped values, 0 in lanes outside `valid`.
void gather(const LaneMap& map, uint64_t valid, const Row& source, Row& result) {
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t keep = 0 - static_cast<uint32_t>(valid >> lane & 1);
    result[lane] = source[map.from[lane]] & keep;
  }
}

}  // namespace

uint64_t apply_dpp(const DppMove& move, uint64_t exec, const Row& source, Row& result) {
  const uint64_t valid = move.fetch_inactive ? move.map.in_range : mapped_from(move.map, exec);
  gather(move.map, valid, source, result);
  return exec & move.enabled & (move.zero_invalid ? ~uint64_t{0} : valid);
}

void swizzle(const LaneMap& map, uint64_t exec, const Row& source, Row& result) {
  gather(map, mapped_from(map, exec), source, result);
}

namespace {

/// The lane that an address of `lane` names: within its group of `reach`.
unsigned named_lane(uint32_t address, unsigned lane, unsigned reach) {
  return (lane & ~(reach - 1)) | (address / 4 & (reach - 1));
}

}  // namespace

void permute(uint64_t exec, const Row& address, uint16_t offset, const Row& source, Row& result, unsigned reach) {
  std::memset(result, 0, sizeof result);
  for (uint64_t lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    result[named_lane(address[lane] + offset, lane, reach)] = source[lane];
  }
}

void backward_permute(uint64_t exec, const Row& address, uint16_t offset, const Row& source, Row& result,
                      unsigned reach) {
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const unsigned from = named_lane(address[lane] + offset, lane, reach);
    result[lane] = source[from] & (0 - static_cast<uint32_t>(exec >> from & 1));
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// How the elements of lanes lie to each other, as it is told at a glance, against what a look at each lane says.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/memory/gather_scatter.h"

namespace Atoll::test {
namespace {

machine::AccessPattern lane_by_lane(const uint64_t* addresses, uint64_t lanes, uint32_t bytes) {
  machine::AccessPattern pattern{.begin = UINT64_MAX, .end = 0};
  for (unsigned lane = 0; lane < 64; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    pattern.begin = std::min(pattern.begin, addresses[lane]);
    pattern.end = std::max(pattern.end, addresses[lane] + bytes);
    if (lane == 0 || (lanes >> (lane - 1) & 1) == 0) continue;
    if (addresses[lane] == addresses[lane - 1] + bytes) pattern.follows |= uint64_t{1} << lane;
    if (addresses[lane] == addresses[lane - 1]) pattern.repeats |= uint64_t{1} << lane;
  }
  return pattern;
}

TEST(AccessPattern, IsWhatALookAtEachLaneSays) {
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < 2000; ++round) {
    const uint32_t bytes = 1u << random() % 5;
    engine::LaneAddresses addresses;
    uint64_t address = random() >> 16;
    for (uint64_t& each : addresses.of) {
      each = address;
      const uint64_t choice = random() % 8;
      address = choice == 0 ? random() >> 16 : choice < 3 ? address : address + bytes;
    }
    uint64_t lanes = random();
    if (round % 3 == 0) lanes = ~uint64_t{0};
    if (round % 7 == 0) lanes = uint64_t{1} << random() % 64;
    if (lanes == 0) continue;
    const machine::AccessPattern found = engine::access_pattern(addresses.of, lanes, bytes);
    const machine::AccessPattern expected = lane_by_lane(addresses.of, lanes, bytes);
    EXPECT_EQ(found.begin, expected.begin);
    EXPECT_EQ(found.end, expected.end);
    EXPECT_EQ(found.follows, expected.follows);
    EXPECT_EQ(found.repeats, expected.repeats);
  }
}

}  // namespace
}  // namespace Atoll::test

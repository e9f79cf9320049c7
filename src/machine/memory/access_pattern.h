// machine: the layout of the elements accessed by a wave's lanes, so that observers need not examine each lane.
#pragma once

#include <cstdint>

namespace Atoll::machine {

struct AccessPattern {
  uint64_t begin = 0, end = UINT64_MAX;  ///< bounds of all elements
  uint64_t follows = 0;                  ///< lanes whose element begins where the previous lane's ends
  uint64_t repeats = 0;                  ///< lanes whose element equals the previous lane's
};

}  // namespace Atoll::machine

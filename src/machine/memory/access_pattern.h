// machine: how the elements that a wave's lanes access lie to each other, so that whoever looks at accesses need not
// look at each lane.
#pragma once

#include <cstdint>

namespace Atoll::machine {

struct AccessPattern {
  uint64_t begin = 0, end = UINT64_MAX;  ///< all of them lie in between
  uint64_t follows = 0;  ///< a bit for each lane whose element begins where that of the lane before ends
  uint64_t repeats = 0;  ///< for each lane whose element is that of the lane before
};

}  // namespace Atoll::machine

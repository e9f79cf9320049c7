// observe: the parts of LDS that a launch places side by side (library/kernel_arguments.h). With their bounds, accesses
// that leave one part and end in a gap are found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace Atoll::observe {

struct LdsPart {
  uint64_t begin = 0, end = 0;
  std::string name;  ///< for messages: "parameter 'uint* tile'"

  bool holds(uint64_t offset, uint64_t bytes) const { return offset >= begin && offset + bytes <= end; }
};

/// Sorted by begin; the first part begins at 0.
using LdsLayout = std::vector<LdsPart>;

}  // namespace Atoll::observe

// observe: what a launch has put into LDS beside each other, where the launch itself decides that (library/
// kernel_arguments.h), so that an access that leaves one part and ends in a gap between parts is found.
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

/// By their begin; the first one begins at 0.
using LdsLayout = std::vector<LdsPart>;

}  // namespace Atoll::observe

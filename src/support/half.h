// support: half-precision numbers for code that is compiled for any host. Code that is compiled for a level of host
// vectors uses lanes of them (semantics/lanes/lanes.h).
#pragma once

#include <bit>
#include <cstdint>

namespace Atoll::support {

/// The half that the low 16 bits are.
inline float half_value(uint32_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
}

}  // namespace Atoll::support

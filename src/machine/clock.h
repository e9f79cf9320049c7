// machine: the common clock of system timestamps, s_memrealtime, profiling and timeouts.
#pragma once

#include <cstdint>
#include <ctime>

namespace Atoll::machine {

/// Ticks per second.
inline constexpr uint64_t clock_hz = 1'000'000'000;

/// Nanoseconds of CLOCK_MONOTONIC.
inline uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace Atoll::machine

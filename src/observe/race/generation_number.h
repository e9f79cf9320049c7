// observe: numbers by which what threads remember of something becomes void: whoever changes it gives it a new one,
// which nothing else in the process has.
#pragma once

#include <atomic>
#include <cstdint>

namespace Atoll::observe {

inline uint64_t next_epoch() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace Atoll::observe

// observe: process-wide generation numbers. Thread-local caches store the generation they were filled at; taking a new,
// unique number invalidates them.
#pragma once

#include <atomic>
#include <cstdint>

namespace Atoll::observe {

inline uint64_t next_epoch() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace Atoll::observe

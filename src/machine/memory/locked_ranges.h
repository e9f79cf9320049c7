// machine: memory of the program's own that is locked for the GPU, as HIP does for a copy, but has no address in the
// range of guest memory. A kernel that gets a pointer into it, as HIP's own that copy do, may touch it, and with it the
// whole process.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

namespace Atoll::machine {

class LockedRanges {
 public:
  static LockedRanges& of_process();

  void add(uint64_t address, uint64_t size);
  void remove(uint64_t address);
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  /// Whether one of these words is an address in a range.
  bool any_of(std::span<const uint64_t> words) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> ranges_;  ///< sizes by address
  std::atomic<size_t> count_{0};
};

}  // namespace Atoll::machine

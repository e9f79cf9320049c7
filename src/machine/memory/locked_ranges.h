// machine: program memory that is locked (pinned) for the GPU, as HIP does for copies, but is outside the range of
// guest memory. A kernel with a pointer into it, such as HIP's copy kernels, may access it, and thereby the whole
// process.
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
  /// Returns whether one of these words is an address in a range.
  bool any_of(std::span<const uint64_t> words) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> ranges_;  ///< sizes by address
  std::atomic<size_t> count_{0};
};

}  // namespace Atoll::machine

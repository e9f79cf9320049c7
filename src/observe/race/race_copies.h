// observe: copies by the runtime as the race checker sees them: a read of the source and a write of the destination.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "observe/report/host_stack.h"

namespace Atoll::observe {

/// One side (read or write) of a completed copy.
struct CopyAccess {
  uint32_t run = 0;  ///< its number (run_order.h)
  uint64_t begin = 0, end = 0;
  bool writes = false;
  std::string function{};  ///< the runtime's function
  HostStack asked{};       ///< call stack of the program's request
};

/// Ring of the most recent copies.
class CopyHistory {
 public:
  static constexpr size_t most = 256;
  using Accesses = std::vector<std::shared_ptr<const CopyAccess>>;

  void add(CopyAccess access) {
    const std::lock_guard lock(mutex_);
    if (accesses_.size() >= most) accesses_.pop_front();
    accesses_.push_back(std::make_shared<const CopyAccess>(std::move(access)));
    ++version_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    accesses_.clear();
    ++version_;
  }
  void forget(uint64_t begin, uint64_t end) {
    const std::lock_guard lock(mutex_);
    std::erase_if(accesses_, [&](const auto& access) { return access->begin < end && begin < access->end; });
    ++version_;
  }
  /// Changes whenever the history changes.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  /// Returns the copies for which `which(access)` is true.
  template <typename Which>
  Accesses all(const Which& which) const {
    const std::lock_guard lock(mutex_);
    Accesses found;
    std::ranges::copy_if(accesses_, std::back_inserter(found), [&](const auto& access) { return which(*access); });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const CopyAccess>> accesses_;
  std::atomic<uint64_t> version_{1};
};

}  // namespace Atoll::observe

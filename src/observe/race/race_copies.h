// observe: copies by the runtime, as the race checker has them: each a read of some memory and a write of some.
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

/// One side of a copy that has been carried out.
struct CopyAccess {
  uint32_t run = 0;  ///< its number (run_order.h)
  uint64_t begin = 0, end = 0;
  bool writes = false;
  std::string function{};  ///< of the runtime's
  HostStack asked{};       ///< where the program asked for it
};

/// The last copies.
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
  /// Another one whenever they have changed.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  /// Those for which `which(access)` holds.
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

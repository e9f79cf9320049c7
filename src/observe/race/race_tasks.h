// observe: tables of the race checker's tasks (waves) and runs. They are read without a lock while rows are added.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace Atoll::observe {

/// A growing table with stable row addresses. Row 0 is unused.
template <typename Row>
class GrowingTable {
 public:
  static constexpr uint32_t chunk = 1u << 14, chunks = 1u << 12;

  GrowingTable() = default;
  GrowingTable(const GrowingTable&) = delete;
  GrowingTable& operator=(const GrowingTable&) = delete;

  /// Adds `count` rows and returns the index of the first; 0 if the table is full.
  uint32_t add(uint32_t count) {
    const uint64_t first = next_.fetch_add(count, std::memory_order_relaxed);
    if (first + count > uint64_t{chunk} * chunks) return 0;
    for (uint64_t at = first / chunk; at <= (first + count - 1) / chunk; ++at) make(at);
    return static_cast<uint32_t>(first);
  }
  /// Reuses the memory of all current rows, which must no longer be read, for later rows. Not thread-safe against
  /// add(). Fresh memory took a tenth of the time of a checked saxpy, mostly in page faults.
  void recycle() {
    const std::lock_guard lock(mutex_);
    const uint64_t end = next_.load(std::memory_order_relaxed) / chunk;
    for (; recycled_ < std::min<uint64_t>(end, chunks); ++recycled_) {
      if (Row* const rows = rows_[recycled_].load(std::memory_order_relaxed)) free_.push_back(rows);
    }
  }
  Row& operator[](uint32_t number) const {
    return rows_[number / chunk].load(std::memory_order_acquire)[number % chunk];
  }

 private:
  void make(uint64_t at) {
    if (rows_[at].load(std::memory_order_acquire) != nullptr) return;
    const std::lock_guard lock(mutex_);
    if (rows_[at].load(std::memory_order_relaxed) != nullptr) return;
    if (free_.empty()) free_.push_back(owned_.emplace_back(std::make_unique<Row[]>(chunk)).get());
    rows_[at].store(free_.back(), std::memory_order_release);
    free_.pop_back();
  }

  std::atomic<uint64_t> next_{1};
  std::array<std::atomic<Row*>, chunks> rows_{};
  std::mutex mutex_;  ///< protects the following members
  std::vector<std::unique_ptr<Row[]>> owned_;
  std::vector<Row*> free_;
  uint64_t recycled_ = 1;  ///< the first chunk that has not been recycled; row 0's chunk never is
};

/// A wave of a dispatch.
struct Task {
  uint32_t dispatch = 0;  ///< the run's number (run_order.h)
  uint32_t wave = 0;
  uint32_t work_group[3]{};
};

}  // namespace Atoll::observe

// observe: the waves and runs that the race checker has numbered, to be read without a lock while others are
// added.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace Atoll::observe {

/// A table that grows and whose rows stay where they are. Row 0 is nobody's.
template <typename Row>
class GrowingTable {
 public:
  static constexpr uint32_t chunk = 1u << 14, chunks = 1u << 12;

  GrowingTable() = default;
  GrowingTable(const GrowingTable&) = delete;
  GrowingTable& operator=(const GrowingTable&) = delete;
  ~GrowingTable() {
    for (auto& rows : rows_) delete[] rows.load(std::memory_order_relaxed);
  }

  /// The number of the first of `count` new rows; 0 when there are no more.
  uint32_t add(uint32_t count) {
    const uint64_t first = next_.fetch_add(count, std::memory_order_relaxed);
    if (first + count > uint64_t{chunk} * chunks) return 0;
    for (uint64_t at = first / chunk; at <= (first + count - 1) / chunk; ++at) make(at);
    return static_cast<uint32_t>(first);
  }
  Row& operator[](uint32_t number) const {
    return rows_[number / chunk].load(std::memory_order_acquire)[number % chunk];
  }

 private:
  void make(uint64_t at) {
    Row* none = nullptr;
    if (rows_[at].load(std::memory_order_acquire) != nullptr) return;
    Row* rows = new Row[chunk];
    if (!rows_[at].compare_exchange_strong(none, rows, std::memory_order_acq_rel)) delete[] rows;
  }

  std::atomic<uint64_t> next_{1};
  std::array<std::atomic<Row*>, chunks> rows_{};
};

/// A wave of a dispatch.
struct Task {
  uint32_t dispatch = 0;  ///< the run's number (run_order.h)
  uint32_t wave = 0;
  uint32_t work_group[3]{};
};

}  // namespace Atoll::observe

// observe: shadow memory: the uninitialized bits of each byte of program allocations.
//
// Untracked memory counts as initialized. The shadow consists of pages, which are allocated when a byte first differs
// from its page: a page is all uninitialized (as allocated), all initialized, or has a shadow byte per byte.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "observe/report/host_stack.h"

namespace Atoll::observe {

class ShadowMemory {
 public:
  static constexpr uint64_t page_bytes = 4096;
  /// Limit of the pages' host memory. When it is reached, memory that would need another page counts as initialized.
  static constexpr uint64_t max_bytes = uint64_t{2} << 30;

  struct Allocation {
    uint64_t begin = 0, size = 0;
    std::string function;
    HostStack stack;
  };

  /// `full` is called once, when max_bytes is reached.
  explicit ShadowMemory(std::function<void()> full) : full_(std::move(full)) {}
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;
  ~ShadowMemory();

  /// Adds an uninitialized allocation.
  void add(Allocation allocation);
  void remove(uint64_t address);

  /// Reads the shadow of a range into `undefined`: a set bit is uninitialized.
  void read(uint64_t address, uint8_t* undefined, uint64_t bytes) const;
  /// Writes the shadow of a range; null: all initialized.
  void write(uint64_t address, const uint8_t* undefined, uint64_t bytes);
  /// Copies the shadow of the range at `from` to that at `to`.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Number of bytes with uninitialized bits, and whether the range is inside one allocation.
  struct Count {
    uint64_t undefined = 0, first = 0;
    bool is_tracked = false;
  };
  Count count(uint64_t address, uint64_t bytes) const;
  /// Marks the whole allocation that contains an address as initialized.
  void define_all(uint64_t address);
  /// The answer for a range: whether it is initialized, and an initialized range around it.
  struct Written {
    bool is_written = false;
    uint64_t begin = 0, end = 0;
  };
  Written written_around(uint64_t address, uint64_t bytes) const;

  /// Returns the number of the allocation at an address, also after it was freed; 0: none.
  uint32_t number_at(uint64_t address) const;
  std::optional<Allocation> allocation(uint32_t number) const;

 private:
  using Page = std::array<uint8_t, page_bytes>;
  struct Range {
    uint64_t begin = 0, end = 0;
    uint32_t number = 0;
    /// Null: page all uninitialized; `written`: all initialized.
    std::vector<std::atomic<Page*>> pages;
    Range(uint64_t first, uint64_t past_last, uint32_t its_number)
        : begin(first), end(past_last), number(its_number), pages((past_last - first + page_bytes - 1) / page_bytes) {}
  };
  static Page* written();
  const Range* find(uint64_t address) const;
  Page* page_to_change(Range& range, uint64_t index, uint8_t filled_with);
  void drop(Range& range);
  template <typename Visit>
  void for_each_page(uint64_t address, uint64_t bytes, const Visit& visit) const;

  std::function<void()> full_;
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Range>> ranges_;  ///< by begin
  std::vector<Allocation> allocations_;                ///< by number - 1
  std::atomic<uint64_t> used_{0};
  std::atomic<bool> is_full_{false};
};

}  // namespace Atoll::observe

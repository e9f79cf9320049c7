// observe: for each byte of memory that programs allocate, which of its bits nobody has written.
//
// Memory of which nothing is known is taken as written. What is known stands in pages that are made when first a byte
// of them differs from the others: a page is as it was allocated, all written, or has a byte for each of its bytes.
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
  /// What the pages may take of the host's memory. Once it is used up, further memory is taken as written where a page
  /// would be needed.
  static constexpr uint64_t max_bytes = uint64_t{2} << 30;

  struct Allocation {
    uint64_t begin = 0, size = 0;
    std::string function;
    HostStack stack;
  };

  /// `full` is called once, when max_bytes are used up.
  explicit ShadowMemory(std::function<void()> full) : full_(std::move(full)) {}
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;
  ~ShadowMemory();

  /// Memory that nobody has written.
  void add(Allocation allocation);
  void remove(uint64_t address);

  /// Bits of each byte that nobody has written, one for those, into `undefined`.
  void read(uint64_t address, uint8_t* undefined, uint64_t bytes) const;
  /// Null as `undefined`: all are written.
  void write(uint64_t address, const uint8_t* undefined, uint64_t bytes);
  /// What is known of the memory at `from` is known of that at `to` now.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// How many of the bytes have bits that nobody has written; and whether all of them are in one allocation.
  struct Count {
    uint64_t undefined = 0, first = 0;
    bool is_tracked = false;
  };
  Count count(uint64_t address, uint64_t bytes) const;
  /// The whole allocation that an address is in is taken as written.
  void define_all(uint64_t address);
  /// Whether all of the bytes are written, and memory around them that is, too; a part of that.
  struct Written {
    bool is_written = false;
    uint64_t begin = 0, end = 0;
  };
  Written written_around(uint64_t address, uint64_t bytes) const;

  /// A number for the allocation that an address is in, also after it has gone; 0: there is none.
  uint32_t number_at(uint64_t address) const;
  std::optional<Allocation> allocation(uint32_t number) const;

 private:
  using Page = std::array<uint8_t, page_bytes>;
  struct Range {
    uint64_t begin = 0, end = 0;
    uint32_t number = 0;
    /// Null: nobody has written any; `written`: all is written.
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
  std::vector<Allocation> allocations_;                ///< by number, less one
  std::atomic<uint64_t> used_{0};
  std::atomic<bool> is_full_{false};
};

}  // namespace Atoll::observe

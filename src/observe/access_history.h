// observe: who accessed what last: for each dword of memory, or byte where bytes are accessed by themselves, the last
// write and the last reads of two different waves. Of what more waves read, the earlier ones are forgotten: a race with
// one of them only may go unnoticed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "observe/vector_clock.h"

namespace Atoll::observe {

/// An access: when, and by which lane at which place in the code, as the race checker counts them.
struct Mark {
  Moment when{};
  uint32_t site = 0;
};

struct Cell {
  Mark write{};
  Mark plain_write{};  ///< the last that was surely no atomic's
  Mark reads[2]{};
  bool is_atomic = false;  ///< something has been done to it by an atomic that reads and writes

  void add_read(const Mark& mark) {
    if (reads[0].when.task != mark.when.task) reads[1] = reads[0];
    reads[0] = mark;
  }
};

/// The cells of a piece of memory.
template <size_t count>
class Cells {
 public:
  /// Calls `visit(cell, offset)` for the cells of the bytes [first, first + bytes), which are in the piece.
  template <typename Visit>
  void visit(uint32_t first, uint32_t bytes, const Visit& visit) {
    for (uint32_t at = first, end = first + bytes; at < end;) {
      const uint32_t dword = at / 4;
      const uint32_t until = std::min(end, (dword + 1) * 4);
      auto split = split_.find(dword);
      if (split == split_.end() && until - at < 4) {
        split = split_.try_emplace(dword).first;
        split->second.fill(cells_[dword]);
      }
      if (split == split_.end()) {
        visit(cells_[dword], at);
      } else {
        for (uint32_t byte = at; byte < until; ++byte) visit(split->second[byte & 3], byte);
      }
      at = until;
    }
  }

 private:
  std::array<Cell, count> cells_{};
  std::unordered_map<uint32_t, std::array<Cell, 4>> split_;  ///< bytes of dwords whose bytes are accessed by themselves
};

/// The cells of memory that threads share, made as it is accessed.
class AccessHistory {
 public:
  static constexpr uint64_t page_bytes = 4096;

  /// A part of the memory has one lock.
  struct Part {
    using Page = Cells<page_bytes / 4>;
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
    /// What was known to those that accessed a place by atomics.
    std::unordered_map<uint64_t, VectorClock> atomics;

    Page& page(uint64_t number) {
      std::unique_ptr<Page>& page = pages[number];
      if (!page) page = std::make_unique<Page>();
      return *page;
    }
  };

  static uint64_t page_of(uint64_t address) { return address / page_bytes; }
  Part& part(uint64_t page) { return parts_[page % parts_.size()]; }

 private:
  std::array<Part, 64> parts_;
};

}  // namespace Atoll::observe

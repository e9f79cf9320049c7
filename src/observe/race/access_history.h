// observe: shadow cells with the last accesses to memory. Each dword, or byte where bytes are accessed individually,
// has the last write and the last reads of two different waves. Older reads are dropped, so a race with only a dropped
// read may be missed.
//
// Most memory is accessed in whole blocks of 256 bytes by one instruction at a time. Such a block has a single cell,
// and a few cells where accesses begin or end inside it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>

#include "observe/race/cell_arena.h"
#include "observe/race/vector_clock.h"

namespace Atoll::observe {

/// An access record: epoch of the wave (task and time), lane, and PC.
struct Mark {
  static constexpr unsigned lane_bits = 6, spread_bits = 2;
  static constexpr uint32_t sites = 1u << (32 - lane_bits - spread_bits);

  Moment when{};
  uint32_t lane : lane_bits = 0;
  uint32_t spread : spread_bits = 0;  ///< of a whole block: log2 of the number of dwords per lane
  uint32_t site : 32 - lane_bits - spread_bits = 0;

  /// Returns the record of one dword of a block.
  Mark at(uint32_t dword) const {
    Mark mark = *this;
    mark.lane = static_cast<uint32_t>(lane + (dword >> spread)) & ((1u << lane_bits) - 1);
    return mark;
  }
};

struct Cell {
  Mark write{};
  Mark plain_write{};  ///< the last write that is certainly not atomic
  Mark reads[2]{};
  bool is_atomic = false;  ///< a read-modify-write atomic has accessed it
  bool is_stored = false;  ///< the last write was a store, possibly an atomic one

  void add_read(const Mark& mark) {
    if (reads[0].when.task != mark.when.task) reads[1] = reads[0];
    reads[0] = mark;
  }
  /// Returns the cell of a later dword in the same block.
  Cell at(uint32_t dword) const {
    Cell cell = *this;
    for (Mark* mark : {&cell.write, &cell.plain_write, &cell.reads[0], &cell.reads[1]}) *mark = mark->at(dword);
    return cell;
  }
};

/// The shadow cells of 256 bytes.
class CellBlock {
 public:
  static constexpr uint32_t bytes = 256;

  /// Clears all accesses but keeps the storage: the next dispatch usually has the same access pattern.
  void clear() {
    whole_ = {};
    kind_ = Kind::whole;
    if (split_) split_->bytes.clear();
  }

  /// Calls `visit(cell, offset, dwords)` for the cells of the bytes [first, end), which are inside the block. One call
  /// covers as many dwords as share a cell; `dwords` is 0 for a part of a dword. Records in the cell are those of the
  /// first dword. `spread`: lane stride of the records that the visitor stores, or nullopt if lanes do not follow from
  /// the dword. Returns the additional host memory in bytes.
  template <typename Visit>
  size_t visit(CellArena& arena, uint32_t first, uint32_t end, std::optional<unsigned> spread, const Visit& visit) {
    size_t more = 0;
    if (kind_ != Kind::split) {
      if (first == 0 && end == bytes && kind_ == Kind::whole) {
        visit(whole_, 0, dwords);
        return 0;
      }
      // The lane stride also does not apply if the access begins within the dwords of one lane.
      const bool in_dwords = first % 4 == 0 && end % 4 == 0;
      const bool is_one = end - first == 4;
      if (in_dwords && (is_one || (spread && (first / 4) % (1u << *spread) == 0))) {
        if (Part* part = cut(arena, first / 4, end / 4, more); part != nullptr) {
          const Part* const parts_end = parts_->list.data() + parts_->count;
          for (; part != parts_end && part->begin < end / 4; ++part) {
            visit(part->cell, part->begin * 4, parts_->end_of(*part) - part->begin);
          }
          return more;
        }
      }
      split(arena, more);
    }
    for (uint32_t at = first; at < end;) {
      const uint32_t dword = at / 4, until = std::min(end, (dword + 1) * 4);
      Cell* of_bytes = nullptr;
      if (!split_->bytes.empty()) {
        if (const auto found = split_->bytes.find(dword); found != split_->bytes.end()) of_bytes = found->second.data();
      }
      if (of_bytes == nullptr && until - at < 4) {
        std::array<Cell, 4>& cells = split_->bytes[dword];
        cells.fill(split_->dwords[dword]);
        of_bytes = cells.data();
        more += sizeof cells;
      }
      if (of_bytes == nullptr) {
        visit(split_->dwords[dword], at, 1);
      } else {
        for (uint32_t byte = at; byte < until; ++byte) visit(of_bytes[byte & 3], byte, 0);
      }
      at = until;
    }
    return more;
  }

 private:
  static constexpr uint32_t dwords = bytes / 4;

  /// A run of dwords up to the next part. Its records are those of the first dword.
  struct Part {
    uint32_t begin = 0;
    Cell cell{};
  };
  struct Parts {
    static constexpr uint32_t max_count = 6;
    std::array<Part, max_count> list{};
    uint32_t count = 1;

    uint32_t end_of(const Part& part) const { return &part + 1 == list.data() + count ? dwords : (&part + 1)->begin; }
    /// Splits parts at a dword and returns the index of the new part, or `max_count` if there are too many.
    uint32_t begin_at(uint32_t dword) {
      uint32_t before = count - 1;
      while (list[before].begin > dword) --before;
      if (list[before].begin == dword) return before;
      if (count == max_count) return max_count;
      std::copy_backward(list.begin() + before, list.begin() + count, list.begin() + count + 1);
      Part& part = list[before + 1];
      part.cell = part.cell.at(dword - part.begin);
      part.begin = dword;
      ++count;
      return before + 1;
    }
  };
  struct Split {
    std::array<Cell, dwords> dwords{};
    std::unordered_map<uint32_t, std::array<Cell, 4>> bytes;  ///< cells of dwords whose bytes are accessed individually
  };

  /// Has parts begin at these dwords, and returns the first. Null: there are too many.
  Part* cut(CellArena& arena, uint32_t first, uint32_t end, size_t& more) {
    if (kind_ == Kind::whole) {
      if (!parts_) {
        parts_ = arena.make<Parts>();
        more += sizeof(Parts);
      }
      parts_->count = 1;
      parts_->list[0] = {.begin = 0, .cell = whole_};
      kind_ = Kind::parts;
    }
    const uint32_t number = parts_->begin_at(first);
    if (number == Parts::max_count || (end != dwords && parts_->begin_at(end) == Parts::max_count)) return nullptr;
    return &parts_->list[number];
  }
  void split(CellArena& arena, size_t& more) {
    if (!split_) {
      split_ = arena.make<Split>();
      more += sizeof(Split);
    }
    const bool has_parts = kind_ == Kind::parts;
    kind_ = Kind::split;
    if (!has_parts) {
      for (uint32_t dword = 0; dword < dwords; ++dword) split_->dwords[dword] = whole_.at(dword);
      return;
    }
    for (const Part& part : std::span(parts_->list.data(), parts_->count)) {
      for (uint32_t dword = part.begin; dword < parts_->end_of(part); ++dword) {
        split_->dwords[dword] = part.cell.at(dword - part.begin);
      }
    }
  }

  // The block has one cell whose records are those of its first dword, cells for runs of dwords, or one cell per dword.
  enum class Kind : uint8_t { whole, parts, split };
  Cell whole_{};
  Kind kind_ = Kind::whole;
  InArena<Parts> parts_;
  InArena<Split> split_;
};

/// A spin lock, held for some hundred nanoseconds and rarely contended. std::mutex took a tenth of the time of a
/// checked saxpy.
class SpinLock {
 public:
  void lock() {
    while (is_taken_.exchange(true, std::memory_order_acquire)) {
      for (unsigned spins = 0; is_taken_.load(std::memory_order_relaxed); ++spins) {
        if (spins >= max_spins) std::this_thread::yield();
      }
    }
  }
  void unlock() { is_taken_.store(false, std::memory_order_release); }

 private:
  static constexpr unsigned max_spins = 64;
  std::atomic<bool> is_taken_{false};
};

/// Shadow cells of memory shared by waves, allocated on first access.
class AccessHistory {
 public:
  static constexpr uint64_t page_bytes = 4096;
  static constexpr size_t part_count = 64;
  /// Limit of the cells' host memory. When it is exceeded all cells are cleared, and races with the cleared accesses
  /// are missed.
  static constexpr size_t max_bytes = size_t{2} << 30;

  using Blocks = std::array<CellBlock, page_bytes / CellBlock::bytes>;

  /// A shard of the address space, with its own lock.
  class alignas(64) Part {
   public:
    SpinLock mutex;
    size_t bytes = 0;  ///< host memory used by pages
    /// Synchronisation variables: release clocks of the addresses that atomics access.
    std::unordered_map<uint64_t, Place> atomics;

    /// The memory of the pages' cells.
    CellArena& arena() { return arena_; }
    /// Makes pointers to other pages void.
    Blocks& page(uint64_t number) {
      Recent& recent = recent_[number / part_count % recent_.size()];
      if (recent.page != nullptr && recent.number == number) return recent.page->blocks;
      auto at = pages_.find(number);
      if (at == pages_.end()) {
        if (bytes > max_bytes / part_count) {
          pages_.clear();
          recent_ = {};
          arena_.rewind();
          bytes = 0;
        }
        bytes += sizeof(Page);
        at = pages_.try_emplace(number, arena_.make<Page>(generation_)).first;
      }
      Page& page = *at->second;
      if (page.generation != generation_) renew(page);
      recent = {.number = number, .page = &page};
      return page.blocks;
    }
    /// Returns null if the memory has not been accessed since clear().
    Blocks* find(uint64_t number) {
      const auto at = pages_.find(number);
      return at == pages_.end() || at->second->generation != generation_ ? nullptr : &at->second->blocks;
    }
    template <typename Visit>
    void for_each_page(const Visit& visit) {
      for (auto& [number, page] : pages_) {
        if (page->generation == generation_) visit(number, page->blocks);
      }
    }
    /// Clears all cells but keeps the pages: the next dispatch usually accesses the same memory.
    void clear() {
      ++generation_;
      recent_ = {};
      atomics.clear();
    }

   private:
    struct Page {
      uint64_t generation = 0;  ///< value of the shard's generation when the blocks were written
      Blocks blocks{};
      explicit Page(uint64_t now) : generation(now) {}
    };

    void renew(Page& page) {
      for (CellBlock& block : page.blocks) block.clear();
      page.generation = generation_;
    }

    CellArena arena_;
    std::unordered_map<uint64_t, InArena<Page>> pages_;
    uint64_t generation_ = 0;
    struct Recent {
      uint64_t number = 0;
      Page* page = nullptr;
    };
    std::array<Recent, 16> recent_{};  ///< the last accessed pages, by number
  };

  AccessHistory() {
    for (Part& part : parts_) part.arena().begin(memory_);
  }
  static uint64_t page_of(uint64_t address) { return address / page_bytes; }
  Part& part(uint64_t page) { return parts_[page % part_count]; }
  void clear() {
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      part.clear();
    }
  }
  /// Clears the cells of memory that gets a new owner. A partly covered block is cleared completely.
  void forget(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    constexpr uint64_t few = 4096;
    const uint64_t first = page_of(begin), last = page_of(end - 1);
    if (last - first < few) {
      for (uint64_t page = first; page <= last; ++page) {
        Part& part = parts_[page % part_count];
        const std::lock_guard lock(part.mutex);
        forget_atomics(part, begin, end);
        if (Blocks* const blocks = part.find(page)) forget_blocks(*blocks, page, begin, end);
      }
      return;
    }
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      forget_atomics(part, begin, end);
      part.for_each_page([&](uint64_t page, Blocks& blocks) {
        if (page >= first && page <= last) forget_blocks(blocks, page, begin, end);
      });
    }
  }

 private:
  static void forget_atomics(Part& part, uint64_t begin, uint64_t end) {
    std::erase_if(part.atomics, [&](const auto& place) { return place.first >= begin && place.first < end; });
  }
  static void forget_blocks(Blocks& blocks, uint64_t page, uint64_t begin, uint64_t end) {
    const uint64_t base = page * page_bytes;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const uint64_t at = base + i * CellBlock::bytes;
      if (at < end && begin < at + CellBlock::bytes) blocks[i].clear();
    }
  }

  HugePages memory_;
  std::array<Part, part_count> parts_;
};

}  // namespace Atoll::observe

// observe: shadow cells of a work-group's LDS: the last write and the last two reads of each dword.
//
// A general cell (access_history.h) has 52 bytes and straddles cache lines; one check took 3.7 ns in an FFT in LDS, and
// takes 1.2 ns with this layout. Each field has an array of its own, and an epoch is one word: task, time and lane. A
// wave's clock for its work-group is a table of 64 such words, so "happens before" is one table look-up and one
// comparison. Accesses that the fast paths cannot decide are returned as a Cell, which is stored back afterwards.
//
// Arrays are not cleared between work-groups. Task numbers increase, so records of earlier work-groups are below all of
// this one's and count as empty.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "machine/observer.h"
#include "observe/race/access_history.h"
#include "observe/race/vector_clock.h"
#include "observe/shadow/lds_rows.h"

namespace Atoll::observe {

class LdsCells {
 public:
  /// Larger work-groups do not use the fast path.
  static constexpr uint32_t max_waves = 64;

  /// Begins a work-group whose waves are the tasks from `first_task` on.
  void begin(uint32_t bytes, uint32_t first_task, uint32_t waves);

  uint64_t bytes() const { return uint64_t{dwords_} * 4; }

  /// Runs the fast paths (lds_rows.h).
  LdsPass pass(const machine::AccessEvent& access, const LdsLimits& limits, const Mark& mark) {
    if (!bytes_.empty() || begin_ == 0) return {};
    return functions_.pass_access(rows(), access, limits, mark);
  }
  LdsPass pass_atomic(const machine::AccessEvent& access, const LdsLimits& limits, const Mark& mark, uint32_t since) {
    if (!bytes_.empty() || begin_ == 0) return {};
    begin_atomics();
    return functions_.pass_atomic(rows(), access, limits, mark, since);
  }

  /// Calls `visit(cell, offset, dwords)` for the cells of the bytes [first, end). `dwords` is 1, or 0 for one byte of a
  /// dword.
  template <typename Visit>
  void visit(uint32_t first, uint32_t end, const Visit& visit) {
    for (uint32_t at = first; at < end;) {
      const uint32_t dword = at / 4, until = std::min(end, (dword + 1) * 4);
      std::array<Cell, 4>* of_bytes = nullptr;
      if (!bytes_.empty()) {
        if (const auto found = bytes_.find(dword); found != bytes_.end()) of_bytes = &found->second;
      }
      if (of_bytes == nullptr && until - at < 4) {
        of_bytes = &bytes_[dword];
        of_bytes->fill(get(dword));
      }
      if (of_bytes == nullptr) {
        Cell cell = get(dword);
        visit(cell, at, 1);
        set(dword, cell);
      } else {
        for (uint32_t byte = at; byte < until; ++byte) visit((*of_bytes)[byte & 3], byte, 0);
      }
      at = until;
    }
  }

 private:
  struct Marks {
    std::vector<uint64_t> packed;
    std::vector<uint32_t> sites;

    LdsMarks row() { return {.packed = packed.data(), .sites = sites.data()}; }
    void put(uint32_t dword, uint64_t mark, uint32_t site) {
      packed[dword] = mark;
      sites[dword] = site;
    }
  };
  struct Bits {
    std::vector<uint64_t> words;

    bool has(uint32_t dword) const { return (words[dword / 64] >> (dword % 64) & 1) != 0; }
    void set(uint32_t dword, bool value) {
      const uint64_t bit = uint64_t{1} << (dword % 64);
      value ? words[dword / 64] |= bit : words[dword / 64] &= ~bit;
    }
  };

  Mark mark_of(const Marks& marks, uint32_t dword) const {
    const uint64_t packed = marks.packed[dword];
    return packed < begin_ ? Mark{} : PackedMark::mark(packed, marks.sites[dword]);
  }
  Cell get(uint32_t dword) const;
  void set(uint32_t dword, const Cell& cell);
  void begin_atomics();
  LdsRows rows() {
    return {.bytes = bytes(),
            .first_task = first_task_,
            .has_atomics = has_atomics_,
            .writes = writes_.row(),
            .reads = reads_.row(),
            .earlier_reads = earlier_reads_.row(),
            .has_earlier_reads = &has_earlier_reads_,
            .plain_writes = plain_writes_.row(),
            .atomic = atomic_.words.data(),
            .by_atomic = by_atomic_.words.data()};
  }

  const LdsRowFunctions& functions_ = lds_row_functions();
  uint32_t dwords_ = 0, first_task_ = 0;
  uint64_t begin_ = 0;  ///< smaller records belong to earlier work-groups
  Marks writes_, reads_, earlier_reads_;
  bool has_earlier_reads_ = false;  ///< of this work-group
  // Valid from the work-group's first atomic on:
  bool has_atomics_ = false;
  Marks plain_writes_;
  Bits atomic_;                                              ///< Cell::is_atomic
  Bits by_atomic_;                                           ///< not Cell::is_stored
  std::unordered_map<uint32_t, std::array<Cell, 4>> bytes_;  ///< cells of dwords whose bytes are accessed individually
};

/// Release clocks of LDS: for each dword and wave, the time of the wave's last release. The clock at that time is
/// looked up in the wave's history, because it changes only at barriers and acquires.
class LdsReleases {
 public:
  void begin(uint32_t first_task, uint32_t waves);

  /// Returns whether no release has been recorded.
  bool empty() const { return is_empty_; }
  /// Returns whether a release has been recorded at an address.
  bool has(uint64_t address) const;
  /// Records a release by a wave up to `time` at the dword of an address. `replaces`: the wave has acquired the earlier
  /// releases there.
  void release(uint64_t address, uint32_t wave, uint32_t time, bool replaces);
  /// Records a wave's clock. Called before its releases.
  void knows(uint32_t wave, uint32_t time, const Knowledge& known);
  /// Returns the joined clocks of the releases at an address.
  VectorClock clock(uint64_t address) const;
  /// Returns the time of the last release by each wave; 0: none. Empty if no atomic has accessed the neighbourhood.
  std::span<const uint32_t> times(uint64_t address) const;

 private:
  static constexpr uint64_t block_dwords = 64;

  struct Known {
    uint32_t from = 0;
    Knowledge clock;
  };
  static constexpr size_t min_tidy_at = 256;

  void tidy(uint32_t wave);

  bool is_empty_ = true;
  size_t tidy_at_ = min_tidy_at;
  uint32_t first_task_ = 0, waves_ = 0;
  std::vector<std::unique_ptr<uint32_t[]>> blocks_;  ///< by dword and wave
  std::vector<std::vector<Known>> known_;            ///< by wave, in order of time
};

}  // namespace Atoll::observe

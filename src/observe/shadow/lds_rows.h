// observe: the fast paths of LDS shadow cells (lds_cells.h), compiled once per host ISA level (semantics/host_isa.h).
#pragma once

#include <array>
#include <cstdint>

#include "machine/observer.h"
#include "observe/race/access_history.h"

namespace Atoll::observe {

/// An epoch and a lane in one word, ordered by the task's time. 0: none.
struct PackedMark {
  static constexpr unsigned task_shift = 38, time_shift = Mark::lane_bits;

  static constexpr uint64_t of(Moment when, uint32_t lane) {
    return uint64_t{when.task} << task_shift | uint64_t{when.time} << time_shift | lane;
  }
  /// Returns the largest word of a task's epochs up to `until`.
  static constexpr uint64_t last_of(uint32_t task, uint32_t until) {
    return of({task, until}, (1u << Mark::lane_bits) - 1);
  }
  static constexpr uint32_t task(uint64_t packed) { return static_cast<uint32_t>(packed >> task_shift); }
  static constexpr Moment when(uint64_t packed) { return {task(packed), static_cast<uint32_t>(packed >> time_shift)}; }
  static Mark mark(uint64_t packed, uint32_t site) {
    Mark mark{.when = when(packed)};
    mark.lane = packed & ((1u << Mark::lane_bits) - 1);
    mark.site = site & (Mark::sites - 1);
    return mark;
  }
};

/// A wave's clock for its work-group: the latest known epoch of each wave, by task modulo 64. Entries of non-existent
/// waves are at least as large as the first wave's.
using LdsLimits = std::array<uint64_t, 64>;

/// Per dword:
struct LdsMarks {
  uint64_t* packed = nullptr;
  uint32_t* sites = nullptr;
};

struct LdsRows {
  uint64_t bytes = 0;
  uint32_t first_task = 0;
  bool has_atomics = false;  ///< the arrays after the reads are valid
  LdsMarks writes, reads, earlier_reads;
  bool* has_earlier_reads = nullptr;  ///< earlier_reads has records of this work-group
  LdsMarks plain_writes;
  uint64_t* atomic = nullptr;     ///< a bit for each dword: Cell::is_atomic
  uint64_t* by_atomic = nullptr;  ///< likewise: not Cell::is_stored
};

/// Result of the fast path.
struct LdsPass {
  bool passes = false;    ///< false: undecided, use the slow path; the access can be repeated
  bool overlaps = false;  ///< store in which several lanes may write the same dword
};

struct LdsRowFunctions {
  /// Performs an ordinary access if everything before it happens before it, and no atomic has accessed the dwords.
  LdsPass (*pass_access)(const LdsRows& rows, const machine::AccessEvent& access, const LdsLimits& limits,
                         const Mark& mark);
  /// Performs an ordinary atomic under the same condition. The wave's own reads from `since` on take the slow path.
  LdsPass (*pass_atomic)(const LdsRows& rows, const machine::AccessEvent& access, const LdsLimits& limits,
                         const Mark& mark, uint32_t since);
};
/// Returns the functions for the host ISA level in use.
const LdsRowFunctions& lds_row_functions();

}  // namespace Atoll::observe

// observe: the fast paths of LDS cells (lds_cells.h), which are compiled for each level of the host's vector
// instructions (semantics/host_isa.h).
#pragma once

#include <array>
#include <cstdint>

#include "machine/observer.h"
#include "observe/race/access_history.h"

namespace Atoll::observe {

/// A moment and a lane in one word, which is larger the later the moment of a task is. 0: none.
struct PackedMark {
  static constexpr unsigned task_shift = 38, time_shift = Mark::lane_bits;

  static constexpr uint64_t of(Moment when, uint32_t lane) {
    return uint64_t{when.task} << task_shift | uint64_t{when.time} << time_shift | lane;
  }
  /// The last word of a task's moments up to `until`.
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

/// The last moment of each wave of a work-group that a wave knows of, by task modulo 64. Entries of waves that do not
/// exist are at least as large as those of the first.
using LdsLimits = std::array<uint64_t, 64>;

/// By dword.
struct LdsMarks {
  uint64_t* packed = nullptr;
  uint32_t* sites = nullptr;
};

struct LdsRows {
  uint64_t bytes = 0;
  uint32_t first_task = 0;
  bool has_atomics = false;  ///< what follows the reads is good
  LdsMarks writes, reads, earlier_reads;
  bool* has_earlier_reads = nullptr;  ///< earlier_reads has some of this work-group
  LdsMarks plain_writes;
  uint64_t* atomic = nullptr;     ///< a bit for each dword: Cell::is_atomic
  uint64_t* by_atomic = nullptr;  ///< likewise: not Cell::is_stored
};

/// How an access went.
struct LdsPass {
  bool passes = false;    ///< if not, it has to be looked at more closely, and what was done can be done again
  bool overlaps = false;  ///< of a store: lanes may have stored to the same dword
};

struct LdsRowFunctions {
  /// Performs an ordinary access if its wave knows of everything before it, and no atomic has accessed the dwords.
  LdsPass (*pass_access)(const LdsRows& rows, const machine::AccessEvent& access, const LdsLimits& limits,
                         const Mark& mark);
  /// Performs an ordinary atomic on the same condition. The wave's own reads from `since` on are looked at more
  /// closely.
  LdsPass (*pass_atomic)(const LdsRows& rows, const machine::AccessEvent& access, const LdsLimits& limits,
                         const Mark& mark, uint32_t since);
};
/// Returns the functions of the host vector level in use.
const LdsRowFunctions& lds_row_functions();

}  // namespace Atoll::observe

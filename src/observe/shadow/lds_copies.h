// observe: outstanding copies between memory and LDS of a work-group, with the bytes of LDS that they still fill or
// read.
//
// A copy is known to be complete when its wave has waited for it, which counts for all waves of the work-group. On
// GFX12.5 it is also complete when a barrier in LDS is reached at which the wave's copies arrive. Any reader of that
// barrier counts as having waited for it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "machine/observer.h"
#include "memory_model/generation.h"

namespace Atoll::observe {

struct LdsCopy {
  uint64_t number = 0, pc = 0;
  uint32_t wave = 0;
  memory_model::Counters counters = 0;  ///< counters that count the copy
  bool fills = false;                   ///< true: writes LDS; false: reads it
  std::optional<uint64_t> barrier{};    ///< barrier in LDS at which it arrives
  uint64_t begin = UINT64_MAX, end = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges{};

  bool has(uint64_t address, uint32_t bytes) const;
};

class LdsCopies {
 public:
  /// Records an issued copy and returns its number, which is not 0.
  uint64_t issue(uint64_t pc, uint32_t wave, memory_model::Counters counters, bool fills);
  /// Adds an access of LDS by that copy.
  void add(uint64_t number, const machine::AccessEvent& access);
  void done(uint64_t number);
  /// The wave's outstanding copies, or one of them, will arrive at a barrier in LDS when they complete.
  void arrive(uint32_t wave, uint64_t barrier);
  void arrive_alone(uint64_t number, uint64_t barrier);
  /// Handles a read of LDS, which may read such a barrier.
  void read(const machine::AccessEvent& access);
  bool empty() const { return copies_.empty(); }

  struct Conflict {
    const LdsCopy* copy = nullptr;
    uint64_t address = 0;
    unsigned lane = 0;
  };
  /// Returns an outstanding copy that an access conflicts with. Two copies that fill the same bytes do not conflict.
  /// `own`: number of the copy that makes the access; 0: none.
  std::optional<Conflict> conflict(const machine::AccessEvent& access, uint64_t own) const;

 private:
  std::vector<LdsCopy> copies_;
  uint64_t last_ = 0;
};

}  // namespace Atoll::observe

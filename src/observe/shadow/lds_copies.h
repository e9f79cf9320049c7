// observe: copies between memory and LDS that are under way in a work-group: the bytes of LDS that they are still to
// fill, or still to read.
//
// Only a wait of the wave that has issued a copy tells that it is done, to all waves of the work-group; or, on GFX12.5,
// a barrier in LDS at which the wave's copies arrive. Whoever reads that barrier is taken to have waited for it.
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
  memory_model::Counters counters = 0;  ///< that count it
  bool fills = false;                   ///< LDS; else it reads it
  std::optional<uint64_t> barrier{};    ///< at which it arrives
  uint64_t begin = UINT64_MAX, end = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges{};

  bool has(uint64_t address, uint32_t bytes) const;
};

class LdsCopies {
 public:
  /// A wave issues a copy; the number that it gets is not 0.
  uint64_t issue(uint64_t pc, uint32_t wave, memory_model::Counters counters, bool fills);
  /// What the copy of that number accesses of LDS.
  void add(uint64_t number, const machine::AccessEvent& access);
  void done(uint64_t number);
  /// The copies that a wave has issued arrive at a barrier in LDS when they are done; or one of them alone.
  void arrive(uint32_t wave, uint64_t barrier);
  void arrive_alone(uint64_t number, uint64_t barrier);
  /// Somebody reads LDS, and so perhaps a barrier.
  void read(const machine::AccessEvent& access);
  bool empty() const { return copies_.empty(); }

  struct Conflict {
    const LdsCopy* copy = nullptr;
    uint64_t address = 0;
    unsigned lane = 0;
  };
  /// With what an access would not wait for; nothing of two copies that fill the same. `own`: the number of the copy
  /// whose access it is; 0: of none.
  std::optional<Conflict> conflict(const machine::AccessEvent& access, uint64_t own) const;

 private:
  std::vector<LdsCopy> copies_;
  uint64_t last_ = 0;
};

}  // namespace Atoll::observe

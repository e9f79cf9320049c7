// observe: memory ranges to which kernels stored uninitialized values, with the storing instructions. Uninitialized
// memory is otherwise padding, or was never reached; a longer run that a kernel stored is most likely a result.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "debug_info/code_address.h"

namespace Atoll::observe {

class UndefinedStores {
 public:
  /// Shorter runs may be padding that is copied with a structure.
  static constexpr uint64_t least_bytes = 32;
  /// Limit of the ranges; further stores are not recorded.
  static constexpr size_t max_ranges = size_t{1} << 18;

  struct Place {
    debug_info::CodeAddress code{};  ///< the instruction
    std::string kernel{};            ///< its mangled name
    uint32_t origin = 0;             ///< origin of the stored value (undefined_bits.h)
  };

  /// Records a store to [begin, end) by the instruction at `pc`. `place_of()` is called once per instruction.
  template <typename PlaceOf>
  void add(uint64_t begin, uint64_t end, uint64_t pc, const PlaceOf& place_of) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = numbers_.try_emplace(pc, static_cast<uint32_t>(places_.size()));
    if (is_new) places_.push_back(place_of());
    insert(begin, end, place->second);
  }
  /// Drops the range, which has a new owner.
  void forget(uint64_t begin, uint64_t end);

  struct Run {
    uint64_t begin = 0, end = 0;
    Place place;  ///< place of the store to its first bytes
  };
  /// Returns the longest run of at least `least_bytes` within [begin, end) that such stores wrote and whose dwords all
  /// satisfy `is_undefined(address)`.
  template <typename IsUndefined>
  std::optional<Run> longest(uint64_t begin, uint64_t end, const IsUndefined& is_undefined) const {
    const std::lock_guard lock(mutex_);
    Range best{}, now{};
    uint64_t best_begin = 0, now_begin = 0;
    for (auto at = first_in(begin); at != ranges_.end() && at->first < end; ++at) {
      const uint64_t last = at->second.end < end ? at->second.end : end;
      for (uint64_t address = at->first < begin ? begin : at->first; address < last; address += dword) {
        if (!is_undefined(address)) continue;
        if (address != now.end) {
          now_begin = address;
          now.place = at->second.place;
        }
        now.end = address + dword;
        if (now.end - now_begin > best.end - best_begin) {
          best = now;
          best_begin = now_begin;
        }
      }
    }
    if (best.end - best_begin < least_bytes) return std::nullopt;
    return Run{.begin = best_begin, .end = best.end, .place = places_[best.place]};
  }

 private:
  static constexpr uint64_t dword = 4;
  struct Range {
    uint64_t end = 0;
    uint32_t place = 0;
  };
  using Ranges = std::map<uint64_t, Range>;

  Ranges::const_iterator first_in(uint64_t begin) const;
  void insert(uint64_t begin, uint64_t end, uint32_t place);
  void erase(uint64_t begin, uint64_t end);

  mutable std::mutex mutex_;
  Ranges ranges_;  ///< by begin; they don't overlap
  std::vector<Place> places_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  ///< index of a place, by PC
};

}  // namespace Atoll::observe

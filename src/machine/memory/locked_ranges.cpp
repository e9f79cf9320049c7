// machine: locked memory without an address of the GPU's. See locked_ranges.h.
#include "machine/memory/locked_ranges.h"

#include <algorithm>

#include "support/fork.h"

namespace Atoll::machine {

LockedRanges& LockedRanges::of_process() {
  static auto* const instance = [] {
    auto* made = new LockedRanges;
    support::keep_free_in_forks(made->mutex_, support::LockDepth::innermost);
    return made;
  }();
  return *instance;
}

void LockedRanges::add(uint64_t address, uint64_t size) {
  const std::lock_guard lock(mutex_);
  ranges_[address] = size;
  count_ = ranges_.size();
}

void LockedRanges::remove(uint64_t address) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(address);
  count_ = ranges_.size();
}

bool LockedRanges::any_of(std::span<const uint64_t> words) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(words, [&](uint64_t word) {
    return std::ranges::any_of(ranges_, [&](const auto& range) { return word - range.first < range.second; });
  });
}

}  // namespace Atoll::machine

// machine: the grain of memory by address (memory_grain.h).
#include "machine/memory/memory_grain.h"

#include <algorithm>
#include <iterator>

#include "machine/memory/address_range.h"
#include "support/fork.h"

namespace Atoll::machine {

MemoryGrain& MemoryGrain::of_process() {
  static auto* const instance = [] {
    auto* made = new MemoryGrain;
    support::keep_free_in_forks(made->mutex_, support::LockDepth::innermost);
    return made;
  }();
  return *instance;
}

void MemoryGrain::split(uint64_t at) {
  auto position = pieces_.upper_bound(at);
  if (position == pieces_.begin()) return;
  --position;
  if (position->first == at || position->second.end <= at) return;
  pieces_[at] = position->second;
  position->second.end = at;
}

void MemoryGrain::reset(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  split(begin);
  split(end);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
  generation_.fetch_add(1, std::memory_order_release);
}

void MemoryGrain::set(uint64_t begin, uint64_t end, bool is_fine) {
  reset(begin, end);
  const std::lock_guard lock(mutex_);
  pieces_[begin] = {.end = end, .is_fine = is_fine};
  generation_.fetch_add(1, std::memory_order_release);
}

void MemoryGrain::set_outside_fine() {
  const std::lock_guard lock(mutex_);
  is_outside_fine_ = true;
  generation_.fetch_add(1, std::memory_order_release);
}

GrainRange MemoryGrain::around(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto above = pieces_.upper_bound(address);
  const uint64_t next = above == pieces_.end() ? UINT64_MAX : above->first;
  uint64_t last_end = 0;
  if (above != pieces_.begin()) {
    const auto& [begin, piece] = *std::prev(above);
    if (address < piece.end) return {.begin = begin, .end = piece.end, .is_fine = piece.is_fine};
    last_end = piece.end;
  }
  // As far as nothing is known to change: a page, which is either the GPUs' or the program's.
  constexpr uint64_t page = 4096;
  const AddressBounds bounds = AddressRange::of_process().bounds();
  return {.begin = std::max(last_end, address / page * page),
          .end = std::min(next, address / page * page + page),
          .is_fine = is_outside_fine_ && !bounds.are_everything() && !bounds.hold(address)};
}

}  // namespace Atoll::machine

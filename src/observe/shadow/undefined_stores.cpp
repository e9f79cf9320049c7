// observe: maintains the sorted ranges of uninitialized stores.
#include "observe/shadow/undefined_stores.h"

#include <iterator>

namespace Atoll::observe {

UndefinedStores::Ranges::const_iterator UndefinedStores::first_in(uint64_t begin) const {
  const auto above = ranges_.upper_bound(begin);
  return above != ranges_.begin() && std::prev(above)->second.end > begin ? std::prev(above) : above;
}

void UndefinedStores::erase(uint64_t begin, uint64_t end) {
  for (auto at = first_in(begin); at != ranges_.end() && at->first < end;) {
    const auto [first, range] = *at;
    at = ranges_.erase(at);
    if (first < begin) ranges_[first] = {begin, range.place};
    if (range.end > end) ranges_[end] = range;  // the last range
  }
}

void UndefinedStores::insert(uint64_t begin, uint64_t end, uint32_t place) {
  const auto above = ranges_.upper_bound(begin);
  if (above != ranges_.begin()) {
    Range& before = std::prev(above)->second;
    if (before.place == place && before.end >= end) return;  // already recorded
    if (before.place == place && before.end == begin && (above == ranges_.end() || above->first >= end)) {
      before.end = end;
      return;
    }
  }
  erase(begin, end);
  if (ranges_.size() < max_ranges) ranges_[begin] = {end, place};
}

void UndefinedStores::forget(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  erase(begin, end);
}

}  // namespace Atoll::observe

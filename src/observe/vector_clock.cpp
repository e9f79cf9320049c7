// observe: see vector_clock.h.
#include "observe/vector_clock.h"

#include <algorithm>

namespace Atoll::observe {

uint32_t VectorClock::of(uint32_t task) const {
  const auto at = std::ranges::lower_bound(moments_, task, {}, &Moment::task);
  return at != moments_.end() && at->task == task ? at->time : 0;
}

void VectorClock::learn(Moment moment) {
  if (moment.time == 0) return;
  const auto at = std::ranges::lower_bound(moments_, moment.task, {}, &Moment::task);
  if (at == moments_.end() || at->task != moment.task) {
    moments_.insert(at, moment);
  } else {
    at->time = std::max(at->time, moment.time);
  }
}

void VectorClock::learn(const VectorClock& other) {
  if (other.empty()) return;
  if (moments_.empty()) {
    moments_ = other.moments_;
    return;
  }
  if (other.moments_.size() * 8 < moments_.size()) {  // a few into many
    for (const Moment& moment : other.moments_) learn(moment);
    return;
  }
  std::vector<Moment> joined;
  joined.reserve(moments_.size() + other.moments_.size());
  auto mine = moments_.begin();
  auto theirs = other.moments_.begin();
  while (mine != moments_.end() || theirs != other.moments_.end()) {
    if (theirs == other.moments_.end() || (mine != moments_.end() && mine->task < theirs->task)) {
      joined.push_back(*mine++);
    } else if (mine == moments_.end() || theirs->task < mine->task) {
      joined.push_back(*theirs++);
    } else {
      joined.push_back({mine->task, std::max(mine->time, theirs->time)});
      ++mine;
      ++theirs;
    }
  }
  moments_ = std::move(joined);
}

}  // namespace Atoll::observe

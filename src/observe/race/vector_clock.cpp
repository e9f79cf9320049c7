// observe: joins of vector clocks, which are sorted arrays of epochs.
#include "observe/race/vector_clock.h"

#include <algorithm>

namespace Atoll::observe {

uint32_t VectorClock::of(uint32_t task) const {
  if (all_last_ != 0 && task >= all_first_ && task <= all_last_) return UINT32_MAX;
  const auto at = std::ranges::lower_bound(moments_, task, {}, &Moment::task);
  return at != moments_.end() && at->task == task ? at->time : 0;
}

void VectorClock::add_all(uint32_t first, uint32_t last) {
  if (last == 0) return;
  all_first_ = all_last_ == 0 ? first : std::min(all_first_, first);
  all_last_ = std::max(all_last_, last);
}

void VectorClock::limit() {
  if (moments_.size() <= most) return;
  add_all(moments_.front().task, moments_.back().task);
  moments_.clear();
}

void VectorClock::learn(Moment moment) {
  if (moment.time == 0) return;
  if (moments_.empty() || moments_.back().task < moment.task) {
    moments_.push_back(moment);
  } else {
    const auto at = std::ranges::lower_bound(moments_, moment.task, {}, &Moment::task);
    if (at->task != moment.task) {
      moments_.insert(at, moment);
    } else {
      at->time = std::max(at->time, moment.time);
      return;
    }
  }
  limit();
}

void VectorClock::learn(const VectorClock& other) {
  if (other.empty() || &other == this) return;
  if (empty()) {
    *this = other;
    return;
  }
  add_all(other.all_first_, other.all_last_);
  if (other.moments_.size() * 8 < moments_.size()) {  // few into many
    for (const Moment& moment : other.moments_) learn(moment);
    return;
  }
  if (learn_of_known_tasks(other)) return;
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
  limit();
}

/// Joins the times of tasks that are already present. Returns whether that was all.
bool VectorClock::learn_of_known_tasks(const VectorClock& other) {
  auto mine = moments_.begin();
  for (const Moment& moment : other.moments_) {
    while (mine != moments_.end() && mine->task < moment.task) ++mine;
    if (mine == moments_.end() || mine->task != moment.task) return false;
    mine->time = std::max(mine->time, moment.time);
  }
  return true;
}

void VectorClock::learn_of(const VectorClock& other, uint32_t first, uint32_t end) {
  if (other.all_last_ >= first && other.all_first_ < end && other.all_last_ != 0) {
    add_all(std::max(first, other.all_first_), std::min(end - 1, other.all_last_));
  }
  for (auto at = std::ranges::lower_bound(other.moments_, first, {}, &Moment::task);
       at != other.moments_.end() && at->task < end; ++at) {
    learn(*at);
  }
}

bool VectorClock::lacks(const VectorClock& other, uint32_t first, uint32_t end, uint32_t own) const {
  if (other.all_last_ >= first && other.all_first_ < end && other.all_last_ != 0) return true;
  for (auto at = std::ranges::lower_bound(other.moments_, first, {}, &Moment::task);
       at != other.moments_.end() && at->task < end; ++at) {
    if (at->task != own && of(at->task) < at->time) return true;
  }
  return false;
}

void Place::learn(const Knowledge& released, uint32_t task) {
  if (released == last_.clock || released->empty()) return;
  joined_.clear();
  if (last_.clock != nullptr && last_.task != task) {
    const auto own = std::ranges::find(others_, task, &Released::task);
    if (own != others_.end()) {
      *own = std::move(last_);
    } else {
      others_.push_back(std::move(last_));
    }
    if (others_.size() > most_others) {
      for (const Released& other : others_) before_.learn(*other.clock);
      others_.clear();
    }
  }
  last_ = {.task = task, .clock = released};
}

const VectorClock& Place::join() const {
  if (joined_.empty()) {
    joined_ = before_;
    for (const Released& other : others_) joined_.learn(*other.clock);
    joined_.learn(*last_.clock);
  }
  return joined_;
}

}  // namespace Atoll::observe

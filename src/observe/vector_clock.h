// observe: vector clocks, by which the race checker knows what has happened before what.
//
// Each wave that runs is a task with a number. It counts its own time: what it does is marked with the task and its
// time then, and to have synchronised with it means to know of it up to some time. Knowledge is shared: the waves of a
// work-group know the same after a barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace Atoll::observe {

struct Moment {
  uint32_t task = 0;  ///< 0: nobody
  uint32_t time = 0;
};

class VectorClock {
 public:
  /// Up to which time a task is known; 0: not at all.
  uint32_t of(uint32_t task) const;
  bool empty() const { return moments_.empty(); }
  const std::vector<Moment>& moments() const { return moments_; }

  void learn(Moment moment);
  void learn(const VectorClock& other);
  void clear() { moments_.clear(); }

 private:
  std::vector<Moment> moments_;  ///< by task
};

using Knowledge = std::shared_ptr<const VectorClock>;

}  // namespace Atoll::observe

// observe: vector clocks, by which the race checker knows what has happened before what.
//
// Each wave that runs is a task with a number. It counts its own time: what it does is marked with the task and its
// time then, and to have synchronised with it means to know of it up to some time. Clocks that are handed on are shared
// and no longer changed: the waves of a work-group know the same after a barrier, and all places that a wave releases
// to have the same clock of it until it has done more.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace Atoll::observe {

struct Moment {
  uint32_t task = 0;  ///< 0: nobody
  uint32_t time = 0;
};

class VectorClock {
 public:
  /// Of how many tasks times are kept. Where there are more, all tasks between are taken as known altogether: races
  /// with them may go unnoticed, and none is told that is not one.
  static constexpr size_t most = 4096;

  /// Up to which time a task is known; 0: not at all.
  uint32_t of(uint32_t task) const;
  bool empty() const { return moments_.empty() && all_last_ == 0; }
  /// By task, without those that are known altogether.
  std::span<const Moment> moments() const { return moments_; }

  void learn(Moment moment);
  void learn(const VectorClock& other);
  /// Only what `other` knows of the tasks from `first` to before `end`.
  void learn_of(const VectorClock& other, uint32_t first, uint32_t end);
  void clear() {
    moments_.clear();
    all_first_ = all_last_ = 0;
  }

  /// Whether `other` knows more of the tasks from `first` to before `end`, apart from `own`.
  bool lacks(const VectorClock& other, uint32_t first, uint32_t end, uint32_t own) const;

 private:
  bool learn_of_known_tasks(const VectorClock& other);
  void add_all(uint32_t first, uint32_t last);
  void limit();

  std::vector<Moment> moments_;            ///< by task
  uint32_t all_first_ = 0, all_last_ = 0;  ///< tasks that are known altogether; last 0: none
};

using Knowledge = std::shared_ptr<const VectorClock>;

/// What is known to who reads a place that others have released to.
class Place {
 public:
  /// `task`: who releases it. A task's later clock has all that its earlier ones had, and takes their place.
  void learn(const Knowledge& released, uint32_t task);
  const VectorClock& clock() const { return is_one() ? *last_.clock : join(); }
  bool empty() const { return last_.clock == nullptr; }

 private:
  struct Released {
    uint32_t task = 0;
    Knowledge clock;
  };
  static constexpr size_t most_others = 8;  ///< which are joined when there are more

  bool is_one() const { return others_.empty() && before_.empty(); }
  const VectorClock& join() const;

  Released last_;                 ///< that was released last
  std::vector<Released> others_;  ///< by other tasks before that
  VectorClock before_;            ///< of still others, joined
  mutable VectorClock joined_;    ///< all of them; empty: to be joined
};

}  // namespace Atoll::observe

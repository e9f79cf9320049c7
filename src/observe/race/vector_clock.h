// observe: vector clocks for the race checker's happens-before relation.
//
// Each running wave is a task with a number and a time of its own. Its accesses are labelled with the epoch (task,
// time); synchronising with it makes its times up to some point known. Clocks that are passed on are shared and
// immutable: the waves of a work-group share one clock after a barrier, and all locations that a wave releases to share
// its clock until it ticks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace Atoll::observe {

struct Moment {
  uint32_t task = 0;  ///< 0: none
  uint32_t time = 0;
};

class VectorClock {
 public:
  /// Maximum number of tasks with separate times. Beyond it, all tasks in a range count as known. Races with them may
  /// be missed, but no false race is reported.
  static constexpr size_t most = 4096;

  /// Returns the time up to which a task is known; 0: unknown.
  uint32_t of(uint32_t task) const;
  bool empty() const { return moments_.empty() && all_last_ == 0; }
  /// Returns the known times by task, without the range of tasks that is known completely.
  std::span<const Moment> moments() const { return moments_; }

  void learn(Moment moment);
  void learn(const VectorClock& other);
  /// Joins the times of `other` for the tasks [first, end).
  void learn_of(const VectorClock& other, uint32_t first, uint32_t end);
  void clear() {
    moments_.clear();
    all_first_ = all_last_ = 0;
  }

  /// Returns whether `other` has later times for tasks in [first, end) other than `own`.
  bool lacks(const VectorClock& other, uint32_t first, uint32_t end, uint32_t own) const;

 private:
  bool learn_of_known_tasks(const VectorClock& other);
  void add_all(uint32_t first, uint32_t last);
  void limit();

  std::vector<Moment> moments_;            ///< by task
  uint32_t all_first_ = 0, all_last_ = 0;  ///< range of tasks that is known completely; last 0: empty
};

using Knowledge = std::shared_ptr<const VectorClock>;

/// Release clock of a synchronisation variable; an acquiring read joins it.
class Place {
 public:
  /// Joins a release by `task`. It replaces the task's earlier release, which it includes.
  void learn(const Knowledge& released, uint32_t task);
  const VectorClock& clock() const { return is_one() ? *last_.clock : join(); }
  bool empty() const { return last_.clock == nullptr; }

 private:
  struct Released {
    uint32_t task = 0;
    Knowledge clock;
  };
  static constexpr size_t most_others = 8;  ///< limit, beyond which they are joined

  bool is_one() const { return others_.empty() && before_.empty(); }
  const VectorClock& join() const;

  Released last_;                 ///< the latest release
  std::vector<Released> others_;  ///< earlier releases of other tasks
  VectorClock before_;            ///< join of still earlier releases
  mutable VectorClock joined_;    ///< join of all; empty: to be computed
};

}  // namespace Atoll::observe

// observe: collects the findings of a run: reports each once, counts repetitions, and drops suppressed ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "observe/report/finding.h"
#include "observe/report/suppressions.h"

namespace Atoll::observe {

class Findings {
 public:
  /// `report` receives the text of each finding on the thread that made it, one at a time.
  Findings(Suppressions suppressions, std::function<void(std::string_view)> report)
      : suppressions_(std::move(suppressions)), tell_(std::move(report)) {}

  /// Called after each new finding, with no lock held.
  std::function<void(const Finding&)> added{};

  /// Returns whether the finding exists, and adds `count` to it if so. `place` identifies where it was made: a PC, or
  /// the number of a call stack. Fast, so that repetitions in a loop are cheap.
  bool known(std::string_view checker, std::string_view kind, uint64_t place, uint64_t count);
  /// Adds a finding that is not known(), resolves its places, and reports it.
  void add(uint64_t place, Finding finding);

  /// Collects further findings without reporting them.
  void mute() {
    const std::lock_guard lock(mutex_);
    tell_ = {};
  }

  /// Returns the findings that are not suppressed, in the order they were made.
  std::vector<Finding> all() const;
  /// Returns the number of findings other than notes.
  size_t errors() const;
  uint64_t suppressed() const;

 private:
  using Key = std::tuple<std::string, std::string, uint64_t>;
  static constexpr size_t suppressed_index = SIZE_MAX;

  const Suppressions suppressions_;
  std::function<void(std::string_view)> tell_;
  mutable std::mutex mutex_;
  std::vector<Finding> findings_;
  std::map<Key, size_t> index_;
  uint64_t suppressed_ = 0;
};

}  // namespace Atoll::observe

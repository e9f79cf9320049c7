// observe: the findings of a run: each kept and told once, counted when it comes again, left out when it is suppressed.
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
  /// `tell` gets the report of each finding, on the thread that made it, one at a time.
  Findings(Suppressions suppressions, std::function<void(std::string_view)> report)
      : suppressions_(std::move(suppressions)), tell_(std::move(report)) {}

  /// Called after each that is added, with no lock held.
  std::function<void(const Finding&)> added{};

  /// Whether the same was found before, which `count` is added to then: `place` is where it was made, an instruction's
  /// address or a number of a call stack. Quick, so that a mistake in a loop costs little.
  bool known(std::string_view checker, std::string_view kind, uint64_t place, uint64_t count);
  /// Adds one that is not known(), and tells it.
  void add(uint64_t place, Finding finding);

  /// From now on findings are kept, but not told.
  void mute() {
    const std::lock_guard lock(mutex_);
    tell_ = {};
  }

  /// All that are not suppressed, in the order in which they were found.
  std::vector<Finding> all() const;
  /// How many of them are no notes.
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

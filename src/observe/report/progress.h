// observe: prints a progress line on the terminal during long checked kernels.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "machine/observer.h"

namespace Atoll::observe {

class Progress final : public machine::Observer {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto interval = std::chrono::seconds(5);

  /// `report` receives the lines; empty: no output. `now` is a clock.
  explicit Progress(
      std::function<void(std::string_view)> report,
      std::function<Clock::time_point()> now = [] { return Clock::now(); })
      : tell_(std::move(report)), now_(std::move(now)) {}

  bool is_wanted() const { return static_cast<bool>(tell_); }
  machine::EventMask watched() const override { return {.dispatches = true, .work_groups = true}; }
  void dispatch_begins(const machine::Dispatch& dispatch) override;
  void dispatch_ends(const machine::Dispatch& dispatch) override;
  void work_group_ends(const machine::WorkGroup& group) override;

 private:
  struct Running {
    Clock::time_point begin, reported;
    uint64_t ended = 0;  ///< work-groups
  };
  const std::function<void(std::string_view)> tell_;
  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::map<const machine::Dispatch*, Running> running_;
};

}  // namespace Atoll::observe

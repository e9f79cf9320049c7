// What the benchmarks have in common: times as medians, taken in turns so that a noisy moment of the host is
// everybody's, and goals as lines that bench/run collects.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace Atoll::bench {

/// Ends the benchmark with what went wrong.
[[noreturn]] inline void die(std::string_view what) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, what);
  std::exit(2);
}

/// The value, or the end of the benchmark.
template <typename Expected>
auto value_of(Expected expected) {
  if (!expected) die(expected.error().message);
  if constexpr (!std::is_void_v<typename Expected::value_type>) return std::move(*expected);
}

/// Wall time. With $ATOLL_BENCH_CLOCK=cpu, what the host's processors spent on this process instead, on all threads
/// together: that can be compared even while the host is busy with other things.
inline bool counts_processor_time() {
  static const char* const clock = std::getenv("ATOLL_BENCH_CLOCK");
  return clock != nullptr && std::string_view(clock) == "cpu";
}
inline double now() {
  timespec time{};
  clock_gettime(counts_processor_time() ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

inline double seconds_of(const std::function<void()>& run) {
  const double start = now();
  run();
  return now() - start;
}

inline double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

/// One of the things that are compared, and how often it is to be run.
struct Contestant {
  std::function<void()> run;
  int rounds = 11;
  std::function<void()> prepare = [] {};  ///< before each run, not measured
};

/// What was measured of contestants, who take turns.
class Turns {
 public:
  explicit Turns(std::vector<Contestant> contestants)
      : contestants_(std::move(contestants)),
        rounds_(std::ranges::max(contestants_, {}, &Contestant::rounds).rounds),
        seconds_(contestants_.size()) {}

  /// One part of so many that the rounds are split into; other work may lie between them. `wait`: before each round.
  void take_part(int part, int parts, const std::function<void()>& wait = [] {}) {
    for (int round = rounds_ * part / parts; round < rounds_ * (part + 1) / parts; ++round) {
      wait();
      for (size_t i = 0; i < contestants_.size(); ++i) {
        if (round >= contestants_[i].rounds) continue;
        contestants_[i].prepare();
        seconds_[i].push_back(seconds_of(contestants_[i].run));
      }
    }
  }

  /// Of each contestant.
  std::vector<double> medians() const {
    std::vector<double> medians;
    for (const auto& each : seconds_) medians.push_back(median(each));
    return medians;
  }

 private:
  std::vector<Contestant> contestants_;
  int rounds_;
  std::vector<std::vector<double>> seconds_;
};

/// The median seconds of each; they take turns.
inline std::vector<double> median_seconds(std::span<const Contestant> contestants) {
  Turns turns({contestants.begin(), contestants.end()});
  turns.take_part(0, 1);
  return turns.medians();
}

/// Makes kernels wait for their compiled code, so that it is what is measured. Before the first GPU is created.
inline void wait_for_compiled_code() { setenv("ATOLL_COMPILE", "wait", 1); }

inline double geometric_mean(std::span<const double> values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

/// "Goal: nbody at most 2.00 times the native loop: 1.53, reached".
inline void print_goal(std::string_view what, double measured, std::string_view at_most_or_least, double limit,
                       std::string_view unit = "") {
  const bool reached = at_most_or_least == "at most" ? measured <= limit : measured >= limit;
  fmt::print("- Goal: {} {} {:.3g}{}: {:.3g}{}, {}\n", what, at_most_or_least, limit, unit, measured, unit,
             reached ? "reached" : "**not reached**");
}

}  // namespace Atoll::bench

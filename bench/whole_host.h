// Whether the host's processors are all there. On a virtual machine another one may take a processor away, two of this
// one's may share a core, or another's may share a core with one of this one's, for seconds at a time; that halves what
// a thread does, and no figure of the guest's shows it. So a loop that keeps a core's multipliers busy is run on one
// thread and on all, before what is to be measured: the choice of the moment does not look at the results.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "native_loops.h"

namespace Atoll::bench {

class WholeHost {
 public:
  /// `alone`: what the loop takes one thread, if that is known from before.
  explicit WholeHost(unsigned threads, double alone = 1e9) : threads_(threads), alone_(alone) {
    for (int i = 0; i < 50; ++i) alone_ = std::min(alone_, seconds_on(1));
  }

  /// Returns once every thread is about as fast as the fastest so far; or when it has waited for three minutes in all.
  void wait() {
    ++rounds_;
    bool has_waited = false;
    while (waited_ < longest_wait && seconds_on(threads_) > alone_ * max_slowed) {
      has_waited = true;
      std::this_thread::sleep_for(pause);
      waited_ += pause;
      alone_ = std::min(alone_, seconds_on(1));
    }
    late_rounds_ += has_waited ? 1 : 0;
  }

  double alone() const { return alone_; }
  void print_late_rounds() const {
    // Once it has given up, it no longer waits: what was measured since then may be disturbed.
    fmt::print(
        "\nBefore each round a native loop was run on {} threads. Of {} rounds, {} were put off until all were about "
        "as "
        "fast as one was at its best (`bench/whole_host.h`){}.\n",
        threads_, rounds_, late_rounds_,
        waited_ < longest_wait ? "" : "; after three minutes of waiting in all none were, so figures may be disturbed");
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds pause{20}, longest_wait{180'000};
  static constexpr double max_slowed = 1.15;
  static constexpr int loop_rounds = 100'000;

  /// The longest that any of so many threads takes for its loop, all at the same time.
  double seconds_on(unsigned threads) {
    std::atomic<unsigned> ready = 0;
    std::vector<double> seconds(threads);
    std::atomic<float> sum = 0;
    const auto run = [&](unsigned thread) {
      ++ready;
      while (ready != threads) {
      }
      const auto start = Clock::now();
      sum = multiply_and_add(loop_rounds);
      seconds[thread] = std::chrono::duration<double>(Clock::now() - start).count();
    };
    {
      std::vector<std::jthread> others;
      for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
      run(0);
    }
    return std::ranges::max(seconds);
  }

  unsigned threads_;
  double alone_;  ///< seconds, the least so far
  unsigned rounds_ = 0, late_rounds_ = 0;
  std::chrono::milliseconds waited_{0};
};

}  // namespace Atoll::bench

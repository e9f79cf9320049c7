// Whether the host's processors are all there. On a virtual machine another one may take a processor away, or two of
// this one's may share a core, for seconds at a time; that halves what several threads do, and no figure of the guest's
// shows it. So a loop of known length is run on one thread and on all, before what is to be measured: the choice of the
// moment does not look at the results.
#pragma once

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
  explicit WholeHost(unsigned threads) : threads_(threads) {
    for (int i = 0; i < 50; ++i) alone_ = std::min(alone_, seconds_on(1));
  }

  /// Returns once every thread is about as fast as one thread alone; or when it has waited for a minute in all.
  void wait() {
    ++rounds_;
    bool has_waited = false;
    while (waited_ < longest_wait && seconds_on(threads_) > alone_ * most_slowed) {
      has_waited = true;
      std::this_thread::sleep_for(pause);
      waited_ += pause;
      alone_ = std::min(alone_, seconds_on(1));
    }
    late_rounds_ += has_waited ? 1 : 0;
  }

  unsigned rounds() const { return rounds_; }
  /// Those that had to wait.
  unsigned late_rounds() const { return late_rounds_; }
  /// No longer waits: what was measured since then may be disturbed.
  bool gave_up() const { return waited_ >= longest_wait; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds pause{20}, longest_wait{60'000};
  static constexpr double most_slowed = 1.15;
  static constexpr size_t pieces = 16;

  /// The longest that any of so many threads takes for its loop, all at the same time.
  double seconds_on(unsigned threads) {
    std::atomic<unsigned> ready = 0;
    std::vector<double> seconds(threads);
    const auto run = [&](unsigned thread) {
      std::vector<uint32_t> words(pieces * words_of_a_piece, thread);
      int32_t rounds = 64;
      const NativeArguments arguments{words.data(), words.data(), &rounds};
      ++ready;
      while (ready != threads) {
      }
      const auto start = Clock::now();
      loop_.run(arguments, 0, pieces);
      seconds[thread] = std::chrono::duration<double>(Clock::now() - start).count();
    };
    {
      std::vector<std::jthread> others;
      for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
      run(0);
    }
    return std::ranges::max(seconds);
  }

  const NativeLoop& loop_ = *native_loop("hash");
  const size_t words_of_a_piece = loop_.items_of_a_piece;
  unsigned threads_, rounds_ = 0, late_rounds_ = 0;
  double alone_ = 1e9;  ///< seconds, the least so far
  std::chrono::milliseconds waited_{0};
};

}  // namespace Atoll::bench

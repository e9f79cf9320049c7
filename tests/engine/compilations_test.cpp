// When code is worth compiling: a program that ends soon must not pay for code that it never runs.
#include "engine/compiled/compilations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "engine/wave_runner.h"

namespace Atoll::test {

namespace {

using engine::compiling_is_worth;
using engine::CompilingIsWorth;

/// Instructions interpreted in the time that one is compiled, at the least: compiling takes 0.1 to 0.2 ms for each, the
/// interpreter 15 ns or more.
constexpr uint64_t interpreted_per_compiled = 6'000;

/// The fewest instructions for which it is so.
template <typename Condition>
uint64_t fewest(Condition condition) {
  uint64_t below = 0, enough = uint64_t{1} << 50;
  while (enough - below > 1) {
    const uint64_t middle = below + (enough - below) / 2;
    (condition(middle) ? enough : below) = middle;
  }
  return enough;
}
/// The fewest interpreted in one run that compiling is worth at least this much for.
uint64_t fewest(CompilingIsWorth worth, uint64_t instructions) {
  return fewest([&](uint64_t so_far) { return compiling_is_worth({.so_far = so_far}, instructions) >= worth; });
}

constexpr uint64_t sizes[] = {1, 30, 124, 1'000, 10'000, 100'000};

/// How much code an engine has asked for.
uint64_t asked(WaveRunner& runner) {
  const machine::EngineReport report = runner.engine().report();
  return report.unfinished + report.translations.size();
}
/// A loop that no cache has seen.
std::string new_loop() {
  const std::string number = std::to_string(std::random_device()() | 0x1000U);
  return "loop: s_add_u32 s4, s4, 1\n v_add_u32 v1, " + number + ", v1\n s_branch loop";
}

}  // namespace

TEST(CompilingIsWorth, WhatItCostsIsLittleOfWhatHasBeenSpent) {
  for (const uint64_t instructions : sizes) {
    const uint64_t cost = interpreted_per_compiled * instructions;
    EXPECT_EQ(compiling_is_worth({}, instructions), CompilingIsWorth::nothing_yet);
    EXPECT_GE(fewest(CompilingIsWorth::idle_time, instructions), 8 * cost) << instructions;
    EXPECT_GE(fewest(CompilingIsWorth::program_time, instructions), 16 * cost) << instructions;
    // But what runs for long is compiled, even on a host that is never idle.
    EXPECT_LE(fewest(CompilingIsWorth::program_time, instructions), 30 * cost + 20'000'000) << instructions;
  }
}

TEST(CompilingIsWorth, WhatIsStillToComeIsAReasonAtOnceIfItIsMuch) {
  for (const uint64_t instructions : sizes) {
    const uint64_t cost = interpreted_per_compiled * instructions;
    const uint64_t enough = fewest([&](uint64_t ahead) {
      return compiling_is_worth({.ahead = ahead}, instructions) != CompilingIsWorth::nothing_yet;
    });
    // While code is made on one of two processors, the program loses a third of them; afterwards it gains a third, if
    // the code is one and a half times as fast: 5 times the cost is even.
    EXPECT_GE(enough, 5 * cost) << instructions;
    EXPECT_LE(enough, 20 * cost + 20'000'000) << instructions;
    EXPECT_EQ(compiling_is_worth({.ahead = enough}, instructions), CompilingIsWorth::program_time) << instructions;
    EXPECT_EQ(compiling_is_worth({.ahead = ~uint64_t{0}}, instructions), CompilingIsWorth::program_time);
    // Once code has cost much, there is less doubt, but what is ahead has to be more than even as before.
    const uint64_t much = fewest(CompilingIsWorth::idle_time, instructions);
    const uint64_t then = fewest([&](uint64_t ahead) {
      return compiling_is_worth({.so_far = much, .ahead = ahead}, instructions) == CompilingIsWorth::program_time;
    });
    EXPECT_GE(then, 5 * cost) << instructions;
    EXPECT_LT(then, enough) << instructions;
  }
}

TEST(CompilingIsWorth, WhatASingleDispatchHasRunIsNoReasonWhenItIsNearlyDone) {
  for (const uint64_t instructions : {1, 200, 5'000}) {
    const uint64_t much = fewest(CompilingIsWorth::idle_time, instructions);
    EXPECT_EQ(compiling_is_worth({.so_far = much, .is_run_once = true}, instructions), CompilingIsWorth::nothing_yet);
    EXPECT_EQ(compiling_is_worth({.so_far = much, .ahead = much, .is_run_once = true}, instructions),
              CompilingIsWorth::program_time);
    EXPECT_EQ(compiling_is_worth({.in_past_runs = much, .so_far = much, .is_run_once = true}, instructions),
              CompilingIsWorth::idle_time);
    const uint64_t very_much = fewest(CompilingIsWorth::program_time, instructions);
    EXPECT_EQ(compiling_is_worth({.so_far = very_much, .is_run_once = true}, instructions),
              CompilingIsWorth::program_time)
        << "work-groups of a length that nobody could know";
  }
}

TEST(CompilingIsWorth, PastRunsAreAReasonButTakeNothingFromThisOne) {
  for (const uint64_t instructions : sizes) {
    const uint64_t cost = interpreted_per_compiled * instructions;
    const uint64_t enough = fewest([&](uint64_t in_past_runs) {
      return compiling_is_worth({.in_past_runs = in_past_runs}, instructions) != CompilingIsWorth::nothing_yet;
    });
    EXPECT_GE(enough, 4 * cost) << instructions;
    EXPECT_LT(enough, fewest(CompilingIsWorth::idle_time, instructions)) << "they tell more than this one";
    for (const uint64_t past : {enough, 1'000 * enough, ~uint64_t{0}}) {
      EXPECT_EQ(compiling_is_worth({.in_past_runs = past}, instructions), CompilingIsWorth::idle_time) << instructions;
    }
  }
}

TEST(CompilingIsWorth, ALoopIsAskedForOnlyWhenItHasRunForLong) {
  unsetenv("ATOLL_COMPILE");
  WaveRunner runner("gfx90a", "compiled");
  constexpr uint64_t little = 50'000;
  ASSERT_EQ(runner.run(new_loop(), little), machine::WaveState::ready);
  const uint64_t enough = fewest(CompilingIsWorth::idle_time, 4);
  while (runner.wave().instructions + 2 * little < enough) {
    ASSERT_EQ(asked(runner), 0U) << runner.wave().instructions;
    ASSERT_EQ(runner.resume(little), machine::WaveState::ready);
  }
  // The code has a few instructions more than the loop: that of the runner, which ends it.
  while (runner.wave().instructions < fewest(CompilingIsWorth::idle_time, 20)) runner.resume(little);
  EXPECT_EQ(asked(runner), 1U);
}

TEST(CompilingIsWorth, ALoopThatIsShortInEachRunIsAskedForInALaterOne) {
  unsetenv("ATOLL_COMPILE");
  constexpr uint64_t piece = 50'000;
  const uint64_t of_a_run = fewest(CompilingIsWorth::idle_time, 4) / 2;
  const auto runs_and_asks = [&](const std::string& loop) {
    WaveRunner runner("gfx90a", "compiled");
    EXPECT_EQ(runner.run(loop, piece), machine::WaveState::ready);
    while (asked(runner) == 0 && runner.wave().instructions + piece < of_a_run) runner.resume(piece);
    return asked(runner) != 0;
  };
  const std::string loop = new_loop();
  EXPECT_FALSE(runs_and_asks(loop));
  unsigned in_vain = 1;
  while (in_vain < 10 && !runs_and_asks(loop)) ++in_vain;
  EXPECT_LE(in_vain, 3U) << "of each, half was remembered at the least, and was worth two times the cost";
  EXPECT_FALSE(runs_and_asks(new_loop())) << "another loop";
}

}  // namespace Atoll::test

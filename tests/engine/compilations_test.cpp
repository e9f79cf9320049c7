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

/// The fewest instructions interpreted that compiling is worth at least this much for.
uint64_t fewest(CompilingIsWorth worth, uint64_t instructions) {
  uint64_t below = 0, enough = uint64_t{1} << 50;
  while (enough - below > 1) {
    const uint64_t middle = below + (enough - below) / 2;
    (compiling_is_worth(middle, instructions) >= worth ? enough : below) = middle;
  }
  return enough;
}

}  // namespace

TEST(CompilingIsWorth, WhatItCostsIsLittleOfWhatHasBeenSpent) {
  for (const uint64_t instructions : {1, 30, 124, 1'000, 10'000, 100'000}) {
    const uint64_t cost = interpreted_per_compiled * instructions;
    EXPECT_EQ(compiling_is_worth(0, instructions), CompilingIsWorth::nothing_yet);
    EXPECT_GE(fewest(CompilingIsWorth::idle_time, instructions), 2 * cost) << instructions;
    EXPECT_GE(fewest(CompilingIsWorth::program_time, instructions), 6 * cost) << instructions;
    // But what runs for long is compiled, even on a host that is never idle.
    EXPECT_LE(fewest(CompilingIsWorth::program_time, instructions), 20 * cost + 20'000'000) << instructions;
  }
}

TEST(CompilingIsWorth, ALoopIsAskedForOnlyWhenItHasRunForLong) {
  unsetenv("ATOLL_COMPILE");
  WaveRunner runner("gfx90a", "compiled");
  const auto asked = [&] {
    const machine::EngineReport report = runner.engine().report();
    return report.unfinished + report.translations.size();
  };
  constexpr uint64_t little = 50'000;
  const std::string number = std::to_string(std::random_device()() | 0x1000U);  // no cache has seen this code
  ASSERT_EQ(runner.run("loop: s_add_u32 s4, s4, 1\n v_add_u32 v1, " + number + ", v1\n s_branch loop", little),
            machine::WaveState::ready);
  const uint64_t enough = fewest(CompilingIsWorth::idle_time, 4);
  while (runner.wave().instructions + 2 * little < enough) {
    ASSERT_EQ(asked(), 0U) << runner.wave().instructions;
    ASSERT_EQ(runner.resume(little), machine::WaveState::ready);
  }
  // The code has a few instructions more than the loop: that of the runner, which ends it.
  while (runner.wave().instructions < fewest(CompilingIsWorth::idle_time, 20)) runner.resume(little);
  EXPECT_EQ(asked(), 1U);
}

}  // namespace Atoll::test

// When code is worth compiling: a program that ends soon must not pay for code that it never runs, and one that goes on
// must not interpret for long what could have been compiled in a fraction of the time.
#include "engine/compiled/compiling_worth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "engine/compiled/compilations.h"
#include "engine/compiled/control_flow.h"
#include "engine/wave_runner.h"
#include "target/processor.h"

namespace Atoll::test {

namespace {

using engine::compiling_is_worth;
using engine::CompilingCost;
using engine::CompilingIsWorth;
using engine::Interpreted;

constexpr CompilingCost costs[] = {{.interpreted = 1'500'000},
                                   {.interpreted = 4'000'000},
                                   {.interpreted = 30'000'000, .gains_less = true},
                                   {.interpreted = 1'000'000'000, .gains_less = true}};

/// How much faster compiled code is.
uint64_t speed_up(const CompilingCost& cost) { return cost.gains_less ? 2 : 4; }

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
/// The fewest interpreted in one run that compiling is worth at least this much for, where no dispatch is known.
uint64_t fewest(CompilingIsWorth worth, const CompilingCost& cost) {
  return fewest([&](uint64_t so_far) { return compiling_is_worth({.so_far = so_far}, cost) >= worth; });
}

/// What a program takes that launches a kernel so often and ends, in instructions of the interpreter, on one processor,
/// which compiles as soon as that is worth the program's time and does nothing else meanwhile. Of a launch, so many
/// work-groups end one after the other.
uint64_t taken(const CompilingCost& cost, uint64_t of_a_launch, unsigned launches, unsigned work_groups = 64) {
  uint64_t so_far = 0, took = 0;
  bool is_compiled = false;
  for (unsigned launch = 0; launch < launches; ++launch) {
    const uint64_t earlier = so_far;
    for (unsigned group = 0; group < work_groups; ++group) {
      const uint64_t instructions = of_a_launch / work_groups;
      Interpreted interpreted{.so_far = so_far, .earlier = earlier};
      if (group != 0) interpreted.ahead = instructions * (work_groups - group);
      if (!is_compiled && compiling_is_worth(interpreted, cost) == CompilingIsWorth::program_time) {
        is_compiled = true;
        took += cost.interpreted;
      }
      if (!is_compiled) so_far += instructions;
      took += is_compiled ? instructions / speed_up(cost) : instructions;
    }
  }
  return took;
}

struct Program {
  uint64_t of_a_launch;
  unsigned launches;
  uint64_t instructions() const { return of_a_launch * launches; }
};
/// Programs that end at all moments.
std::vector<Program> programs(const CompilingCost& cost) {
  std::vector<Program> all;
  for (const uint64_t launch : {cost.interpreted / 20, cost.interpreted / 3, cost.interpreted, 5 * cost.interpreted / 2,
                                4 * cost.interpreted, 30 * cost.interpreted}) {
    for (unsigned launches = 1; launches <= 40; ++launches) all.push_back({launch, launches});
    for (const unsigned launches : {80u, 400u}) all.push_back({launch, launches});
  }
  return all;
}

engine::ControlFlow flow_of(const std::string& text) {
  const std::vector<uint8_t> code = assemble(text + "\n s_endpgm", "gfx90a");
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  auto flow = engine::follow(begin, {}, begin, begin + code.size(), *target::find_processor("gfx90a"));
  EXPECT_TRUE(flow.has_value());
  return flow ? *std::move(flow) : engine::ControlFlow{};
}
std::string times(unsigned count, const std::string& text) {
  std::string all;
  for (unsigned i = 0; i < count; ++i) all += text + "\n";
  return all;
}

/// Amount of code that an engine has requested.
uint64_t asked(WaveRunner& runner) {
  const machine::EngineReport report = runner.engine().report();
  return report.unfinished + report.translations.size();
}
/// A loop that no cache has seen.
std::string new_loop() {
  const std::string number = std::to_string(std::random_device()() | 0x1000U);
  return "loop: s_add_u32 s4, s4, 1\n v_add_u32 v1, " + number + ", v1\n s_branch loop";
}
/// With what the runner adds to the loop, and a little more.
const CompilingCost cost_of_a_loop = CompilingCost::of(flow_of("loop: s_add_u32 s4, s4, 1\n s_cbranch_scc0 loop"));

}  // namespace

TEST(CompilingIsWorth, AProgramThatEndsAtTheWorstMomentHasLostLittle) {
  for (const CompilingCost& cost : costs) {
    for (const Program& program : programs(cost)) {
      EXPECT_LE(taken(cost, program.of_a_launch, program.launches), program.instructions() * 13 / 10)
          << cost.interpreted << ", " << program.launches << " launches of " << program.of_a_launch;
    }
  }
}

TEST(CompilingIsWorth, NoProgramTakesMuchLongerThanOneThatKnowsWhatIsToCome) {
  for (const CompilingCost& cost : costs) {
    for (const Program& program : programs(cost)) {
      const uint64_t compiled_at_once = cost.interpreted + program.instructions() / speed_up(cost);
      EXPECT_LE(taken(cost, program.of_a_launch, program.launches),
                std::min(program.instructions(), compiled_at_once) * 26 / 10)
          << cost.interpreted << ", " << program.launches << " launches of " << program.of_a_launch;
    }
  }
}

TEST(CompilingIsWorth, WhatGainsLessMustPromiseMore) {
  for (const uint64_t of_a_launch : {500'000, 5'000'000, 50'000'000}) {
    constexpr CompilingCost much{.interpreted = 10'000'000}, little{.interpreted = 10'000'000, .gains_less = true};
    const auto ahead = [&](const CompilingCost& cost) {
      return fewest([&](uint64_t left) {
        return compiling_is_worth({.so_far = of_a_launch, .ahead = left}, cost) == CompilingIsWorth::program_time;
      });
    };
    EXPECT_GT(ahead(little), ahead(much));
    EXPECT_GT(fewest(CompilingIsWorth::program_time, little), fewest(CompilingIsWorth::program_time, much));
    EXPECT_GT(fewest(CompilingIsWorth::idle_time, little), fewest(CompilingIsWorth::idle_time, much));
  }
}

TEST(CompilingIsWorth, TimeThatNobodyWantsIsSpentSooner) {
  for (const CompilingCost& cost : costs) {
    EXPECT_EQ(compiling_is_worth({}, cost), CompilingIsWorth::nothing_yet);
    EXPECT_LT(fewest(CompilingIsWorth::idle_time, cost), fewest(CompilingIsWorth::program_time, cost));
    EXPECT_GT(fewest(CompilingIsWorth::idle_time, cost), cost.interpreted);
  }
}

TEST(CompilingIsWorth, WhatIsKnownToComeIsAReasonAtOnce) {
  for (const CompilingCost& cost : costs) {
    const auto is_at_once = [&](uint64_t ahead) {
      return compiling_is_worth({.ahead = ahead}, cost) == CompilingIsWorth::program_time;
    };
    // With less than that, what is gained by the time that the code is there is less than what it costs.
    const uint64_t least = cost.interpreted + cost.interpreted * speed_up(cost) / (speed_up(cost) - 1);
    EXPECT_FALSE(is_at_once(least));
    EXPECT_TRUE(is_at_once(2 * least));
    EXPECT_TRUE(is_at_once(~uint64_t{0}));
  }
}

TEST(CompilingIsWorth, WhatASingleDispatchHasRunIsNoReasonWhenItIsNearlyDone) {
  for (const CompilingCost& cost : costs) {
    const uint64_t much = fewest(CompilingIsWorth::program_time, cost);
    EXPECT_EQ(compiling_is_worth({.so_far = much, .ahead = 0}, cost), CompilingIsWorth::nothing_yet);
    EXPECT_EQ(compiling_is_worth({.so_far = 2 * much, .earlier = much, .ahead = 0}, cost),
              CompilingIsWorth::program_time);
    EXPECT_EQ(compiling_is_worth({.in_past_runs = much, .so_far = much, .ahead = 0}, cost),
              CompilingIsWorth::idle_time);
    EXPECT_EQ(compiling_is_worth({.so_far = 4 * much, .ahead = 0}, cost), CompilingIsWorth::program_time)
        << "work-groups of a length that nobody could know";
  }
}

TEST(CompilingIsWorth, PastRunsAreAReasonButTakeNothingFromThisOne) {
  for (const CompilingCost& cost : costs) {
    const uint64_t enough = fewest([&](uint64_t in_past_runs) {
      return compiling_is_worth({.in_past_runs = in_past_runs}, cost) != CompilingIsWorth::nothing_yet;
    });
    EXPECT_GE(enough, 4 * cost.interpreted);
    for (const uint64_t past : {enough, 1'000 * enough, ~uint64_t{0}}) {
      EXPECT_EQ(compiling_is_worth({.in_past_runs = past}, cost), CompilingIsWorth::idle_time);
    }
  }
}

TEST(CompilingCost, IsThatOfWhatTheCompilerIsLongAt) {
  const auto cost = [](const std::string& text) { return CompilingCost::of(flow_of(text)); };
  const std::string add = "v_add_f32 v0, v1, v0", add_doubles = "v_add_f64 v[0:1], v[2:3], v[0:1]";
  EXPECT_GT(cost("").interpreted, 0U);
  EXPECT_GT(cost(times(20, add)).interpreted, cost(times(10, add)).interpreted);
  EXPECT_GT(cost(times(20, add_doubles)).interpreted, cost(times(20, add)).interpreted);
  EXPECT_GT(cost(times(20, "s_barrier")).interpreted, cost(times(20, add)).interpreted) << "each is an entry";
  EXPECT_GT(cost("").ns(), 0U);
}

TEST(CompilingCost, MuchCodeInSmallBlocksGainsLess) {
  const auto gains_less = [](const std::string& text) { return CompilingCost::of(flow_of(text)).gains_less; };
  const std::string block = "s_cmp_eq_u32 s0, 0\n s_cbranch_scc1 1f\n v_add_f32 v0, v1, v0\n 1:";
  EXPECT_FALSE(gains_less(times(10, block)));
  EXPECT_TRUE(gains_less(times(200, block)));
  EXPECT_FALSE(gains_less(times(600, "v_add_f32 v0, v1, v0")));
}

TEST(CompilingIsWorth, ALoopIsAskedForOnlyWhenItHasRunForLong) {
  unsetenv("ATOLL_COMPILE");
  WaveRunner runner("gfx90a", "compiled");
  constexpr uint64_t little = 50'000;
  ASSERT_EQ(runner.run(new_loop(), little), machine::WaveState::ready);
  while (runner.wave().instructions + 2 * little < fewest(CompilingIsWorth::idle_time, cost_of_a_loop)) {
    ASSERT_EQ(asked(runner), 0U) << runner.wave().instructions;
    ASSERT_EQ(runner.resume(little), machine::WaveState::ready);
  }
  // The code is requested after every hundred thousand instructions.
  const uint64_t enough = fewest(CompilingIsWorth::idle_time, cost_of_a_loop) * 6 / 5 + 200'000;
  while (runner.wave().instructions < enough) runner.resume(little);
  EXPECT_EQ(asked(runner), 1U);
}

// A histogram once was interpreted in all of eighty launches, as compiling waited for a processor that the kernels
// never left idle.
TEST(CompilingIsWorth, WhatRunsOnIsCompiledInAHurryThoughNoProcessorIsIdle) {
  unsetenv("ATOLL_COMPILE");
  WaveRunner runner("gfx90a", "compiled");
  constexpr uint64_t little = 50'000;
  ASSERT_EQ(runner.run(new_loop(), little), machine::WaveState::ready);
  const uint64_t enough = fewest(CompilingIsWorth::program_time, cost_of_a_loop) * 6 / 5 + 200'000;
  while (runner.wave().instructions < enough) runner.resume(little);
  const bool is_there = runner.engine().report().translations.size() == 1;
  EXPECT_TRUE(is_there || engine::Compilations::of_process().urgent() != 0);
}

TEST(CompilingIsWorth, ALoopThatIsShortInEachRunIsAskedForInALaterOne) {
  unsetenv("ATOLL_COMPILE");
  constexpr uint64_t piece = 50'000;
  const uint64_t of_a_run = fewest(CompilingIsWorth::idle_time, cost_of_a_loop) / 2;
  const auto runs_and_asks = [&](const std::string& loop) {
    WaveRunner runner("gfx90a", "compiled");
    EXPECT_EQ(runner.run(loop, piece), machine::WaveState::ready);
    while (asked(runner) == 0 && runner.wave().instructions + piece < of_a_run) runner.resume(piece);
    return asked(runner) != 0;
  };
  const std::string loop = new_loop();
  EXPECT_FALSE(runs_and_asks(loop));
  unsigned fruitless_rounds = 1;
  while (fruitless_rounds < 20 && !runs_and_asks(loop)) ++fruitless_rounds;
  EXPECT_LE(fruitless_rounds, 12U) << "of each, half was remembered at the least, and was worth the cost";
  EXPECT_FALSE(runs_and_asks(new_loop())) << "another loop";
}

}  // namespace Atoll::test

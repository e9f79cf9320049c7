// `atoll litmus --run`: the model's code sequences, executed with the order checker's caches, against the outcomes that
// the model allows, which are found by another way (memory_model/litmus_outcomes.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace Atoll {
namespace {

/// What the model allows and is not seen: that waves see the stores of two others in different orders, and, in WGP
/// mode, what a fence of the work-group's scope does not forbid, as it waits for as much as the agent's does there.
bool can_be_seen(const std::string& name, const std::string& gpu) {
  if (name == "IRIW-acquire") return false;
  const bool is_wgp_mode = gpu.starts_with("gfx1");
  return !is_wgp_mode || (name != "MP-release-too-narrow" && name != "SB-seq_cst-too-narrow");
}

class LitmusRun : public testing::TestWithParam<std::string> {};

TEST_P(LitmusRun, ShowsWhatIsRelaxedAndNothingThatIsForbidden) {
  const auto run = test::run_command(fmt::format("{} litmus --run --gpu {} --seeds 400 --json {}/*.litmus",
                                                 ATOLL_COMMAND, GetParam(), ATOLL_LITMUS_DIRECTORY));
  EXPECT_EQ(run.exit_code, 0);
  const auto tests = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_TRUE(tests.is_array()) << run.output;
  EXPECT_GE(tests.size(), 40u);
  for (const auto& each : tests) {
    const std::string name = each["name"], condition = each["condition"];
    bool is_reached = false;
    for (const auto& outcome : each["outcomes"]) {
      EXPECT_EQ(outcome["allowed"], true) << name << ": " << outcome["values"].dump();
      is_reached = is_reached || outcome["condition"] == true;
    }
    if (condition.starts_with("exists")) EXPECT_EQ(is_reached, can_be_seen(name, GetParam())) << name;
  }
}

/// A GPU with several L2 caches and one of waves of 32 lanes; with ATOLL_LITMUS=all one of each kind of caches.
std::vector<std::string> gpus() {
  const char* which = std::getenv("ATOLL_LITMUS");
  if (which != nullptr && std::string_view(which) == "all")
    return {"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"};
  return {"gfx942", "gfx1100"};
}
INSTANTIATE_TEST_SUITE_P(Gpus, LitmusRun, testing::ValuesIn(gpus()),
                         [](const auto& gpu) { return std::string(gpu.param); });

TEST(LitmusRunCommand, SaysWhatItSawAndSeedsDecide) {
  const auto run = [](int seed) {
    return test::run_command(fmt::format("{} litmus --run --gpu gfx90a --seeds 50 --seed {} {}/SB-relaxed.litmus",
                                         ATOLL_COMMAND, seed, ATOLL_LITMUS_DIRECTORY));
  };
  const auto first = run(1);
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.output, testing::HasSubstr("SB-relaxed on gfx90a"));
  EXPECT_THAT(first.output, testing::HasSubstr(": seen\n"));
  EXPECT_EQ(run(1).output, first.output);
  EXPECT_NE(run(2).output, first.output);
}

TEST(LitmusRunCommand, NeedsAGpuWithGlobalInstructions) {
  const auto run = [](const char* options) {
    return test::run_command(
        fmt::format("{} litmus --run {} {}/SB-relaxed.litmus 2>&1", ATOLL_COMMAND, options, ATOLL_LITMUS_DIRECTORY));
  };
  EXPECT_EQ(run("").exit_code, 2);
  EXPECT_THAT(run("--gpu gfx803").output, testing::HasSubstr("GFX9 and later"));
}

}  // namespace
}  // namespace Atoll

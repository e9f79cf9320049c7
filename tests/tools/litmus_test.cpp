// `atoll litmus`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

test::CommandResult litmus(const std::string& text, const char* options = "") {
  return test::run_command(fmt::format("printf '{}' | {} litmus - {} 2>&1", text, ATOLL_COMMAND, options));
}

constexpr const char* store_buffering =
    "litmus SB\\nP0 | P1\\nstore x 1 monotonic agent | store y 1 monotonic agent\\n"
    "r0 = load y monotonic agent | r0 = load x monotonic agent\\n";

TEST(LitmusCommand, PrintsTheOutcomesAndWhetherTheConditionIsMet) {
  const auto run = litmus(store_buffering + std::string("exists P0:r0=0 /\\\\ P1:r0=0\\n"));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, AllOf(HasSubstr("  P0:r0=0 P1:r0=0 x=1 y=1  <- the condition's\n"),
                                HasSubstr("  P0:r0=1 P1:r0=1 x=1 y=1\n"), HasSubstr(": as expected")));
}

TEST(LitmusCommand, FailsWhereTheModelSaysOtherwise) {
  const auto run = litmus(store_buffering + std::string("~exists P0:r0=0 /\\\\ P1:r0=0\\n"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("NOT as expected"));
  EXPECT_EQ(litmus(store_buffering + std::string("race\\n")).exit_code, 1);
}

TEST(LitmusCommand, JsonHasOutcomesAndRaces) {
  const auto run = litmus("P0 | P1\\nstore x 1 | r0 = load x\\nrace\\n", "--json");
  EXPECT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  EXPECT_EQ(json[0]["race"], "P0: store x 1 and P1: r0 = load x");
  EXPECT_EQ(json[0]["outcomes"][0]["values"]["x"], 1);
  EXPECT_EQ(json[0]["as_expected"], true);
}

TEST(LitmusCommand, ErrorsNameFileAndLine) {
  const auto run = litmus("P0\\nstore x\\nexists x=1\\n");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("line 2: P0: 'store x' lacks operands"));
}

}  // namespace
}  // namespace Atoll

// `atoll model`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

test::CommandResult model(const std::string& arguments) {
  return test::run_command(fmt::format("{} model {} 2>&1", ATOLL_COMMAND, arguments));
}

TEST(ModelCommand, PrintsTheSequenceAndWhy) {
  const auto run = model("--gpu gfx1100 'atomic load acquire agent global'");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, AllOf(HasSubstr("global_load_b32 glc\n"), HasSubstr("s_waitcnt vmcnt(0)\n      the load has"),
                                HasSubstr("buffer_gl1_inv\n"), HasSubstr("buffer_gl0_inv\n      invalidates")));
  EXPECT_LT(run.output.find("buffer_gl1_inv"), run.output.find("buffer_gl0_inv"));
  EXPECT_THAT(model("--gpu rx7900xtx fence acquire workgroup --cumode").output, Not(HasSubstr("buffer_gl0_inv")));
  EXPECT_THAT(model("--gpu gfx900 fence release wavefront").output, HasSubstr("no code"));
}

TEST(ModelCommand, JsonHasStepsWithTheirCounters) {
  const auto run = model("--gpu gfx900 --json fence release agent");
  ASSERT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  EXPECT_EQ(json["generation"], "GFX9");
  EXPECT_EQ(json["scope"], "agent");
  ASSERT_EQ(json["steps"].size(), 1);
  EXPECT_EQ(json["steps"][0]["kind"], "wait");
  EXPECT_EQ(json["steps"][0]["counters"], nlohmann::json::array({"vmcnt", "lgkmcnt"}));
}

TEST(ModelCommand, ListsEveryOperationThatTheGpuHas) {
  const auto run = model("--gpu gfx600");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, AllOf(HasSubstr("atomic store release agent global: s_waitcnt vmcnt(0) lgkmcnt(0); buffer_"),
                                Not(HasSubstr(" generic: "))));
  const auto json = nlohmann::json::parse(model("--gpu gfx900 --json").output, nullptr, false);
  EXPECT_GT(json["operations"].size(), 900);
}

TEST(ModelCommand, HardwareIsCachesCacheOperationsAndCounters) {
  EXPECT_THAT(model("--gpu mi300x --hardware").output,
              AllOf(HasSubstr("buffer_wbl2 sc1"), HasSubstr("lgkmcnt"), HasSubstr("L2 of")));
  const auto json = nlohmann::json::parse(model("--gpu gfx1200 --hardware --json").output, nullptr, false);
  EXPECT_EQ(json["counters"].size(), 6);
  EXPECT_EQ(json["cache_operations"][0]["counter"], "storecnt");
}

TEST(ModelCommand, WrongWordsAreAnsweredWithThoseThatThereAre) {
  const auto run = model("--gpu gfx900 load acquire device global");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, AllOf(HasSubstr("'device'"), HasSubstr("agent, system"), HasSubstr("private")));
  EXPECT_EQ(model("load global").exit_code, 2);
  EXPECT_THAT(model("--gpu gfx900 --cumode load global").output, HasSubstr("GFX9 has no CU mode"));
  EXPECT_THAT(model("--gpu gfx1030 --tgsplit load global").output, HasSubstr("does not split work-groups"));
  EXPECT_EQ(model("--gpu gfx600 load generic").exit_code, 1);
  EXPECT_EQ(model("--gpu gfx600 --hardware load global").exit_code, 2);
}

}  // namespace
}  // namespace Atoll

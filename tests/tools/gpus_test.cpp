// `atoll gpus`, and what the command says of a command line that makes no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/command.h"
#include "target/product.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

test::CommandResult atoll(const std::string& arguments) {
  return test::run_command(fmt::format("{} {} 2>&1", ATOLL_COMMAND, arguments));
}

TEST(GpusCommand, ListsEveryProduct) {
  const auto run = atoll("gpus");
  EXPECT_EQ(run.exit_code, 0);
  for (const target::Product& product : target::products()) EXPECT_THAT(run.output, HasSubstr(product.name));
  EXPECT_THAT(run.output, HasSubstr("gfx90a:sramecc+:xnack-"));
}

TEST(GpusCommand, JsonHasTheirProperties) {
  const auto run = atoll("gpus --json");
  ASSERT_EQ(run.exit_code, 0);
  const auto list = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_TRUE(list.is_array());
  ASSERT_EQ(list.size(), target::products().size());
  for (const auto& gpu : list) {
    if (gpu["name"] != "mi100") continue;
    EXPECT_EQ(gpu["target_id"], "gfx908:sramecc+:xnack-");
    EXPECT_EQ(gpu["compute_units"], 120);
    EXPECT_EQ(gpu["memory_bytes"], 32ull << 30);
    EXPECT_EQ(gpu["lds_bytes"], 65536);
    EXPECT_EQ(gpu["wave_sizes"], nlohmann::json::array({64}));
    EXPECT_EQ(gpu["accumulation_registers"], true);
    return;
  }
  FAIL() << "mi100 is not in the list";
}

TEST(Command, ExplainsItself) {
  EXPECT_EQ(atoll("--help").exit_code, 0);
  for (const char* subcommand : {"disasm", "inspect", "gpus", "run", "launch"}) {
    EXPECT_THAT(atoll("--help").output, HasSubstr(subcommand));
    const auto help = atoll(fmt::format("{} --help", subcommand));
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.output, HasSubstr(fmt::format("Usage: atoll {}", subcommand)));
  }
  EXPECT_THAT(atoll("--version").output, testing::StartsWith("atoll "));
}

TEST(Command, WrongUsageIsOneLineAndExitCode2) {
  struct Case {
    const char *arguments, *message;
  };
  for (const auto& [arguments, message] :
       {Case{"fly", "unknown subcommand 'fly'"}, Case{"bundle", "subcommand"}, Case{"gpus --jsn", "--jsn"},
        Case{"run", "which program?"}, Case{"run --speed 3 -- true", "no option --speed"},
        Case{"run --timeout -3 -- true", "--timeout -3: not a number from 0"}}) {
    const auto run = atoll(arguments);
    SCOPED_TRACE(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.output, testing::StartsWith("atoll: "));
    EXPECT_THAT(run.output, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << run.output;
  }
}

}  // namespace
}  // namespace Atoll

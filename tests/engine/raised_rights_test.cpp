// Programs with more rights than whoever starts them take no file to execute, read or write from the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll::test {

namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RaisedRights, TheEnvironmentNamesNoFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a set-user-ID program of another user";
  TemporaryDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
  const std::string program = directory / "program";
  std::filesystem::copy_file(RAISED_RIGHTS_PROGRAM, program);
  const auto run = [&](const std::string& variables) {
    return run_command(fmt::format("env -u ATOLL_CACHE -u XDG_CACHE_HOME HOME=/evil {} {} 2>&1", variables, program))
        .output;
  };
  // Without raised rights the program obeys the environment.
  EXPECT_THAT(run(""), HasSubstr("cache: /evil/.cache/atoll\n"));
  EXPECT_THAT(run("ATOLL_COMPILER=/bin/true"), HasSubstr("compiler: /bin/true\n"));

  constexpr uid_t nobody = 65534;
  ASSERT_EQ(chown(program.c_str(), nobody, nobody), 0);
  ASSERT_EQ(chmod(program.c_str(), S_ISUID | 0755), 0);
  if (run("").contains("raised: false")) GTEST_SKIP() << "no set-user-ID programs on this file system";
  for (const char* variables :
       {"", "ATOLL_CACHE=/evil/cache", "XDG_CACHE_HOME=/evil", "ATOLL_COMPILER=/bin/true", "ATOLL_CACHE_SIZE=1"}) {
    const std::string output = run(variables);
    EXPECT_THAT(output, HasSubstr("cache: none\n")) << variables;
    EXPECT_THAT(output, Not(HasSubstr("/bin/true"))) << variables;
    EXPECT_THAT(output, Not(HasSubstr("evil"))) << variables;
  }
}

}  // namespace

}  // namespace Atoll::test

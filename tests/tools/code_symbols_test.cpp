// Names of translated code (ATOLL_CODE_SYMBOLS): what gdb and perf find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "library/kernels.h"
#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

class CodeSymbols : public testing::Test {
 protected:
  void SetUp() override { test::compile_kernels("clang-22", 5, "gfx90a", directory / "kernels.co"); }

  std::string launch() const {
    return fmt::format("{} launch {} --kernel scale --grid 64 --arg buf:64=ramp --arg 2.5 --arg 64", ATOLL_COMMAND,
                       directory / "kernels.co");
  }

  test::TemporaryDirectory directory;
  const std::string environment = "ATOLL_COMPILE=wait ATOLL_CACHE=off ";
};

TEST_F(CodeSymbols, PerfFindsThemInItsMap) {
  const auto run = test::run_command(
      fmt::format("{} ATOLL_CODE_SYMBOLS=perf sh -c 'echo $$; exec {} >/dev/null'", environment, launch()));
  ASSERT_EQ(run.exit_code, 0);
  const std::string path = fmt::format("/tmp/perf-{}.map", std::stoi(run.output));
  const std::vector<uint8_t> bytes = test::read_bytes(path);
  std::remove(path.c_str());
  // START SIZE NAME, the numbers hexadecimal (tools/perf/Documentation/jit-interface.txt).
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  uint64_t start = 0, size = 0;
  std::string name;
  ASSERT_TRUE(lines >> std::hex >> start >> size >> name);
  EXPECT_NE(start, 0U);
  EXPECT_GT(size, 16U);
  EXPECT_EQ(name, "scale+0x0");
}

TEST_F(CodeSymbols, GdbNamesAFrame) {
  if (test::run_command("gdb --version").exit_code != 0) GTEST_SKIP() << "there is no gdb";
  // Where gdb learns of the code, it stops, and once more where the code runs.
  const auto run = test::run_command(
      fmt::format("{} ATOLL_CODE_SYMBOLS=gdb DEBUGINFOD_URLS= gdb -nx -batch -ex 'set breakpoint pending on' "
                  "-ex 'break __jit_debug_register_code' -ex 'handle SIGSEGV nostop noprint pass' -ex run -ex finish "
                  "-ex 'rbreak ^scale[+]0x0$' -ex continue -ex 'backtrace 1' -ex kill --args {} 2>&1",
                  environment, launch()));
  EXPECT_THAT(run.output, HasSubstr("in scale+0x0 ()")) << run.output;
}

TEST_F(CodeSymbols, OtherWordsAreRefused) {
  const auto run = test::run_command(fmt::format("ATOLL_CODE_SYMBOLS=lldb {} 2>&1", launch()));
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.output, HasSubstr("ATOLL_CODE_SYMBOLS=lldb: use perf, gdb or perf,gdb"));
}

}  // namespace
}  // namespace Atoll

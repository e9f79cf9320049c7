// `atoll run` puts its runtime before any other, wherever Atoll lies and however the program finds its libraries. The
// other runtime here is one of whose hsa_init returns 42; Atoll's returns 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

class RunLoading : public testing::Test {
 protected:
  void SetUp() override {
    test::write_file(directory / "other.c", "int hsa_init(void) { return 42; }\n");
    test::write_file(
        directory / "program.c",
        "#include <stdio.h>\nint hsa_init(void);\nint main(void) { return printf(\"%d\\n\", hsa_init()) < 0; }\n");
    compile("-shared -fPIC other.c -o libhsa-runtime64.so.1 -Wl,-soname,libhsa-runtime64.so.1");
    compile(fmt::format("program.c -o program libhsa-runtime64.so.1 -Wl,--disable-new-dtags,-rpath,{}",
                        directory.path().string()));
  }

  void compile(const std::string& arguments) const {
    const auto compiled =
        test::run_command(fmt::format("cd {} && clang-19 {} 2>&1", directory.path().string(), arguments));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  }

  test::TemporaryDirectory directory;
};

TEST_F(RunLoading, AnRpathDoesNotLeadPastAtoll) {
  EXPECT_EQ(test::run_command("readelf -d " + (directory / "program") + " | grep -c '(RPATH)'").output, "1\n");
  EXPECT_EQ(test::run_command(directory / "program").output, "42\n");
  EXPECT_EQ(test::run_command(ATOLL_COMMAND " run -- " + (directory / "program") + " 2>&1").output, "0\n");
}

// As wheels for Python bring it.
TEST_F(RunLoading, NorDoesARuntimeUnderAnotherName) {
  compile("-shared -fPIC other.c -o libbundled.so -Wl,-soname,libbundled.so");
  compile(fmt::format("program.c -o bundled libbundled.so -Wl,-rpath,{}", directory.path().string()));
  EXPECT_EQ(test::run_command(directory / "bundled").output, "42\n");
  EXPECT_EQ(test::run_command(ATOLL_COMMAND " run -- " + (directory / "bundled") + " 2>&1").output, "0\n");
}

TEST_F(RunLoading, ProgramsOfProgramsHaveItToo) {
  EXPECT_EQ(test::run_command(ATOLL_COMMAND " run -- sh -c 'env -u LD_LIBRARY_PATH sh -c " + (directory / "program") +
                              "' 2>&1")
                .output,
            "0\n");
}

TEST_F(RunLoading, AtollMayLieInAnyDirectory) {
  for (const char* name :
       {"plain", "a b", "a:b", "a;b", "$LIB", "$ORIGIN", "it's", "\"quoted\"", "100%", "*", "back\\slash"}) {
    SCOPED_TRACE(name);
    const fs::path prefix = directory.path() / name;
    fs::create_directories(prefix / "bin");
    fs::create_directories(prefix / "lib");
    fs::create_hard_link(directory.path() / "program", prefix / "program");
    fs::copy_file(ATOLL_COMMAND, prefix / "bin/atoll");
    fs::create_symlink(ATOLL_HSA_LIBRARY, prefix / "lib/libhsa-runtime64.so.1");
    fs::create_symlink(ATOLL_DRIVER_LIBRARY, prefix / "lib/libatoll-driver.so");
    EXPECT_EQ(
        test::run_command(fmt::format("{} run -- {} 2>&1", quoted(prefix / "bin/atoll"), quoted(prefix / "program")))
            .output,
        "0\n");
    EXPECT_EQ(test::run_command(
                  fmt::format("cd {} && bin/atoll run -- sh -c 'test -e /dev/kfd && ./program' 2>&1", quoted(prefix)))
                  .output,
              "0\n");
  }
}

}  // namespace
}  // namespace Atoll

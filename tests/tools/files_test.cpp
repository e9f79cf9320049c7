// How the atoll command reads and writes files: whatever can be opened is read, a file is replaced when all of it is
// written, a device stays, and what cannot be written is an error. Oracles are cmp, stat and what was there before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Files : public testing::Test {
 protected:
  Files() {
    test::write_file(directory_ / "a.s", "s_nop 0\ns_endpgm\n");
    EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o a.co").output, "");
    code_ = test::read_bytes(directory_ / "a.co");
    EXPECT_FALSE(code_.empty());
  }

  /// Runs a line of bash in the directory, where `atoll` is the command.
  test::CommandResult shell(const std::string& line) const {
    test::write_file(directory_ / "line", fmt::format("atoll() {{ {} \"$@\"; }}\ncd {}\n{}\n", ATOLL_COMMAND,
                                                      directory_.path().string(), line));
    return test::run_command(fmt::format("bash {} 2>&1", directory_ / "line"));
  }
  std::vector<uint8_t> bytes(const std::string& name) const { return test::read_bytes(directory_ / name); }
  /// Nothing that was written halfway.
  void expect_files(std::set<std::string> names) const {
    names.insert({"a.s", "a.co", "line"});
    std::set<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      there.insert(entry.path().filename());
    EXPECT_EQ(there, names);
  }

  const test::TemporaryDirectory directory_;
  std::vector<uint8_t> code_;
};

TEST_F(Files, TheInputCanBeTheOutput) {
  ASSERT_EQ(shell("atoll bundle make gfx900=a.co -o both").exit_code, 0);
  EXPECT_NE(bytes("both"), code_);
  EXPECT_EQ(shell("atoll bundle extract both -o both").exit_code, 0);
  EXPECT_EQ(bytes("both"), code_);
  ASSERT_EQ(shell("atoll bundle make gfx900=both -o both && atoll bundle extract both -o both").exit_code, 0);
  EXPECT_EQ(bytes("both"), code_);
  ASSERT_EQ(shell("atoll asm a.s --gpu gfx900 -o a.s").exit_code, 0);
  EXPECT_EQ(bytes("a.s"), code_);
  expect_files({"both"});
}

TEST_F(Files, AMinusIsStandardOutputAndInput) {
  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o - | cmp - a.co").output, "");
  EXPECT_EQ(shell("atoll asm - --gpu gfx900 -o - < a.s | cmp - a.co").output, "");
  EXPECT_EQ(shell("atoll bundle make gfx900=- -o - < a.co | atoll bundle extract - -o - | cmp - a.co").output, "");
  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -c -o - | atoll link - -o - | cmp - a.co").output, "");
  const auto two = shell("atoll bundle make gfx900=a.co gfx900:xnack+=a.co -o two && atoll bundle extract two -o -");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.output, HasSubstr("--gpu"));
  expect_files({"two"});
}

TEST_F(Files, WhatIsNoRegularFileIsWrittenToAndStays) {
  struct stat before{}, after{};
  ASSERT_EQ(stat("/dev/full", &before), 0);
  const auto full = shell("atoll asm a.s --gpu gfx900 -o /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.output, "atoll: /dev/full: No space left on device\n");
  ASSERT_EQ(stat("/dev/full", &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_rdev, after.st_rdev);

  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o /dev/null; test -c /dev/null").exit_code, 0);
  EXPECT_EQ(
      shell("mkfifo pipe; cmp pipe a.co & atoll asm a.s --gpu gfx900 -o pipe && wait $! && test -p pipe").exit_code, 0);
  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o >(cmp - a.co)").output, "");
  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o /dev/stdout | cmp - a.co").output, "");
  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o .").output, "atoll: .: Is a directory\n");
}

TEST_F(Files, StandardOutputGoesOnWhereItIsAFile) {
  EXPECT_EQ(shell("{ echo before; atoll asm a.s --gpu gfx900 -o /dev/stdout; echo after; } > out").exit_code, 0);
  EXPECT_EQ(shell("{ echo before; cat a.co; echo after; } | cmp - out").output, "");
}

TEST_F(Files, AFileThatCannotBeWrittenStaysAsItWas) {
  test::write_file(directory_ / "old.co", "old");
  // No file may become longer than nothing.
  const auto limited = shell("{ ulimit -f 0; atoll asm a.s --gpu gfx900 -o old.co; echo $?; } | cat");
  EXPECT_THAT(limited.output, HasSubstr("1\n"));
  EXPECT_EQ(bytes("old.co"), (std::vector<uint8_t>{'o', 'l', 'd'}));
  EXPECT_EQ(shell("atoll asm a.s --gpu gfx900 -o no/such/place").exit_code, 1);
  expect_files({"old.co"});
}

TEST_F(Files, PermissionsAndLinksStay) {
  test::write_file(directory_ / "old.co", "old");
  ASSERT_EQ(chmod((directory_ / "old.co").c_str(), 0640), 0);
  ASSERT_EQ(shell("ln -s old.co link; atoll asm a.s --gpu gfx900 -o link; test -L link").exit_code, 0);
  EXPECT_EQ(bytes("old.co"), code_);
  EXPECT_EQ(shell("stat -c %a old.co").output, "640\n");
  EXPECT_EQ(shell("ln -s new.co dangling; atoll asm a.s --gpu gfx900 -o dangling; cmp new.co a.co").output, "");
  EXPECT_EQ(shell("umask 027; atoll asm a.s --gpu gfx900 -o fresh.co; stat -c %a fresh.co").output, "640\n");
  EXPECT_EQ(shell("ln -s loop loop; atoll asm a.s --gpu gfx900 -o loop").exit_code, 1);
}

TEST_F(Files, OutputThatIsLostIsAnError) {
  for (const char* command : {"gpus", "gpus --json", "--help", "disasm a.co", "inspect a.co --json", "completion bash",
                              "bundle list a.co", "isa v_add_u32", "asm a.s --gpu gfx900 -o -"}) {
    for (const char* output : {"/dev/full", "&-"}) {
      const auto lost = shell(fmt::format("atoll {} >{}", command, output));
      EXPECT_EQ(lost.exit_code, 1) << command << output << lost.output;
      EXPECT_THAT(lost.output, AllOf(HasSubstr("atoll: "), Not(HasSubstr("terminate")))) << command << output;
      EXPECT_EQ(std::ranges::count(lost.output, '\n'), 1) << command << output << lost.output;
    }
  }
}

TEST_F(Files, WhateverCanBeOpenedIsRead) {
  for (const char* input : {"/dev/stdin < a.s", "<(cat a.s)", "<(sleep 0; cat a.s) < /dev/null"}) {
    const auto done = shell(fmt::format("atoll asm --gpu gfx900 -o - {} | cmp - a.co", input));
    EXPECT_EQ(done.output, "") << input;
  }
  EXPECT_EQ(shell("atoll asm --gpu gfx900 -o - /dev/stdin < <(cat a.s) | cmp - a.co").output, "");
  EXPECT_THAT(shell("atoll disasm <(cat a.co)").output, HasSubstr("s_endpgm"));
  EXPECT_THAT(shell("atoll inspect <(cat a.co)").output, HasSubstr("gfx900"));
  EXPECT_EQ(shell("atoll disasm --raw --gpu gfx900 <(printf bf810000)").output, "\ts_endpgm\n");
}

// Linux says of files in /proc that they are empty, and of those in /sys that they are a page long.
TEST_F(Files, WhatDoesNotSayItsLengthIsIncludedWhole) {
  for (const char* file : {"/proc/sys/kernel/ostype", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    if (access(file, R_OK) != 0) continue;
    test::write_file(directory_ / "b.s", fmt::format(".data\n.incbin \"{}\"\n", file));
    ASSERT_EQ(shell("atoll asm b.s --gpu gfx900 -c -o b.o").output, "");
    EXPECT_EQ(shell(fmt::format("llvm-objcopy-22 -O binary -j .data b.o - | cmp - {}", file)).output, "");
  }
}

TEST_F(Files, WhatNeverEndsIsRefused) {
  const auto endless = shell("atoll asm /dev/zero --gpu gfx900 -o z.co");
  EXPECT_EQ(endless.exit_code, 1);
  EXPECT_THAT(endless.output, HasSubstr("/dev/zero: not a regular file, and longer than 512 MiB"));
}

TEST_F(Files, ValuesThatNothingCanAffordAreRefusedAtOnce) {
  for (const char* command :
       {"launch a.co --threads 1000000", "run --threads 1025 -- true", "launch a.co --timeout 1e300",
        "bundle make gfx900=a.co -o x --align 68719476736", "launch a.co --engine bogus", "run --engine bogus -- true",
        "eval s_nop --gpu gfx900 --engine bogus", "inspect a.co --block 4000000000"}) {
    const auto refused = shell(fmt::format("atoll {}", command));
    EXPECT_EQ(refused.exit_code, 2) << command << refused.output;
    EXPECT_EQ(std::ranges::count(refused.output, '\n'), 1) << refused.output;
    const std::string words(command);
    EXPECT_THAT(refused.output, HasSubstr(fmt::format("`atoll {}{} --help`", words.substr(0, words.find(' ')),
                                                      words.starts_with("bundle") ? " make" : "")));
  }
  expect_files({});
}

TEST_F(Files, WithoutMemoryThereIsAnErrorAndNoCrash) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizers reserve more address space than the limit";
#endif
  test::write_file(directory_ / "large.s", ".data\n.fill 260000000, 1, 7\n");
  const auto memory = shell("ulimit -v 500000; atoll asm large.s --gpu gfx900 -o large.co");
  EXPECT_EQ(memory.exit_code, 1);
  EXPECT_EQ(memory.output, "atoll: there is not enough memory\n");
  expect_files({"large.s"});
}

}  // namespace
}  // namespace Atoll

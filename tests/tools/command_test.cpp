// The atoll command itself: what it says of words that it does not know, its help, its version, its colours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

test::CommandResult atoll(const std::string& arguments) {
  return test::run_command(fmt::format("{} {} 2>&1", ATOLL_COMMAND, arguments));
}

TEST(Command, NamesUnknownWordsWithASuggestion) {
  struct Case {
    const char *arguments, *message;
  };
  for (const auto& [arguments, message] : {
           Case{"lanch", "atoll: unknown subcommand 'lanch'; did you mean 'launch'? (`atoll --help` lists them)\n"},
           Case{"xyzzy", "atoll: unknown subcommand 'xyzzy' (`atoll --help` lists them)\n"},
           Case{"help lauch",
                "atoll: unknown subcommand 'lauch'; did you mean 'launch'? (`atoll --help` lists them)\n"},
           Case{"bundle lst",
                "atoll: unknown subcommand 'lst'; did you mean 'list'? (`atoll bundle --help` lists them)\n"},
           Case{"help bundle lst",
                "atoll: unknown subcommand 'lst'; did you mean 'list'? (`atoll bundle --help` lists them)\n"},
           Case{"disasm --kernal x file",
                "atoll: unknown option '--kernal'; did you mean '--kernel'? (`atoll disasm --help` lists them)\n"},
           Case{
               "asm --syntaxonly x.s --gpu gfx900",
               "atoll: unknown option '--syntaxonly'; did you mean '--syntax-only'? (`atoll asm --help` lists them)\n"},
           Case{"launch --grd=64 x.co", "unknown option '--grd'; did you mean '--grid'?"},
           Case{"launch --chek=memory x.co", "unknown option '--chek'; did you mean '--check'?"},
           Case{"bundle list --jsn x", "unknown option '--jsn'; did you mean '--json'? (`atoll bundle list --help`"},
           Case{"--versoin", "unknown option '--versoin'; did you mean '--version'?"},
           Case{"gpus -x", "atoll: unknown option '-x' (`atoll gpus --help` lists them)\n"},
           Case{"gpus all", "atoll: unexpected argument 'all' (`atoll gpus --help` explains the arguments)\n"},
           Case{"disasm --raw --gpu rx6900x", "unknown GPU 'rx6900x'; did you mean 'rx6900xt'?"},
           Case{"isa s_nop --gpu GFX1O30", "unknown GPU 'GFX1O30'; did you mean 'gfx1030'?"},
       }) {
    SCOPED_TRACE(arguments);
    const auto run = atoll(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.output, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << run.output;
  }
}

TEST(Command, ListsItsSubcommandsByItself) {
  const auto alone = atoll("");
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_EQ(alone.output, atoll("--help").output);
  EXPECT_EQ(alone.output, atoll("help").output);
  for (const char* subcommand :
       {"run", "launch", "eval", "isa", "gpus", "asm", "disasm", "inspect", "link", "bundle", "help", "version"})
    EXPECT_THAT(alone.output, testing::ContainsRegex(fmt::format("\n  {} ", subcommand)));
  for (const char* command : {"launch", "bundle", "bundle make", "cache clear"})
    EXPECT_EQ(atoll(fmt::format("help {}", command)).output, atoll(fmt::format("{} --help", command)).output);
  EXPECT_THAT(atoll("help launch").output, testing::StartsWith("Run one kernel"));
  const auto version = atoll("version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.output, atoll("--version").output);
}

TEST(Command, TakesGpusInUpperCase) {
  EXPECT_EQ(atoll("isa s_nop --gpu GFX90A").output, atoll("isa s_nop --gpu gfx90a").output);
  EXPECT_EQ(test::run_command(fmt::format("echo bf810000 | {} disasm --raw --gpu MI250X", ATOLL_COMMAND)).output,
            "\ts_endpgm\n");
}

// On a terminal, which script(1) is, messages have colours; in files and with NO_COLOR they have none.
TEST(Command, ColoursMessagesOnTerminals) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "bad.s", "v_nonsense\n");
  const auto on_terminal = [&](const std::string& environment, const std::string& arguments) {
    return test::run_command(fmt::format("cd {} && {} script -qec '{} {}' /dev/null 2>&1 </dev/null",
                                         directory.path().string(), environment, ATOLL_COMMAND, arguments))
        .output;
  };
  EXPECT_THAT(on_terminal("TERM=xterm", "lanch"), HasSubstr("\x1b[1;31matoll:\x1b[0m unknown subcommand"));
  EXPECT_THAT(
      on_terminal("TERM=xterm", "asm bad.s --gpu gfx900 --syntax-only"),
      testing::AllOf(HasSubstr("\x1b[1mbad.s:1:1:\x1b[0m \x1b[1;31merror: \x1b[0m"), HasSubstr("\x1b[1;32m^\x1b[0m")));
  for (const char* environment : {"TERM=xterm NO_COLOR=1", "TERM=dumb", "env -u TERM"})
    EXPECT_THAT(on_terminal(environment, "lanch"), testing::Not(HasSubstr("\x1b[1;31m"))) << environment;
  EXPECT_THAT(atoll("lanch").output, testing::Not(HasSubstr("\x1b")));
}

TEST(Command, RefusesTextThatIsNoHexadecimal) {
  const auto raw = [](const std::string& text) {
    return test::run_command(fmt::format("printf '{}' | {} disasm --raw --gpu gfx900 2>&1", text, ATOLL_COMMAND));
  };
  EXPECT_EQ(raw("0xBF810000, [bf800000]\\n00 00 81 bf\\n").output, "\ts_endpgm\n\ts_nop 0\n\ts_endpgm\n");
  EXPECT_EQ(raw("\\000\\000\\201\\277").output, "\ts_endpgm\n");  // binary
  struct Case {
    const char *text, *message;
  };
  for (const auto& [text, message] :
       {Case{"bf81000", "'bf81000' in line 1 is not a word of 2, 8 or 16 hexadecimal digits"},
        Case{"bf810000\\nbf81 0000\\n", "'bf81' in line 2"}, Case{"s_endpgm", "'s_endpgm' in line 1"},
        Case{"0x", "'0x' in line 1"}, Case{"bf81000g", "'bf81000g'"},
        Case{"bf810000bf810000b", "'bf810000bf810000b'"}}) {
    const auto refused = raw(text);
    EXPECT_EQ(refused.exit_code, 2) << text;
    EXPECT_THAT(refused.output, HasSubstr(message));
  }
}

// Of clang's debug information: each line before the first instruction that is made of it.
TEST(Command, DisassemblesWithSource) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "k.cl",
                   "kernel void k(global int* out, int n) {\n  int i = __builtin_amdgcn_workitem_id_x();\n"
                   "  if (i < n)\n    out[i] = i * 3;\n}\n");
  const auto compiled = test::run_command(
      fmt::format("cd {} && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -g k.cl -o k.co 2>&1",
                  directory.path().string()));
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const std::string text = atoll(fmt::format("disasm {} --source", directory / "k.co")).output;
  const std::string file = "; " + directory.path().string() + "/k.cl:";
  EXPECT_THAT(text, HasSubstr(file + "3\n;   if (i < n)\n"));
  EXPECT_THAT(text, testing::ContainsRegex("k\\.cl:4\n;     out\\[i\\] = i \\* 3;\n\t[a-z_0-9]+ "));
  // Without the comments it is the usual text.
  std::string without;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("; /") && !line.starts_with(";  ") && !line.starts_with("; }") &&
        !line.starts_with("; kernel void"))
      without += line + "\n";
  EXPECT_EQ(without, atoll(fmt::format("disasm {}", directory / "k.co")).output);
  // llvm-objdump finds the same lines.
  const std::string llvm = test::run_command(fmt::format("llvm-objdump-22 -d -l {}", directory / "k.co")).output;
  for (const char* line : {"k.cl:1", "k.cl:2", "k.cl:3", "k.cl:4", "k.cl:5"})
    EXPECT_EQ(llvm.contains(line), text.contains(line)) << line;
  EXPECT_EQ(atoll(fmt::format("disasm {} --source --json", directory / "k.co")).exit_code, 2);
}

}  // namespace
}  // namespace Atoll

// Completion, as bash, zsh and fish themselves do it by the scripts of `atoll completion`; and the manual pages, as
// groff sets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

std::string run(const std::string& command) {
  const auto result = test::run_command(command + " 2>&1");
  EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.output;
  return result.output;
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// A directory with a file and a directory in it, and what each shell proposes there.
class Completion : public testing::Test {
 protected:
  void SetUp() override {
    write(directory / "kernels.co", "");
    std::filesystem::create_directory(directory / "include");
    std::filesystem::create_directory(scripts.path() / "zsh");
    run(fmt::format("{} completion bash > {}", ATOLL_COMMAND, scripts / "bash"));
    run(fmt::format("{} completion zsh > {}", ATOLL_COMMAND, scripts / "zsh/_atoll"));
    run(fmt::format("{} completion fish > {}", ATOLL_COMMAND, scripts / "fish"));
  }

  /// By bash, of the words, the last of which may be begun: "" is one that is not.
  std::vector<std::string> by_bash(const std::string& words, const std::string& more = "") {
    return words_of(run(fmt::format(
        "cd {} && bash --norc -c 'source {}; {}; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _atoll; "
        "printf \"%s\\n\" \"${{COMPREPLY[@]}}\"'",
        directory.path().string(), scripts / "bash", more.empty() ? ":" : more, words)));
  }

  /// By fish, of a line up to the cursor: without the descriptions.
  std::vector<std::string> by_fish(const std::string& line) {
    return words_of(
        run(fmt::format("cd {0} && HOME={0} fish --no-config -c 'source {1}; complete -C \"{2}\"' | cut -f 1",
                        directory.path().string(), scripts / "fish", line)));
  }

  /// What zsh shows below a line at the second press of the tabulator, up to where it matches the pattern.
  std::string by_zsh(const std::string& line, const std::string& pattern) {
    write(scripts / "press.zsh", R"(zmodload zsh/zpty
zpty shell zsh -f -i
{
  zpty -w shell "PROMPT=; cd $2; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; LISTMAX=0; print REA''DY"
  zpty -r shell out '*READY*'
  zpty -n -w shell "$3"$'\t\t'
  zpty -r shell out "*$4*"
  print -r -- "$out"
} always { zpty -d shell }
)");
    return run(fmt::format("timeout 60 zsh -f {} {} {} '{}' '{}'", scripts / "press.zsh", scripts / "zsh",
                           directory.path().string(), line, pattern));
  }

  test::TemporaryDirectory directory, scripts;
};

const std::vector<std::string> bundle_commands = {"extract", "list", "make"};
const std::vector<std::string> gfx110 = {"gfx1100", "gfx1101", "gfx1102", "gfx1103"};

TEST_F(Completion, ByBash) {
  EXPECT_THAT(by_bash("atoll \"\""), testing::IsSupersetOf({"run", "launch", "asm", "completion"}));
  EXPECT_THAT(by_bash("atoll bundle \"\""), testing::UnorderedElementsAreArray(bundle_commands));
  EXPECT_THAT(by_bash("atoll run --gpu gfx110"), testing::UnorderedElementsAreArray(gfx110));
  EXPECT_THAT(by_bash("atoll run --gpu = gfx110"), testing::UnorderedElementsAreArray(gfx110));
  EXPECT_THAT(by_bash("atoll bundle make --compress \"\""), testing::UnorderedElementsAre("none", "zlib", "zstd"));
  EXPECT_THAT(by_bash("atoll disasm --"), testing::IsSupersetOf({"--gpu", "--kernel", "--raw", "--help"}));
  EXPECT_THAT(by_bash("atoll disasm k"), testing::ElementsAre("kernels.co"));
  EXPECT_THAT(by_bash("atoll asm -I \"\""), testing::ElementsAre("include"));
  EXPECT_THAT(by_bash("atoll link --output k"), testing::ElementsAre("kernels.co"));
  EXPECT_THAT(by_bash("atoll run --timeout \"\""), testing::IsEmpty());
  // Values behind a "=", lists with commas, and names of instructions.
  EXPECT_THAT(by_bash("atoll run --check = m"), testing::ElementsAre("memory"));
  EXPECT_THAT(by_bash("atoll run --check = \"\""), testing::IsSupersetOf({"all", "memory", "race", "leak"}));
  EXPECT_THAT(by_bash("atoll run --check ="), testing::IsSupersetOf({"all", "memory", "race"}));
  EXPECT_THAT(by_bash("atoll run --check = memory,r"), testing::ElementsAre("memory,race"));
  EXPECT_THAT(by_bash("atoll run --core = k"), testing::ElementsAre("kernels.co"));
  EXPECT_THAT(by_bash("atoll run --gpu mi250x,gfx110"),
              testing::UnorderedElementsAre("mi250x,gfx1100", "mi250x,gfx1101", "mi250x,gfx1102", "mi250x,gfx1103"));
  run(fmt::format("ln -sf {} {}", ATOLL_COMMAND, scripts / "atoll"));
  EXPECT_THAT(by_bash("atoll isa v_perm", fmt::format("PATH={}:$PATH", scripts.path().string())),
              testing::IsSupersetOf({"v_perm_b32", "v_permlane16_b32"}));
}

// What stands after -- is completed as if it stood alone.
TEST_F(Completion, OfTheProgramByBash) {
  EXPECT_THAT(by_bash("atoll run -- printf"), testing::Contains("printf"));
  EXPECT_THAT(by_bash("atoll run --stats -- prog k"), testing::ElementsAre("kernels.co"));
  EXPECT_THAT(by_bash("atoll run --stats -- prog k", "_command_offset() { COMPREPLY=(\"from word $1\"); }"),
              testing::ElementsAre("from", "word", "4"));
}

TEST_F(Completion, ByFish) {
  EXPECT_THAT(by_fish("atoll "), testing::IsSupersetOf({"run", "launch", "asm", "completion"}));
  EXPECT_THAT(by_fish("atoll bundle "), testing::UnorderedElementsAreArray(bundle_commands));
  EXPECT_THAT(by_fish("atoll run --gpu gfx110"), testing::UnorderedElementsAreArray(gfx110));
  EXPECT_THAT(by_fish("atoll bundle make --compress "), testing::UnorderedElementsAre("none", "zlib", "zstd"));
  EXPECT_THAT(by_fish("atoll disasm --"), testing::IsSupersetOf({"--gpu", "--kernel", "--raw", "--help"}));
  EXPECT_THAT(by_fish("atoll disasm k"), testing::ElementsAre("kernels.co"));
  EXPECT_THAT(by_fish("atoll asm -I "), testing::ElementsAre("include/"));
  EXPECT_THAT(by_fish("atoll isa k"), testing::IsEmpty());
  EXPECT_THAT(by_fish("atoll run --gpu mi250x,gfx110"), testing::Contains("mi250x,gfx1101"));
  EXPECT_THAT(by_fish("atoll run --check=memory,r"), testing::Contains("--check=memory,race"));
}

TEST_F(Completion, ByZsh) {
  EXPECT_THAT(by_zsh("atoll bundle ", "make"),
              testing::AllOf(HasSubstr("extract"), HasSubstr("Write the code objects"), HasSubstr("list")));
  EXPECT_THAT(by_zsh("atoll run --gpu gfx110", "gfx1103"), testing::AllOf(HasSubstr("gfx1100"), HasSubstr("gfx1102")));
  EXPECT_THAT(by_zsh("atoll bundle make --compress ", "zstd"), testing::AllOf(HasSubstr("none"), HasSubstr("zlib")));
  EXPECT_THAT(by_zsh("atoll disasm k", "kernels.co"), HasSubstr("kernels.co"));
  EXPECT_THAT(by_zsh("atoll run --gpu mi250x,gfx110", "gfx1103"), HasSubstr("gfx1102"));
  EXPECT_THAT(by_zsh("atoll run --check=", "wait"), HasSubstr("memory"));
  EXPECT_THAT(by_zsh("atoll run -- cat k", "kernels.co"), HasSubstr("kernels.co"));
}

TEST(CompletionCommand, TellsWhichShellsItKnows) {
  const auto result = test::run_command(fmt::format("{} completion tcsh 2>&1", ATOLL_COMMAND));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.output, HasSubstr("bash"));
}

/// The subcommands in the help of a command: the words that begin lines after "Subcommands:".
std::vector<std::string> subcommands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.find("\nSubcommands:\n"), help.size())));
  for (std::string line;
       std::getline(lines, line) && (names.empty() || !line.empty());)  // the footer is after a blank line
    if (line.starts_with("  ") && !line.starts_with("   ")) names.push_back(words_of(line).at(0));
  return names;
}

/// Checks the command's page against its help, and those of the commands below it.
void check_page(const std::string& command, const std::filesystem::path& pages, std::set<std::string>& checked) {
  SCOPED_TRACE(command);
  std::string name = command.empty() ? "atoll" : "atoll " + command;
  const std::string help = run(fmt::format("{} {} --help", ATOLL_COMMAND, command));
  std::ranges::replace(name, ' ', '-');
  checked.insert(name + ".1");
  const std::string file = (pages / (name + ".1")).string();
  EXPECT_EQ(run(fmt::format("groff -man -Tutf8 -ww -z {}", file)), "");  // no warnings
  const std::string page = run(fmt::format("groff -man -Tascii -P-cbou -rLL=200n {}", file));
  // Each line of the help is there, words and all, where it is not a heading or a table's columns.
  for (const std::string& word : words_of(help))
    if (word.starts_with("--") && word.find_first_of("`'") == std::string::npos)
      EXPECT_THAT(page, HasSubstr(word.substr(0, word.find_first_of(",[")))) << file;
  for (const std::string& subcommand : subcommands_in(help)) {
    EXPECT_THAT(page, HasSubstr(name + "-" + subcommand + "(1)"));
    check_page(command.empty() ? subcommand : command + " " + subcommand, pages, checked);
  }
}

TEST(ManualPages, SayWhatTheHelpSays) {
  const test::TemporaryDirectory directory;
  run(fmt::format("{} manual-pages {}", ATOLL_COMMAND, directory.path().string()));
  std::set<std::string> checked;
  check_page("", directory.path(), checked);
  std::set<std::string> written;
  for (const auto& each : std::filesystem::directory_iterator(directory.path()))
    written.insert(each.path().filename().string());
  EXPECT_EQ(written, checked);
  EXPECT_GT(written.size(), 10u);
}

// Sections of man-pages(7), and values that may be left out.
TEST(ManualPages, HaveEnvironmentFilesAndOptionalValues) {
  const test::TemporaryDirectory directory;
  run(fmt::format("{} manual-pages {}", ATOLL_COMMAND, directory.path().string()));
  const auto page = [&](const char* name) {
    return run(fmt::format("groff -man -Tascii -P-cbou -rLL=200n {}", directory / name));
  };
  EXPECT_THAT(page("atoll-run.1"),
              testing::AllOf(HasSubstr("--core[=FILE]"), HasSubstr("--check[=LIST]"), HasSubstr("--stats[=FILE]"),
                             HasSubstr("\nEXAMPLES\n"), HasSubstr("ATOLL_MEMORY")));
  EXPECT_THAT(page("atoll.1"),
              testing::AllOf(HasSubstr("\nENVIRONMENT\n"), HasSubstr("\nFILES\n"), HasSubstr("~/.cache/atoll")));
  EXPECT_THAT(page("atoll-cache.1"), testing::AllOf(HasSubstr("\nENVIRONMENT\n"), HasSubstr("ATOLL_CACHE_SIZE")));
}

// Examples keep their lines and every character.
TEST(ManualPages, KeepExamplesAsTheyAre) {
  const test::TemporaryDirectory directory;
  run(fmt::format("{} manual-pages {}", ATOLL_COMMAND, directory.path().string()));
  const std::string page = run(fmt::format("groff -man -Tascii -P-cbou -rLL=200n {}", directory / "atoll-eval.1"));
  EXPECT_THAT(page, HasSubstr("atoll eval 'v_pk_add_f16 v0, v1, v2' --gpu mi250x v1=1.5:2.5 v2=f16:0.25:lane\n"));
  EXPECT_THAT(page, HasSubstr("+ - * / % << >> & | ^ ~ and parentheses as in C\n"));
}

}  // namespace
}  // namespace Atoll

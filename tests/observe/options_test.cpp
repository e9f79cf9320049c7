// What `--check` and its like say, and files of suppressions.
#include <gtest/gtest.h>

#include "observe/report/findings.h"
#include "observe/report/options.h"
#include "observe/report/suppressions.h"

namespace Atoll::test {
namespace {

using namespace observe;

TEST(CheckOptions, AListOfCheckers) {
  EXPECT_EQ(*parse_checkers("memory"), (std::vector<std::string>{"memory"}));
  EXPECT_EQ(*parse_checkers("leak,memory,leak"), (std::vector<std::string>{"leak", "memory"}));
  EXPECT_EQ(*parse_checkers("all"), *parse_checkers("1"));
  EXPECT_EQ(parse_checkers("all")->front(), "memory");
  EXPECT_TRUE(parse_checkers("0")->empty());
  const auto seeded = parse_checkers("order,seed=7");
  ASSERT_TRUE(seeded) << seeded.error().message;
  EXPECT_EQ(Options{.checkers = *seeded}.seed(), 7U);
  EXPECT_EQ(Options{.checkers = {"order"}}.seed(), 1U);
  EXPECT_FALSE(parse_checkers("order,seed=x"));
  const auto wrong = parse_checkers("memory,racing");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "unknown checker 'racing'; use " + checker_names());
}

TEST(CheckOptions, AnExitCode) {
  EXPECT_EQ(*parse_exit_code("7"), 7);
  for (const char* wrong : {"", "256", "-1", "7x"}) EXPECT_FALSE(parse_exit_code(wrong)) << wrong;
}

TEST(CheckOptions, AReportWhoseKindNobodyKnows) {
  EXPECT_TRUE(check({.checkers = {"memory"}, .report_file = "a.sarif"}));
  EXPECT_FALSE(check({.checkers = {"memory"}, .report_file = "a.txt"}));
}

TEST(Suppressions, Patterns) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("scan*", "scan_kernel"));
  EXPECT_TRUE(matches("*/rocprim/*.hpp", "/opt/include/rocprim/block/scan.hpp"));
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_TRUE(matches("*ab*ab", "abxabab"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("scan", "scan_kernel"));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Suppressions, AFile) {
  const auto read =
      Suppressions::parse("# nothing\n\nmemory out-of-bounds kernel=scan* file=*/lib/*  # known\n", "s.txt");
  ASSERT_TRUE(read) << read.error().message;
  Finding finding{.checker = "memory", .kind = "out-of-bounds"};
  finding.kernel = "scan(int*)";
  finding.source.file = "/a/lib/scan.h";
  EXPECT_TRUE(read->match(finding));
  finding.kernel = "sort(int*)";
  EXPECT_FALSE(read->match(finding));
  finding.kernel = "scan(int*)";
  finding.kind = "misaligned";
  EXPECT_FALSE(read->match(finding));
}

TEST(Suppressions, MistakesHaveTheirLine) {
  const auto message = [](const char* text) {
    const auto read = Suppressions::parse(text, "s.txt");
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(message("\n\n\n\n\n\nmemory out-of-bounds kernl=a\n"),
            "s.txt:7: 'kernl=a' is neither kernel=PATTERN nor file=PATTERN");
  EXPECT_EQ(message("memory"), "s.txt:1: a kind of finding has to follow the checker (or *)");
  EXPECT_EQ(message("memory * kernel="), "s.txt:1: kernel= has no pattern");
  EXPECT_EQ(message("racing *"), "s.txt:1: unknown checker 'racing'; use " + checker_names());
}

TEST(Findings, EachIsToldOnceAndCounted) {
  std::vector<std::string> reported;
  Findings findings({}, [&](std::string_view text) { reported.emplace_back(text); });
  EXPECT_FALSE(findings.known("memory", "out-of-bounds", 0x100, 1));
  findings.add(0x100, {.checker = "memory", .kind = "out-of-bounds", .message = "one", .count = 3});
  EXPECT_TRUE(findings.known("memory", "out-of-bounds", 0x100, 4));
  EXPECT_FALSE(findings.known("memory", "misaligned", 0x100, 1));
  EXPECT_FALSE(findings.known("memory", "out-of-bounds", 0x104, 1));
  ASSERT_EQ(findings.all().size(), 1U);
  EXPECT_EQ(findings.all()[0].count, 7U);
  EXPECT_EQ(reported.size(), 1U);
  EXPECT_EQ(findings.errors(), 1U);
}

// An unrolled loop has several instructions of one line.
TEST(Findings, TheSameOfSeveralInstructionsOfALineIsOne) {
  std::vector<std::string> reported;
  Findings findings({}, [&](std::string_view text) { reported.emplace_back(text); });
  Finding finding{.checker = "race", .kind = "lds", .message = "kernel 'f' reads what another wave has written"};
  finding.kernel = "f";
  finding.source = {"a.hip", 12, 5};
  findings.add(0x1000, finding);
  findings.add(0x1008, finding);
  EXPECT_TRUE(findings.known("race", "lds", 0x1008, 3));
  finding.message = "kernel 'f' writes what another wave has read";
  findings.add(0x1010, finding);
  finding.source = {};
  findings.add(0x1018, finding);
  findings.add(0x1020, finding);
  ASSERT_EQ(findings.all().size(), 4u);
  EXPECT_EQ(reported.size(), 4u);
  EXPECT_EQ(findings.all()[0].count, 5u);
}

TEST(Findings, TheSuppressedAreNotTold) {
  std::vector<std::string> reported;
  Findings findings(*Suppressions::parse("memory out-of-bounds\n", "s"),
                    [&](std::string_view text) { reported.emplace_back(text); });
  findings.add(1, {.checker = "memory", .kind = "out-of-bounds"});
  EXPECT_TRUE(findings.known("memory", "out-of-bounds", 1, 1));
  EXPECT_TRUE(reported.empty());
  EXPECT_TRUE(findings.all().empty());
  EXPECT_EQ(findings.suppressed(), 1U);
}

}  // namespace
}  // namespace Atoll::test

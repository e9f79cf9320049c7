// Litmus tests: the classic ones with the answers that the literature has for models of this kind (C++'s with scopes,
// as HSA's and OpenCL's), and the format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "memory_model/litmus.h"

namespace Atoll {
namespace {

using memory_model::enumerate_outcomes;
using memory_model::LitmusOutcome;
using memory_model::LitmusResult;
using memory_model::LitmusTest;
using memory_model::parse_litmus;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(ATOLL_LITMUS_DIRECTORY))
    names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

TEST(Litmus, ClassicTestsHaveTheAnswersOfTheLiterature) {
  ASSERT_GE(examples().size(), 30);
  for (const std::string& name : examples()) {
    std::ifstream file(std::filesystem::path(ATOLL_LITMUS_DIRECTORY) / (name + ".litmus"));
    const auto test = parse_litmus(std::string(std::istreambuf_iterator<char>(file), {}));
    ASSERT_TRUE(test) << name << ": " << test.error().message;
    EXPECT_EQ(test->name, name);
    const auto result = enumerate_outcomes(*test);
    ASSERT_TRUE(result) << name << ": " << result.error().message;
    EXPECT_TRUE(result->as_expected(*test)) << name << (result->race ? ": race of " + *result->race : "");
  }
}

LitmusResult outcomes(const std::string& text) {
  const auto test = parse_litmus(text);
  EXPECT_TRUE(test) << test.error().message;
  const auto result = enumerate_outcomes(*test);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

TEST(Litmus, OutcomesAreAllThatTheModelAllows) {
  // Values are of P0:r0, P1:r0, x, y. Sequentially consistent interleavings give three of the four.
  const auto result = outcomes(
      "P0 | P1\n store x 1 seq_cst agent | store y 1 seq_cst agent\n r0 = load y seq_cst agent | r0 = load x seq_cst "
      "agent\n"
      "exists P0:r0=1");
  EXPECT_THAT(result.outcomes,
              ElementsAre(LitmusOutcome{0, 1, 1, 1}, LitmusOutcome{1, 0, 1, 1}, LitmusOutcome{1, 1, 1, 1}));
  EXPECT_FALSE(result.race);
}

TEST(Litmus, OneThreadHasOneOutcome) {
  const auto result = outcomes("P0\n store x 3\n r0 = load x\n store y r0\n r1 = add y 2 monotonic agent\n exists y=5");
  EXPECT_THAT(result.outcomes, ElementsAre(LitmusOutcome{3, 3, 3, 5}));
}

TEST(Litmus, AFailingCompareAndExchangeWritesNothing) {
  const auto result =
      outcomes("init x=7\nP0\n r0 = cas x 1 2 acq_rel agent\n r1 = cas x 7 8 acq_rel agent\n exists x=8");
  EXPECT_THAT(result.outcomes, ElementsAre(LitmusOutcome{7, 7, 8}));
}

TEST(Litmus, ARaceNamesTheAccesses) {
  const auto result = outcomes("P0 | P1\n store x 1 | r0 = load x\n race");
  ASSERT_TRUE(result.race);
  EXPECT_EQ(*result.race, "P0: store x 1 and P1: r0 = load x");
}

TEST(Litmus, BarriersOrderWhatIsBeforeOneThreadsAndAfterAnothers) {
  // The load before the barrier cannot read the store after it, though nothing orders memory.
  const auto result = outcomes(
      "scopes (workgroup P0 P1)\nP0 | P1\n r0 = load x monotonic workgroup | barrier\n barrier | store x 1 monotonic "
      "workgroup\n ~exists P0:r0=1");
  EXPECT_THAT(result.outcomes, ElementsAre(LitmusOutcome{0, 1}));
}

TEST(Litmus, ConditionsHaveAndOrAndParentheses) {
  const auto test = parse_litmus("P0\n store x 1\n store y 2\n exists x=1 /\\ (y=3 \\/ y=2)");
  ASSERT_TRUE(test);
  EXPECT_TRUE(test->condition->holds({1, 2}));
  EXPECT_TRUE(test->condition->holds({1, 3}));
  EXPECT_FALSE(test->condition->holds({0, 2}));
}

TEST(Litmus, MistakesAreToldByLine) {
  const auto error = [](const std::string& text) {
    const auto test = parse_litmus(text);
    return test ? std::string("none") : test.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("no threads"));
  EXPECT_THAT(error("P0\n store x 1\n"), HasSubstr("the last line is missing"));
  EXPECT_THAT(error("P0\n sture x 1\n"), AllOf(HasSubstr("line 2: P0"), HasSubstr("store, load")));
  EXPECT_THAT(error("P0\n store x\n"), HasSubstr("lacks operands"));
  EXPECT_THAT(error("P0\n store x r0\n"), HasSubstr("'r0' is neither a number nor a register"));
  EXPECT_THAT(error("P0\n load x\n"), HasSubstr("r0 = load x"));
  EXPECT_THAT(error("P0\n store x 1 release\n"), HasSubstr("both an order and a scope"));
  EXPECT_THAT(error("P0\n store x 1 acquire agent\n"), HasSubstr("cannot be acquire"));
  EXPECT_THAT(error("P0\n store x 1 release device\n"), HasSubstr("'device'"));
  EXPECT_THAT(error("P0\n r0 = add x 1\n"), HasSubstr("needs an order and a scope"));
  EXPECT_THAT(error("P0\n fence monotonic agent\n"), HasSubstr("a fence is"));
  EXPECT_THAT(error("P0\n store x 1 | store x 2\n"), HasSubstr("2 columns and 1 threads"));
  EXPECT_THAT(error("P0 | P0\n"), HasSubstr("'P0' is there twice"));
  EXPECT_THAT(error("P0\n store x 1\n exists z=1"), HasSubstr("there is no 'z': there are x"));
  EXPECT_THAT(error("P0\n store x 1\n exists (x=1"), HasSubstr("')' is missing"));
  EXPECT_THAT(error("P0\n store x 1\n exists " + std::string(100, '(')), HasSubstr("nested too deep"));
  EXPECT_THAT(error("P0\n race\n store x 1"), HasSubstr("after the condition"));
  EXPECT_THAT(error("scopes (workgroup P0\n"), HasSubstr("')' is missing"));
  EXPECT_THAT(error("scopes (workgroup (agent P0))\n"), HasSubstr("not inside"));
  EXPECT_THAT(error("init x\n"), HasSubstr("init LOCATION=NUMBER"));
}

TEST(Litmus, ChangedTextIsReadOrRefused) {
  std::minstd_rand random(1);
  for (const std::string& name : examples()) {
    std::ifstream file(std::filesystem::path(ATOLL_LITMUS_DIRECTORY) / (name + ".litmus"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (int copy = 0; copy < 200; ++copy) {
      std::string changed = text;
      for (int i = 0; i < 3; ++i) {
        const size_t at = random() % changed.size();
        switch (random() % 3) {
          case 0:
            changed[at] = static_cast<char>(random());
            break;
          case 1:
            changed.erase(at, random() % 10);
            break;
          default:
            changed.insert(at, text.substr(random() % text.size(), random() % 20));
        }
        if (changed.empty()) break;
      }
      const auto test = parse_litmus(changed);
      EXPECT_TRUE(test || !test.error().message.empty());
    }
  }
}

TEST(Litmus, WhatIsTooLargeIsRefused) {
  std::string text = "P0 | P1\n";
  for (int i = 0; i < 40; ++i) text += "store x 1 monotonic agent | r0 = load x monotonic agent\n";
  const auto many = enumerate_outcomes(*parse_litmus(text + "exists x=1"));
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().message, HasSubstr("81 events"));
}

}  // namespace
}  // namespace Atoll

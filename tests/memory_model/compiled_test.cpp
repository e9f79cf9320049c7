// The table of the memory model against what clang 22 generates for every operation on every kind of target. Where
// they differ, a row of compiler_differences.h says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "memory_model/compiled_operations.h"
#include "memory_model/compiler_differences.h"
#include "target/processor.h"

namespace Atoll {
namespace {

using memory_model::Generation;
using memory_model::Operation;
using test::CompiledTarget;
using test::CompilerDifference;

std::vector<CompiledTarget> targets() {
  std::vector<CompiledTarget> all;
  for (const char* processor : {"gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx90a", "gfx942", "gfx950",
                                "gfx1010", "gfx1030", "gfx1100", "gfx1200", "gfx1250"}) {
    const Generation& generation = memory_model::generation_of(*target::find_processor(std::string_view(processor)));
    all.push_back({processor, "", {}});
    if (generation.splits_work_groups) all.push_back({processor, "-mtgsplit", {.split_work_groups = true}});
    if (generation.places_by_cu_mode) all.push_back({processor, "-mcumode", {.cu_mode = true}});
  }
  return all;
}

/// The rows of compiler_differences.h that are about one target.
class KnownDifferences {
 public:
  explicit KnownDifferences(const CompiledTarget& target) {
    for (const CompilerDifference& each : test::compiler_differences) {
      if (std::regex_match(target.name(), std::regex(each.targets)))
        rows_.push_back({&each, std::regex(each.operations), std::regex(each.difference)});
    }
  }
  bool explain(const std::string& operation, const std::string& difference) {
    bool explained = false;
    for (Row& row : rows_) {
      if (!std::regex_match(operation, row.operations) || !std::regex_match(difference, row.difference)) continue;
      row.used = explained = true;
    }
    return explained;
  }
  void expect_all_used() const {
    for (const Row& row : rows_)
      EXPECT_TRUE(row.used) << "no such difference any more: " << row.text->operations << ": " << row.text->difference;
  }

 private:
  struct Row {
    const CompilerDifference* text;
    std::regex operations, difference;
    bool used = false;
  };
  std::vector<Row> rows_;
};

class CompiledMemoryModel : public testing::TestWithParam<CompiledTarget> {};

TEST_P(CompiledMemoryModel, CodeHasTheTablesSequencesOrTheDifferenceHasAReason) {
  const CompiledTarget& target = GetParam();
  const Generation& generation = memory_model::generation_of(*target::find_processor(target.processor));
  const std::vector<Operation> operations = memory_model::every_operation();
  const auto compiled = test::compile_operations(target, operations);
  KnownDifferences known(target);
  size_t compared = 0;
  for (const Operation& operation : operations) {
    const auto steps = memory_model::sequence(generation, operation, target.placement);
    if (!steps) continue;
    const std::string name = to_string(operation);
    const auto found = compiled.find(name);
    ASSERT_NE(found, compiled.end()) << name;
    ++compared;
    for (const std::string& difference : test::differences(generation, test::slots_of(*steps), found->second))
      EXPECT_TRUE(known.explain(name, difference)) << name << ": the compiler " << difference;
  }
  EXPECT_EQ(compared, compiled.size());
  known.expect_all_used();
}

INSTANTIATE_TEST_SUITE_P(Targets, CompiledMemoryModel, testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace Atoll

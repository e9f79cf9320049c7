// Every instruction that a processor of GFX6 to GFX8 or of GFX10 to GFX12.5 has is executed, but for those that
// engine/coverage.h names with the reason.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "engine/coverage.h"
#include "engine/interpreter/prepare.h"
#include "engine/target_code.h"
#include "isa/patterns.h"
#include "isa/table.h"

namespace Atoll {
namespace {

using isa::Opcode;

class PatternCoverage : public testing::TestWithParam<std::tuple<std::string, unsigned>> {};

TEST_P(PatternCoverage, EveryInstructionIsExecuted) {
  const auto [name, wave_size] = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const target::Target target = target::Target(processor).with_wave_size(wave_size);
  engine::CodeCache cache(target);
  const auto page = std::make_unique<engine::CodePage>();
  std::map<Opcode, bool> executed;  // of those that were met
  const auto try_pattern = [&](const isa::test::Bytes& bytes) {
    const auto instruction = engine::decode(bytes, target);
    if (!instruction || executed[instruction->opcode]) return;
    engine::OpMetadata origin{.pc = 0, .instruction = *instruction};
    engine::MicroOp op;
    executed[instruction->opcode] = engine::prepare_op(origin, op, *page, cache) != engine::not_implemented;
  };
  for (const isa::test::Bytes& bytes : isa::test::patterns(processor, 24, 1)) try_pattern(bytes);
  std::set<Opcode> missing;
  for (const Opcode opcode : isa::test::all_opcodes(processor)) {
    if (engine::reason_not_executed(isa::row(opcode), target) == nullptr && !executed[opcode]) missing.insert(opcode);
  }
  for (const uint64_t seed : {2, 3, 4, 5}) {
    for (const isa::test::Bytes& bytes : isa::test::patterns_of(missing, processor, seed)) try_pattern(bytes);
  }
  for (const Opcode opcode : isa::test::all_opcodes(processor)) {
    const isa::InstructionRow& row = isa::row(opcode);
    const bool is_left_out = engine::reason_not_executed(row, target) != nullptr;
    const auto found = executed.find(opcode);
    if (found == executed.end()) continue;
    EXPECT_EQ(found->second, !is_left_out) << row.name;
    EXPECT_EQ(engine::executes(target, opcode), !is_left_out) << row.name;
  }
}

std::string name_of(const testing::TestParamInfo<PatternCoverage::ParamType>& info) {
  return std::string(std::get<0>(info.param)) + "_wave" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Gfx12_5, PatternCoverage, testing::Combine(testing::Values("gfx1250"), testing::Values(32)),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Rdna, PatternCoverage,
                         testing::Combine(testing::Values("gfx1010", "gfx1012", "gfx1030", "gfx1100", "gfx1150",
                                                          "gfx1170", "gfx1201"),
                                          testing::Values(32, 64)),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Older, PatternCoverage,
                         testing::Combine(testing::Values("gfx600", "gfx701", "gfx803", "gfx810"), testing::Values(64)),
                         name_of);

}  // namespace
}  // namespace Atoll

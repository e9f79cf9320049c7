// Instructions against llvm-mc-22: the texts of the sweep's patterns (tests/isa), every opcode value of every encoding
// with random other bits, must assemble to the bytes to which the oracle assembles them. A sample by default;
// ATOLL_SWEEP and ATOLL_SEED as for the sweep.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "assembler/assembler.h"
#include "isa/decode.h"
#include "isa/opcode_map.h"
#include "isa/oracle.h"
#include "isa/oracle_faults.h"
#include "isa/patterns.h"
#include "isa/print.h"

namespace Atoll::isa::test {
namespace {

struct Line {
  Bytes bytes;  ///< empty: refused
  std::string messages;
};

Line assembled(const std::string& text, const target::Processor& processor) {
  assembler::Options options;
  options.target = target::parse_target_id(processor.name).value();
  options.wave32 = (processor.wave_sizes & 1) != 0;
  const auto result = assembler::assemble("line", text + "\n", options);
  Line line;
  line.messages = result.messages;
  if (result.object) line.bytes = result.object->sections.front().bytes;
  return line;
}

class InstructionSweep : public testing::TestWithParam<const char*> {};

TEST_P(InstructionSweep, EveryTextIsAssembledAsByTheOracle) {
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const std::vector<Fault> faults = read_faults();
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<Bytes>& all) {
    for (const Bytes& bytes : all) {
      if (const auto instruction = decode(bytes, processor)) texts.push_back(print(*instruction, processor));
    }
  };
  add(patterns(processor, from_environment("ATOLL_SWEEP", 6), from_environment("ATOLL_SEED", 1)));
  if (from_environment("ATOLL_SWEEP", 0) != 0) add(immediates(processor));
  const std::vector<Bytes> answers = assemble(name, texts);
  unsigned equal = 0, refused = 0, only_atoll = 0, known = 0, different = 0;
  const unsigned shown = from_environment("ATOLL_SHOWN", 20);
  for (size_t i = 0; i < texts.size(); ++i) {
    const Line atoll = assembled(texts[i], processor);
    if (answers[i] == atoll.bytes) {
      ++(atoll.bytes.empty() ? refused : equal);
    } else if (answers[i].empty()) {
      ++only_atoll;
      if (std::getenv("ATOLL_ONLY") != nullptr) std::printf("only: %s\n", texts[i].c_str());
    } else if (is_known_of_assembler(faults, name, texts[i])) {
      ++known;
    } else if (++different <= shown) {
      ADD_FAILURE() << texts[i] << "\n  oracle: " << spelled(answers[i])
                    << "\n  atoll:  " << (atoll.bytes.empty() ? atoll.messages : spelled(atoll.bytes));
    }
  }
  std::printf(
      "%s: %zu texts assembled, %u equal, %u refused by both, %u by the oracle alone, %u known faults of the oracle, "
      "%u different\n",
      GetParam(), texts.size(), equal, refused, only_atoll, known, different);
  EXPECT_EQ(different, 0u);
  EXPECT_GT(equal, texts.size() * 3 / 4);
}

std::vector<const char*> all_processors() {
  std::vector<const char*> names;
  for (const target::Processor& processor : target::processors()) {
    // Of GFX12.5, it is the encoder alone that knows everything.
    const bool known = !opcode_map_of(processor).empty && processor.generation < target::Generation::gfx12_5;
    if (known) names.push_back(processor.name.data());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, InstructionSweep, testing::ValuesIn(all_processors()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Instructions, OperandsCanHaveTheNamesOfModifiers) {
  const std::vector<std::string> texts{"image_sample a16, v7, s[44:51], s[88:91] dmask:0x1",
                                       "image_sample v16, v7, s[44:51], s[88:91] dmask:0x1 a16"};
  const target::Processor& processor = *target::find_processor("gfx90a");
  const std::vector<Bytes> answers = assemble("gfx90a", texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_FALSE(answers[i].empty()) << texts[i];
    EXPECT_EQ(assembled(texts[i], processor).bytes, answers[i]) << texts[i];
  }
}

}  // namespace
}  // namespace Atoll::isa::test

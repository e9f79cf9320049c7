// The encoder against llvm-mc-22: what decode() makes of the sweep's patterns is encoded again, and must have the bytes
// to which the oracle assembles its text. A sample by default; ATOLL_SWEEP and ATOLL_SEED as for the sweep.
#include "isa/encode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "isa/decode.h"
#include "isa/opcode_map.h"
#include "isa/oracle.h"
#include "isa/oracle_faults.h"
#include "isa/patterns.h"
#include "isa/print.h"

namespace Atoll::isa::test {
namespace {

Bytes encoded(const Instruction& instruction, const target::Processor& processor) {
  const auto result = encode(instruction, processor);
  return result ? Bytes(result->view().begin(), result->view().end()) : Bytes();
}

class EncodeSweep : public testing::TestWithParam<const char*> {};

TEST_P(EncodeSweep, EveryInstructionIsEncodedAsByTheOraclesAssembler) {
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const std::vector<Fault> faults = read_faults();
  std::vector<Instruction> instructions;
  std::vector<std::string> texts;
  for (const Bytes& bytes :
       patterns(processor, from_environment("ATOLL_SWEEP", 6), from_environment("ATOLL_SEED", 1))) {
    const auto instruction = decode(bytes, processor);
    if (!instruction) continue;
    instructions.push_back(*instruction);
    texts.push_back(print(*instruction, processor));
  }
  const std::vector<Bytes> answers = assemble(name, texts);
  unsigned equal = 0, refused = 0, known = 0, different = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Bytes atoll = encoded(instructions[i], processor);
    // Where the oracle has no answer, the instruction must be the same again. Of a compressed export the first and the
    // third source decide.
    if (!atoll.empty() && answers[i].empty() && !instructions[i].compressed) {
      const auto again = decode(atoll, processor);
      const std::string text = again ? print(*again, processor) : "(refused)";
      if (text != texts[i]) ADD_FAILURE() << texts[i] << " is encoded as " << text << ", " << spelled(atoll);
    }
    if (answers[i].empty()) {
      // The oracle disassembles much that it does not assemble, such as two scalar sources where there is one bus.
      ++refused;
    } else if (atoll == answers[i]) {
      ++equal;
    } else if (is_known_of_assembler(faults, name, texts[i])) {
      ++known;
      // The instruction that the text says is encoded as by the oracle.
      const auto said = decode(answers[i], processor);
      EXPECT_TRUE(atoll.empty() || (said && encoded(*said, processor) == answers[i])) << texts[i];
    } else if (++different <= 20) {
      const auto error = encode(instructions[i], processor);
      ADD_FAILURE() << texts[i] << "\n  oracle: " << spelled(answers[i])
                    << "\n  atoll:  " << (error ? spelled(atoll) : error.error().message);
    }
  }
  std::printf(
      "%s: %zu instructions encoded, %u equal, %u refused by the oracle, %u known faults of the oracle, "
      "%u different\n",
      GetParam(), texts.size(), equal, refused, known, different);
  EXPECT_EQ(different, 0u);
  EXPECT_GT(equal, texts.size() * 3 / 4);
}

std::vector<const char*> all_processors() {
  std::vector<const char*> names;
  for (const target::Processor& processor : target::processors()) {
    if (!opcode_map_of(processor).empty) names.push_back(processor.name.data());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EncodeSweep, testing::ValuesIn(all_processors()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(OracleFaults, EachOfTheAssemblerIsStillThere) {
  for (const Fault& fault : read_faults()) {
    if (fault.whose != "assembler") continue;
    const target::Processor& processor = *target::find_processor(fault.processor);
    const auto instruction = decode(fault.sample, processor);
    ASSERT_TRUE(instruction) << spelled(fault.sample);
    const std::string text = print(*instruction, processor);
    const Bytes oracle = assemble(fault.processor, std::vector{text}).front();
    std::string answer;
    for (const uint8_t byte : oracle) answer += fmt::format("{:02x}", byte);
    EXPECT_EQ(answer.empty() ? "refused" : answer, fault.answer) << text << ":" << fault.reason;
    EXPECT_NE(encoded(*instruction, processor), oracle) << "no difference any more: " << text << ":" << fault.reason;
    EXPECT_TRUE(std::regex_search(fault.processor + ' ' + text, fault.expression)) << text << ":" << fault.reason;
  }
}

}  // namespace
}  // namespace Atoll::isa::test

// The sweep: every opcode value of every encoding, with random other bits, decoded and printed by Atoll and by
// llvm-mc-22, for each processor whose instructions Atoll knows. Texts, sizes and refusals must be equal.
//
// A sample runs by default; ATOLL_SWEEP=N tries N sequences for each opcode value, ATOLL_SEED another seed. What the
// oracle does wrong is listed in oracle_faults.txt, with a reason and a sample, and only that is left out. A test makes
// sure that each entry still holds, so that a fault that was mended must leave the list.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "isa/decode.h"
#include "isa/opcode_map.h"
#include "isa/oracle.h"
#include "isa/oracle_faults.h"
#include "isa/patterns.h"
#include "isa/print.h"
#include "isa/table.h"

namespace Atoll::isa::test {
namespace {

std::string printed_by_atoll(const Bytes& bytes, const target::Processor& processor) {
  const auto instruction = decode(bytes, processor);
  return instruction ? print(*instruction, processor) : std::string();
}

/// The rows that the processor has and no pattern has shown equal yet.
using Opcodes = std::set<Opcode>;

Opcodes all_opcodes(const target::Processor& processor) {
  const OpcodeMap& map = opcode_map_of(processor);
  Opcodes opcodes;
  for (const std::vector<Opcode>& encoding : map.opcodes) opcodes.insert(encoding.begin(), encoding.end());
  opcodes.insert(map.scaled.begin(), map.scaled.end());
  opcodes.erase(Opcode::invalid);
  return opcodes;
}

/// How the patterns went.
struct Tally {
  unsigned equal = 0, refused = 0, known = 0, different = 0;
  Opcodes unseen;
};

void compare(const std::vector<Bytes>& patterns, const target::Processor& processor, const std::vector<Fault>& faults,
             Tally& tally) {
  const std::string name(processor.name);
  const std::vector<Disassembled> answers = disassemble(name, patterns);
  for (size_t i = 0; i < patterns.size(); ++i) {
    const auto instruction = decode(patterns[i], processor);
    const std::string atoll = instruction ? print(*instruction, processor) : std::string();
    const std::string& oracle = answers[i].text;
    const size_t size = instruction ? instruction->size : 0;
    if (answers[i].crashed) {
      ++tally.known;
    } else if (atoll == oracle && size == answers[i].size) {
      ++(instruction ? tally.equal : tally.refused);
      if (instruction) tally.unseen.erase(instruction->opcode);
    } else if (is_known(faults, name, oracle, atoll)) {
      ++tally.known;
    } else if (++tally.different <= 20) {
      ADD_FAILURE() << spelled(patterns[i]) << "\n  oracle: " << (oracle.empty() ? "(refused)" : oracle) << ' '
                    << answers[i].size << "\n  atoll:  " << (atoll.empty() ? "(refused)" : atoll) << ' ' << size;
    }
  }
}

class Sweep : public testing::TestWithParam<const char*> {};

TEST_P(Sweep, EveryOpcodeIsDecodedAndPrintedAsByTheOracle) {
  const target::Processor& processor = *target::find_processor(GetParam());
  const std::vector<Fault> faults = read_faults();
  const unsigned each = from_environment("ATOLL_SWEEP", 6), seed = from_environment("ATOLL_SEED", 1);
  Tally tally;
  tally.unseen = all_opcodes(processor);
  const size_t rows = tally.unseen.size();
  const std::vector<Bytes> first = patterns(processor, each, seed);
  compare(first, processor, faults, tally);

  // Instructions that no pattern has shown get more of them, of which only theirs are tried.
  size_t tried = first.size();
  for (unsigned round = 1; round <= 12 && !tally.unseen.empty(); ++round) {
    std::vector<Bytes> more;
    for (Bytes& bytes : patterns(processor, 100, seed + round)) {
      const auto instruction = decode(bytes, processor);
      if (instruction && tally.unseen.contains(instruction->opcode)) more.push_back(std::move(bytes));
    }
    compare(more, processor, faults, tally);
    tried += more.size();
  }

  std::printf(
      "%s: %zu instructions; %zu patterns, %u equal, %u refused by both, %u known faults of the oracle, %u different\n",
      GetParam(), rows, tried, tally.equal, tally.refused, tally.known, tally.different);
  EXPECT_EQ(tally.different, 0u);
  for (const Opcode opcode : tally.unseen) ADD_FAILURE() << "no pattern is a " << mnemonic(opcode);
}

std::vector<const char*> all_processors() {
  std::vector<const char*> names;
  for (const target::Processor& processor : target::processors()) {
    if (!opcode_map_of(processor).empty) names.push_back(processor.name.data());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Sweep, testing::ValuesIn(all_processors()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(NamedImmediates, PrintAsByTheOracle) {
  for (const char* name : {"gfx900", "gfx90a", "gfx942", "gfx803", "gfx1010", "gfx1030", "gfx1100"}) {
    const target::Processor& processor = *target::find_processor(name);
    Tally tally;
    compare(immediates(processor), processor, {}, tally);
    EXPECT_EQ(tally.different, 0u) << name;
    EXPECT_GT(tally.equal, 10'000u) << name;
  }
}

TEST(OracleFaults, EachIsStillThere) {
  for (const Fault& fault : read_faults()) {
    if (fault.answer == "crash" || fault.whose == "assembler") continue;
    const std::vector<Bytes> one{fault.sample};
    const std::string oracle = disassemble(fault.processor, one).front().text;
    const std::string said = oracle.empty() ? "refused" : oracle;
    EXPECT_EQ(said, fault.answer) << spelled(fault.sample) << ":" << fault.reason;
    const std::string atoll = printed_by_atoll(fault.sample, *target::find_processor(fault.processor));
    EXPECT_NE(atoll, oracle) << "no difference any more: " << spelled(fault.sample) << ":" << fault.reason;
    const std::string& text = fault.whose == "atoll" ? atoll : oracle;
    if (fault.whose != "none") {
      EXPECT_TRUE(std::regex_search(fault.processor + ' ' + text, fault.expression)) << text << ":" << fault.reason;
    }
  }
}

}  // namespace
}  // namespace Atoll::isa::test

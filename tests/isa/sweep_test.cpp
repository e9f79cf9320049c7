// The sweep: every opcode value of every encoding, with random other bits, decoded and printed by Atoll and by
// llvm-mc-22, for each processor that LLVM disassembles, in each of its wave sizes. Texts, sizes and refusals must be
// equal. The others are in assembled_test.cpp.
//
// A sample runs by default; ATOLL_SWEEP=N tries N sequences for each opcode value, ATOLL_SEED another seed. What the
// oracle does wrong is listed in oracle_faults.txt, with a reason and a sample, and only that is left out. A test makes
// sure that each entry still holds, so that a fault that was mended must leave the list.
#include <gtest/gtest.h>

#include <algorithm>
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
#include "isa/subject.h"
#include "isa/table.h"

namespace Atoll::isa::test {
namespace {

std::string printed_by_atoll(const Bytes& bytes, const target::Processor& processor) {
  const auto instruction = decode(bytes, processor);
  return instruction ? print(*instruction, processor) : std::string();
}

/// How the patterns went.
struct Tally {
  unsigned equal = 0, refused = 0, known = 0, different = 0;
  std::set<Opcode> unseen;  ///< that no pattern has shown equal yet
};

void compare(const std::vector<Bytes>& patterns, const Subject& subject, const std::vector<Fault>& faults,
             Tally& tally) {
  const target::Processor& processor = *subject.processor;
  const std::string name(processor.name);
  const std::vector<Disassembled> answers = disassemble(name, patterns, subject.features());
  for (size_t i = 0; i < patterns.size(); ++i) {
    const auto instruction = decode(patterns[i], processor, subject.wave_size);
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

class Sweep : public testing::TestWithParam<Subject> {};

TEST_P(Sweep, EveryOpcodeIsDecodedAndPrintedAsByTheOracle) {
  const Subject& subject = GetParam();
  const target::Processor& processor = *subject.processor;
  const std::vector<Fault> faults = read_faults();
  const unsigned seed = from_environment("ATOLL_SEED", 1);
  Tally tally;
  tally.unseen = all_opcodes(processor);
  const size_t rows = tally.unseen.size();
  const std::vector<Bytes> first = patterns(processor, from_environment("ATOLL_SWEEP", 6), seed);
  compare(first, subject, faults, tally);

  // Instructions that no pattern has shown get more of them, of which only theirs are tried.
  size_t tried = first.size();
  for (unsigned round = 1; round <= 12 && !tally.unseen.empty(); ++round) {
    const std::vector<Bytes> more = patterns_of(tally.unseen, processor, seed + round);
    compare(more, subject, faults, tally);
    tried += more.size();
  }

  std::printf(
      "%s: %zu instructions; %zu patterns, %u equal, %u refused by both, %u known faults of the oracle, %u different\n",
      subject.name().c_str(), rows, tried, tally.equal, tally.refused, tally.known, tally.different);
  EXPECT_EQ(tally.different, 0u);
  for (const Opcode opcode : tally.unseen) ADD_FAILURE() << "no pattern is a " << mnemonic(opcode);
}

std::vector<Subject> disassembled_subjects() {
  std::vector<Subject> subjects = all_subjects();
  std::erase_if(subjects, [](const Subject& subject) { return !has_disassembler(*subject.processor); });
  return subjects;
}

INSTANTIATE_TEST_SUITE_P(All, Sweep, testing::ValuesIn(disassembled_subjects()),
                         [](const auto& info) { return info.param.name(); });

TEST(NamedImmediates, PrintAsByTheOracle) {
  for (const char* name :
       {"gfx900", "gfx90a", "gfx942", "gfx803", "gfx1010", "gfx1030", "gfx1100", "gfx1200", "gfx1250"}) {
    const target::Processor& processor = *target::find_processor(name);
    Tally tally;
    compare(immediates(processor), {&processor, 0}, {}, tally);
    EXPECT_EQ(tally.different, 0u) << name;
    EXPECT_GT(tally.equal, 10'000u) << name;
  }
}

/// V_CMPX in VOP3, whose destination the random sequences rarely say to be EXEC; another is the fault in
/// oracle_faults.txt.
TEST(ComparisonsThatWriteExec, PrintAsByTheOracle) {
  for (const char* name : {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"}) {
    const target::Processor& processor = *target::find_processor(name);
    const auto& opcodes = opcode_map_of(processor).opcodes[static_cast<size_t>(Encoding::vop3)];
    std::vector<Bytes> patterns;
    for (uint32_t value = 0; value < opcodes.size(); ++value) {
      if (opcodes[value] == Opcode::invalid || !row(opcodes[value]).name.starts_with("v_cmpx_")) continue;
      constexpr uint32_t vop3 = 0xD400'0000, exec = 0x7E, v4 = 256 + 4, v6 = 256 + 6;
      for (uint32_t bits = 0; bits < 8; ++bits) {  // op_sel of both sources, then abs of the first
        const uint32_t words[] = {vop3 | value << 16 | (bits & 3) << 11 | (bits >> 2 & 1) << 8 | exec, v4 | v6 << 9};
        const auto* first = reinterpret_cast<const uint8_t*>(words);
        patterns.emplace_back(first, first + sizeof words);
      }
    }
    Tally tally;
    compare(patterns, {&processor, 0}, {}, tally);
    EXPECT_EQ(tally.different, 0u) << name;
    EXPECT_GT(tally.equal, 200u) << name;
  }
}

TEST(OracleFaults, EachIsStillThere) {
  for (const Fault& fault : read_faults()) {
    if (fault.answer == "crash" || fault.whose == "assembler" || fault.whose == "text") continue;
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

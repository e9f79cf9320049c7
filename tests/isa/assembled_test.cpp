// Processors that LLVM has no disassembler for (GFX6, GFX7): its assembler is the oracle, in both directions.
//
// From bytes: every opcode value of every encoding with random other bits. What Atoll makes of them must be text that
// llvm-mc-22 assembles to the same bytes and prints in the same way. Bits that mean nothing may differ: those that the
// oracle never sets, or never clears, in any of the instruction's encodings.
//
// From text: the processor has exactly the mnemonics of the oracle's whole table that the oracle says it has; and what
// Atoll prints for other generations is given to the oracle, where whatever it accepts must decode to its text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "isa/decode.h"
#include "isa/format.h"
#include "isa/opcode_map.h"
#include "isa/oracle.h"
#include "isa/oracle_faults.h"
#include "isa/patterns.h"
#include "isa/print.h"
#include "isa/table.h"

namespace Atoll::isa::test {
namespace {

/// Instructions of one kind: those that use the same fields. Without an address, "off", the address's bits mean
/// nothing, and so on.
std::string kind_of(const std::string& text) {
  std::string kind = text.substr(0, text.find(' '));
  const std::regex words(R"(,|MSG_|\b(off|offen|idxen|addr64|lds|compr)\b)");
  for (std::sregex_iterator at(text.begin(), text.end(), words), end; at != end; ++at) (kind += ' ') += at->str();
  return kind;
}

/// The bits of an instruction; none is longer than two words until GFX7.
uint64_t bits_of(const Bytes& bytes) {
  uint64_t value = 0;
  EXPECT_LE(bytes.size(), 8u);
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{bytes[i]} << (8 * i);
  return value;
}

/// The bits of an instruction that say which register of an aligned tuple of SGPRs it is: as on later generations they
/// mean nothing. Wherever the instruction has a scalar operand.
uint64_t alignment_bits(const Instruction& instruction, const target::Processor& processor) {
  unsigned words = 0;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind == OperandKind::scalar) words = std::max<unsigned>(words, operand.words);
  }
  const auto formats = formats_of(processor.generation);
  const auto format = std::ranges::find(formats, instruction.encoding, &Format::encoding);
  uint64_t bits = 0;
  for (const Bits field : {Bits::vdst, Bits::sdst, Bits::src0, Bits::src1, Bits::src2, Bits::sdata}) {
    if (format->has(field)) bits |= uint64_t{words >= 4 ? 3u : words == 2 ? 1u : 0u} << format->at(field).low;
  }
  if (format->has(Bits::sbase)) bits |= uint64_t{words >= 4 ? 1u : 0u} << format->at(Bits::sbase).low;  // counts pairs
  return bits;
}

/// Which bits have been seen set and clear.
struct Seen {
  uint64_t set = 0, clear = 0;
};

class Assembler : public testing::TestWithParam<std::string> {
 protected:
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
};

/// How the patterns went.
struct Tally {
  unsigned tried = 0, equal = 0, refused = 0, known = 0, different = 0;
  std::set<Opcode> unseen;  ///< that no pattern has shown equal yet
};

void compare(const std::vector<Bytes>& patterns, const target::Processor& processor,
             const std::vector<AssemblerFault>& faults, Tally& tally) {
  const std::string name(processor.name);
  struct Pattern {
    Bytes bytes;
    Opcode opcode;
    uint64_t meaningless;
  };
  std::vector<Pattern> instructions;
  std::vector<std::string> texts;
  for (const Bytes& bytes : patterns) {
    const auto instruction = decode(bytes, processor);
    ++tally.tried;
    if (!instruction) {
      ++tally.refused;
      continue;
    }
    instructions.push_back({{bytes.begin(), bytes.begin() + instruction->size},
                            instruction->opcode,
                            alignment_bits(*instruction, processor)});
    texts.push_back(print(*instruction, processor));
  }
  const std::vector<Assembled> answers = assemble_and_print(name, texts);

  std::map<std::string, Seen> seen;
  for (const Assembled& answer : answers) {
    if (answer.bytes.empty()) continue;
    Seen& bits = seen[kind_of(answer.text)];
    bits.set |= bits_of(answer.bytes);
    bits.clear |= ~bits_of(answer.bytes);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const Assembled& answer = answers[i];
    const auto& [bytes, opcode, meaningless] = instructions[i];
    const Seen& used = seen[kind_of(answer.text)];
    const uint64_t differing = (bits_of(bytes) ^ bits_of(answer.bytes)) & ~meaningless & used.set & used.clear;
    if (answer.text == texts[i] && bytes.size() == answer.bytes.size() && differing == 0) {
      ++tally.equal;
      tally.unseen.erase(opcode);
    } else if (is_known(faults, name, texts[i], answer)) {
      ++tally.known;
    } else if (++tally.different <= 20) {
      ADD_FAILURE() << spelled(bytes) << "\n  atoll:  " << texts[i] << "\n  oracle: " << answer.text << answer.error
                    << "\n  " << spelled(answer.bytes);
    }
  }
}

TEST_P(Assembler, MakesTheBytesOfWhatAtollPrints) {
  const unsigned seed = from_environment("ATOLL_SEED", 1);
  const std::vector<AssemblerFault> faults = read_assembler_faults();
  Tally tally;
  tally.unseen = all_opcodes(processor);
  const size_t rows = tally.unseen.size();
  compare(patterns(processor, from_environment("ATOLL_SWEEP", 6), seed), processor, faults, tally);
  for (unsigned round = 1; round <= 12 && !tally.unseen.empty(); ++round) {
    compare(patterns_of(tally.unseen, processor, seed + round), processor, faults, tally);
  }
  std::printf("%s: %zu instructions; %u patterns, %u equal, %u refused, %u known faults of the oracle, %u different\n",
              GetParam().c_str(), rows, tally.tried, tally.equal, tally.refused, tally.known, tally.different);
  EXPECT_EQ(tally.different, 0u);
  for (const Opcode opcode : tally.unseen) ADD_FAILURE() << "no pattern is a " << mnemonic(opcode);
}

TEST_P(Assembler, MakesTheBytesOfNamedImmediates) {
  Tally tally;
  compare(immediates(processor), processor, read_assembler_faults(), tally);
  EXPECT_EQ(tally.different, 0u);
  EXPECT_GT(tally.equal, 10'000u);
}

TEST_P(Assembler, HasTheSameMnemonics) {
  const OpcodeMap& map = opcode_map_of(processor);
  std::set<std::string> ours;
  const auto add = [&](Encoding encoding) {
    for (const Opcode opcode : map.opcodes[static_cast<size_t>(encoding)]) {
      if (opcode == Opcode::invalid) continue;
      std::string text(map.name(opcode));
      if (text == "v_illegal") continue;
      if (encoding == Encoding::vop3) text += "_e64";
      if (encoding == Encoding::vop1 || encoding == Encoding::vop2 || encoding == Encoding::vopc) text += "_e32";
      ours.insert(text);
    }
  };
  for (unsigned i = 0; i < static_cast<unsigned>(Encoding::count); ++i) add(static_cast<Encoding>(i));

  const std::vector<std::string> mnemonics = oracle_mnemonics();
  EXPECT_GT(mnemonics.size(), 2500u);
  std::vector<std::string> lines;
  for (const std::string& mnemonic : mnemonics) {
    if (mnemonic.starts_with("v_") && !mnemonic.starts_with("v_interp")) {
      if (mnemonic.ends_with("_e32")) continue;
      lines.push_back(mnemonic + "_e32");
      lines.push_back(mnemonic + "_e64");
    } else {
      lines.push_back(mnemonic);
    }
  }
  const std::vector<Assembled> answers = assemble_and_print(name, lines);
  std::set<std::string> theirs;
  const std::regex missing("instruction not supported on this GPU|.* variant of this instruction is not supported");
  for (size_t i = 0; i < lines.size(); ++i) {
    // Other names of v_add_i32, v_sub_i32 and v_subrev_i32.
    if (std::regex_match(lines[i], std::regex("v_(add|sub|subrev)_co_u32_e(32|64)"))) continue;
    if (!std::regex_match(answers[i].error, missing)) theirs.insert(lines[i]);
  }
  for (const std::string& mnemonic : ours) EXPECT_TRUE(theirs.contains(mnemonic)) << mnemonic << ": not the oracle's";
  for (const std::string& mnemonic : theirs) EXPECT_TRUE(ours.contains(mnemonic)) << mnemonic << ": not Atoll's";
}

TEST_P(Assembler, AcceptsNothingOfOtherGenerationsThatAtollRefuses) {
  std::set<std::string> texts;
  for (const char* other : {"gfx705", "gfx803", "gfx1010"}) {
    const target::Processor& neighbour = *target::find_processor(other);
    for (const Bytes& bytes : patterns(neighbour, from_environment("ATOLL_SWEEP", 6), 7)) {
      const auto instruction = decode(bytes, neighbour);
      if (instruction) texts.insert(print(*instruction, neighbour));
    }
  }
  const std::vector<std::string> lines(texts.begin(), texts.end());
  const std::vector<AssemblerFault> faults = read_assembler_faults();
  const std::vector<Assembled> answers = assemble_and_print(name, lines);
  unsigned equal = 0, different = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (answers[i].bytes.empty()) continue;
    const auto instruction = decode(answers[i].bytes, processor);
    const std::string text = instruction ? print(*instruction, processor) : "(refused)";
    const bool same = text == answers[i].text && instruction->size == answers[i].bytes.size();
    if (same || is_known(faults, name, text, answers[i])) {
      ++equal;
    } else if (++different <= 20) {
      ADD_FAILURE() << spelled(answers[i].bytes) << "\n  oracle: " << answers[i].text << "\n  atoll:  " << text;
    }
  }
  std::printf("%s: %zu texts, %u accepted and equal, %u different\n", GetParam().c_str(), lines.size(), equal,
              different);
  EXPECT_EQ(different, 0u);
  EXPECT_GT(equal, 10'000u);
}

TEST(AssemblerFaults, EachIsStillThere) {
  std::vector<AssemblerFault> faults = read_assembler_faults();
  std::ranges::copy(read_text_faults(), std::back_inserter(faults));
  for (const AssemblerFault& fault : faults) {
    const Assembled answer = assemble_and_print(fault.processor, std::vector{fault.text}).front();
    EXPECT_EQ(said(answer), fault.answer) << fault.text << ":" << fault.reason;
    EXPECT_TRUE(is_known({fault}, fault.processor, fault.text, answer)) << fault.text << ":" << fault.reason;
  }
}

std::vector<std::string> without_disassembler() {
  std::vector<std::string> names;
  for (const target::Processor& processor : target::processors()) {
    if (!has_disassembler(processor)) names.emplace_back(processor.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Assembler, testing::ValuesIn(without_disassembler()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::isa::test

// Instructions against llvm-mc-22: the texts of the sweep's patterns (tests/isa), every opcode value of every encoding
// with random other bits, must assemble to the bytes to which the oracle assembles them. A sample by default;
// ATOLL_SWEEP and ATOLL_SEED as for the sweep.
#include <gtest/gtest.h>

#include <array>
#include <random>
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

/// The text with one of its operands replaced by something that may not stand there; empty if it has none.
std::string with_another_operand(const std::string& text, std::mt19937& random) {
  constexpr std::array others{
      "v5",   "v[6:7]", "s6",  "s[4:5]",  "s[8:11]", "vcc_lo",  "vcc",   "m0",   "null", "exec_hi",        "exec",
      "a5",   "1.0",    "7",   "0x12345", "v[8:11]", "s7",      "-v5",   "|v5|", "-1",   "ttmp[4:5]",      "src_scc",
      "v5.l", "v5.h",   "100", "1.5",     "v255",    "neg(s6)", "ttmp7", "5",    "0.5",  "src_lds_direct", "s[10:17]"};
  std::vector<std::pair<size_t, size_t>> operands;
  size_t at = text.find(' ');
  while (at != std::string::npos && at + 1 < text.size()) {
    const size_t begin = at + 1;
    unsigned depth = 0;
    size_t end = begin;
    for (; end < text.size() && (depth != 0 || (text[end] != ',' && text[end] != ' ')); ++end) {
      if (text[end] == '[' || text[end] == '(') ++depth;
      if (text[end] == ']' || text[end] == ')') --depth;
    }
    operands.emplace_back(begin, end - begin);
    if (end == text.size() || text[end] == ' ') break;  // modifiers follow
    at = end + 1;
  }
  if (operands.empty()) return {};
  const auto [begin, length] = operands[random() % operands.size()];
  std::string other = text;
  return other.replace(begin, length, others[random() % others.size()]);
}

class InstructionSweep : public testing::TestWithParam<std::string> {
 protected:
  void compare(const std::vector<std::string>& texts) const;
};

/// Atoll's assembler must agree with the oracle on each text, including refusals.
void InstructionSweep::compare(const std::vector<std::string>& texts) const {
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const std::vector<Fault> faults = read_faults();
  const std::vector<AssemblerFault> text_faults = read_text_faults();
  const std::vector<Assembled> answers = assemble_and_print(name, texts);
  unsigned equal = 0, refused = 0, known = 0, different = 0;
  const unsigned shown = from_environment("ATOLL_SHOWN", 20);
  for (size_t i = 0; i < texts.size(); ++i) {
    const Line atoll = assembled(texts[i], processor);
    const Bytes oracle = answers[i].error.empty() ? answers[i].bytes : Bytes();
    if (oracle == atoll.bytes) {
      ++(atoll.bytes.empty() ? refused : equal);
    } else if (is_known_of_assembler(faults, name, texts[i]) || is_known(text_faults, name, texts[i], answers[i])) {
      ++known;
    } else if (++different <= shown) {
      ADD_FAILURE() << texts[i] << "\n  oracle: " << (oracle.empty() ? answers[i].error : spelled(oracle))
                    << "\n  atoll:  " << (atoll.bytes.empty() ? atoll.messages : spelled(atoll.bytes));
    }
  }
  std::printf("%s: %zu texts assembled, %u equal, %u refused by both, %u known faults of the oracle, %u different\n",
              GetParam().c_str(), texts.size(), equal, refused, known, different);
  EXPECT_EQ(different, 0u);
}

TEST_P(InstructionSweep, EveryTextIsAssembledAsByTheOracle) {
  const target::Processor& processor = *target::find_processor(GetParam());
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<Bytes>& all) {
    for (const Bytes& bytes : all) {
      if (const auto instruction = decode(bytes, processor)) texts.push_back(print(*instruction, processor));
    }
  };
  add(patterns(processor, from_environment("ATOLL_SWEEP", 6), from_environment("ATOLL_SEED", 1)));
  if (from_environment("ATOLL_SWEEP", 0) != 0) add(immediates(processor));
  compare(texts);
}

TEST_P(InstructionSweep, EveryTextWithAnotherOperandIsAssembledOrRefusedAsByTheOracle) {
  const target::Processor& processor = *target::find_processor(GetParam());
  std::mt19937 random(from_environment("ATOLL_SEED", 1));
  std::vector<std::string> texts;
  for (const Bytes& bytes :
       patterns(processor, from_environment("ATOLL_SWEEP", 2), from_environment("ATOLL_SEED", 1))) {
    const auto instruction = decode(bytes, processor);
    if (!instruction) continue;
    std::string text = with_another_operand(print(*instruction, processor), random);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  compare(texts);
}

std::vector<std::string> all_processors() {
  std::vector<std::string> names;
  for (const target::Processor& processor : target::processors()) {
    if (!opcode_map_of(processor).empty) names.emplace_back(processor.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, InstructionSweep, testing::ValuesIn(all_processors()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// Texts that are rare in the sweep's patterns.
TEST(Instructions, DotProductsAndSparseMatricesHaveTheModifiersThatTheOracleAccepts) {
  const std::vector<std::string> texts{
      "v_dot4_f32_fp8_bf8 v0, v1, v2, v3 quad_perm:[3,2,1,0]",
      "v_dot4_f32_bf8_bf8 v0, v1, v2, v3 neg_lo:[0,0,1] dpp8:[7,6,5,4,3,2,1,0]",
      "v_dot4_f32_fp8_fp8 v0, v1, s2, v3 quad_perm:[3,2,1,0]",
      "v_dot4_f32_fp8_fp8 v0, v1, v2, s3 quad_perm:[3,2,1,0]",
      "v_dot4_f32_fp8_fp8 v0, v1, 1.0, v3 dpp8:[7,6,5,4,3,2,1,0]",
      "v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 index_key:1",
      "v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 index_key:2",
      "v_swmmac_i32_16x16x64_iu4 v[6:13], v[0:1], v[2:5], v14 index_key:1",
      "v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 neg_lo:[1,1,0] neg_hi:[0,1,0]",
      "v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 neg_lo:[0,0,1]",
      "v_swmmac_bf16_16x16x32_bf16 v[12:15], v[0:3], v[4:11], v16 neg_hi:[0,0,1]",
      "v_swmmac_i32_16x16x32_iu8 v[6:13], v[0:1], v[2:5], v14 neg_lo:[1,0,0] clamp",
      "v_swmmac_f32_16x16x32_fp8_fp8 v[6:13], v[0:1], v[2:5], v14 neg_lo:[1,0,0]",
      "v_swmmac_f32_16x16x32_bf8_fp8 v[6:13], v[0:1], v[2:5], v14 neg_hi:[0,1,0]"};
  for (const char* name : {"gfx1170", "gfx1201"}) {
    const target::Processor& processor = *target::find_processor(name);
    const std::vector<Bytes> answers = assemble(name, texts);
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(assembled(texts[i], processor).bytes, answers[i]) << texts[i];
  }
}

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
